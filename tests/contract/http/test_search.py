"""Search in lists: ``q`` and filters with ``limit`` and ``offset``."""

from typing import Any

import pytest

from support.api import Caller, data_of, error_of

LISTS = {
    "/phones": {"model", "location", "software_type", "brand", "last_outcome", "user_uuid"},
    "/users": {"lang", "location", "nationality", "timezone", "is_active"},
    "/extensions": {"type", "voicemail", "is_active"},
    "/company-directory": {"department", "company", "location", "building", "is_active"},
    "/phone-profiles": {"user_uuid", "software_type"},
}


async def phone(admin: Caller, number: int, **fields: Any) -> str:
    body = {"mac": f"001bd41234{number:02x}", **fields}
    return str(data_of(await admin.post("/phones", body), 201)["mac"])


async def test_phones_match_search_and_filters_together(admin: Caller, ada: Caller) -> None:
    one = await phone(admin, 1, name="Émilie's desk", model="CP-7945G", location="Paris")
    two = await phone(admin, 2, name="Emilie", model="CP-7965G", location="Paris")
    await phone(admin, 3, name="Grace", model="CP-7945G", is_active=False)

    async def macs(**query: Any) -> list[str]:
        return [row["mac"] for row in data_of(await ada.get("/phones", **query))]

    assert await macs(q="EMILIE") == [two, one]
    assert await macs(q="emilie", location="Paris", limit=1, offset=1) == [one]
    assert await macs(q="desk 00-1b-d4") == [one]
    assert await macs(model="CP-7965G") == [two]
    assert await macs(model="7965") == [two]
    assert await macs(location="PARIS ") == [one, two]
    assert await macs(q="7945 paris") == [one]
    assert len(await macs(is_active="true")) == 2
    assert await macs(q="emilie", is_active="false") == []
    assert len(await macs(q=" ")) == 3


async def test_filters_last_outcome_and_login_require_permission(
    admin: Caller, ada: Caller, bob: Caller
) -> None:
    one = await phone(admin, 1)

    for wanted, found in ({"last_outcome": "none"}, [one]), ({"last_outcome": "failed"}, []):
        reply = await admin.get("/phones", **wanted)
        assert [row["mac"] for row in data_of(reply)] == found
        error_of(await ada.get("/phones", **wanted), 403, "forbidden")
    assert data_of(await admin.get("/phones", user_uuid=ada.uuid)) == []
    assert data_of(await ada.get("/phones", user_uuid=ada.uuid.upper())) == []
    error_of(await ada.get("/phones", user_uuid=bob.uuid), 403, "forbidden")


async def test_total_is_the_number_of_matches(admin: Caller) -> None:
    for number in range(5):
        await phone(admin, number, name="Ada" if number else "Grace")

    for query, rows, total in (
        ({"limit": 2}, 2, 4),
        ({"limit": 4}, 4, 4),
        ({"limit": 9}, 4, 4),
        ({"limit": 3, "offset": 2}, 2, 4),
        ({"limit": 3, "offset": 4}, 0, 4),
        ({"offset": 9}, 0, 4),
    ):
        reply = await admin.get("/phones", q="ada", **query)
        assert len(data_of(reply, 200, f"{rows} phone(s) found")) == rows
        assert reply.json()["metadata"]["total"] == total
    assert (await admin.get("/phones", q="ada")).json()["metadata"] == {}


async def test_profiles_are_searched_among_visible_ones(
    admin: Caller, ada: Caller, bob: Caller
) -> None:
    for caller in (ada, bob):
        body = {"user_uuid": caller.uuid, "name": "Front desk", "cnf_xml": "<device/>"}
        data_of(await caller.post("/phone-profiles", body), 201, metadata=False)

    reply = await ada.get("/phone-profiles", q="desk", limit=5)
    assert [row["user_uuid"] for row in data_of(reply, metadata=False)] == [ada.uuid]
    assert "metadata" not in reply.json()
    reply = await ada.get("/phone-profiles", user_uuid=bob.uuid)
    assert data_of(reply, metadata=False) == []
    reply = await admin.get("/phone-profiles", user_uuid=bob.uuid, q="front")
    assert [row["user_uuid"] for row in data_of(reply, metadata=False)] == [bob.uuid]


async def test_users_extensions_and_contacts_are_searched(admin: Caller, ada: Caller) -> None:
    extension = {"type": "custom", "extension": "1001", "name": "Hall", "password": "secret-enough"}
    data_of(await admin.post("/extensions", extension), 201)
    contact = {"name": "Grace Hopper", "work": "+1 (202) 555-0143", "building": "B"}
    data_of(await admin.post("/company-directory", contact), 201)

    changed = {"last_name": "Ångström"}
    data_of(await admin.put(f"/users/{ada.uuid}", changed))
    found = data_of(await admin.get("/users", q="angstrom", is_active="true"))
    assert [user["uuid"] for user in found] == [ada.uuid]
    assert len(data_of(await admin.get("/extensions", q="100", type="custom"))) == 1
    assert data_of(await admin.get("/extensions", type="chan_sip")) == []
    assert len(data_of(await ada.get("/company-directory", q="hopper 555-0143"))) == 1
    assert data_of(await ada.get("/company-directory", building="A")) == []


async def test_names_are_found_by_each_spelling(admin: Caller) -> None:
    for name in ("M\u00fcller", "Mueller", "Muster", "Stra\u00dfer", "\u0141o\u015b"):
        body = {"name": f"Anna {name}"}
        data_of(await admin.post("/company-directory", body), 201)
        data_of(
            await admin.post("/phones", {"mac": f"001bd4{sum(map(ord, name)):06x}", **body}), 201
        )

    for q, found in (
        ("mueller", {"M\u00fcller", "Mueller"}), ("m\u00fcller", {"M\u00fcller", "Mueller"}),
        ("anna m\u00fcll", {"M\u00fcller", "Mueller"}), ("ueller", {"M\u00fcller", "Mueller"}),
        ("strasser", {"Stra\u00dfer"}), ("los", {"\u0141o\u015b"}), ("must", {"Muster"}),
    ):  # fmt: skip
        for path in ("/company-directory", "/phones"):
            rows = data_of(await admin.get(path, q=q))
            assert {row["name"].removeprefix("Anna ") for row in rows} == found, (q, path)


@pytest.mark.parametrize("path", LISTS)
async def test_invalid_search_is_422_and_names_the_field(admin: Caller, path: str) -> None:
    for query in ({"q": "x" * 256}, {"q": "a b " * 9}, {"q": "a\0"}):
        assert list(error_of(await admin.get(path, **query), 422)) == ["q"]
    wrong = {"is_active": "perhaps", "user_uuid": "x", "type": "x", "software_type": "x" * 256}
    wrong["last_outcome"] = "x"
    for name in LISTS[path] & wrong.keys():
        assert list(error_of(await admin.get(path, **{name: wrong[name]}), 422)) == [name]
