"""Section 4.6 of the interface: links of users and extensions."""

from typing import Any

import pytest

from support.api import STRANGER, Api, Caller, data_of, error_of
from support.records import an_extension, identifier

FULL = [
    "uuid", "user_uuid", "extension_uuid", "username", "first_name", "last_name", "extension",
    "ext_name", "type", "created_at",
]  # fmt: skip
OF_USER = [
    "uuid", "user_uuid", "extension_uuid", "extension", "ext_name", "type", "created_at",
]  # fmt: skip
OF_EXTENSION = [
    "uuid", "user_uuid", "extension_uuid", "username", "first_name", "last_name", "created_at",
]  # fmt: skip


@pytest.fixture
async def desk(api: Api) -> str:
    return await an_extension_in(api, 101, type="chan_sip", extension="1001", name="Front desk")


@pytest.fixture
async def lab(api: Api) -> str:
    return await an_extension_in(api, 102, extension="1002", name="Lab")


async def an_extension_in(api: Api, number: int, **fields: Any) -> str:
    async with api.database.write() as tx:
        await tx.extensions.add(an_extension(number, **fields))
    return identifier(number)


async def link(admin: Caller, user: Caller, extension_uuid: str) -> dict[str, Any]:
    body = {"user_uuid": user.uuid, "extension_uuid": extension_uuid}
    linked: dict[str, Any] = data_of(await admin.post("/user-extensions", body), 201)
    return linked


def cut(links: list[dict[str, Any]], fields: list[str]) -> list[dict[str, Any]]:
    in_order = sorted(links, key=lambda one: (one["created_at"], one["uuid"]))
    return [{name: one[name] for name in fields} for one in in_order]


async def test_link_create_contains_user_and_extension(
    admin: Caller, ada: Caller, desk: str
) -> None:
    reply = await admin.post(
        "/user-extensions", {"user_uuid": ada.uuid.upper(), "extension_uuid": desk.upper()}
    )

    linked = data_of(reply, 201, "User linked to extension")
    assert list(linked) == FULL
    assert linked == {
        "uuid": linked["uuid"],
        "user_uuid": ada.uuid,
        "extension_uuid": desk,
        "username": "ada",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "extension": "1001",
        "ext_name": "Front desk",
        "type": "chan_sip",
        "created_at": linked["created_at"],
    }
    assert reply.json()["metadata"] == {}
    assert data_of(await admin.get("/user-extensions")) == [linked]


@pytest.mark.parametrize(
    ("below", "key", "fields", "found"),
    [
        ("", "", FULL, "link(s) found"),
        ("/by-user/{}", "user_uuid", OF_USER, "extension(s) linked to user"),
        ("/by-extension/{}", "extension_uuid", OF_EXTENSION, "user(s) linked to extension"),
    ],
)
async def test_links_are_listed_and_paged_oldest_first(
    admin: Caller, ada: Caller, bob: Caller, desk: str, lab: str, below: str, key: str,
    fields: list[str], found: str,
) -> None:  # fmt: skip
    of = {"": "", "user_uuid": ada.uuid, "extension_uuid": desk}[key]
    path = f"/user-extensions{below.format(of)}"
    assert data_of(await admin.get(path), 200, f"0 {found}") == []
    links = [
        await link(admin, ada, desk),
        await link(admin, bob, desk),
        await link(admin, ada, lab),
    ]
    links = cut([one for one in links if one.get(key, "") == of], fields)

    everything = await admin.get(path)
    page = await admin.get(path, limit=len(links) - 1, offset=1)

    listed = data_of(everything, 200, f"{len(links)} {found}")
    assert (listed, everything.json()["metadata"]) == (links, {})
    assert [list(one) for one in listed] == [fields] * len(links)
    assert data_of(page, 200, f"{len(links) - 1} {found}") == links[1:]
    window = {"total": len(links), "limit": len(links) - 1, "offset": 1}
    assert page.json()["metadata"] == window
    assert set(error_of(await admin.get(path, offset=-1), 422)) == {"offset"}


async def test_link_that_exists_is_conflict(
    admin: Caller, ada: Caller, bob: Caller, desk: str
) -> None:
    first = await link(admin, ada, desk)

    again = await admin.post("/user-extensions", {"user_uuid": ada.uuid, "extension_uuid": desk})

    assert set(error_of(again, 409, "already_exists")) == {"extension_uuid"}
    assert again.json()["message"] == "This user has this extension already."
    assert data_of(await admin.get("/user-extensions")) == [first]
    assert (await link(admin, bob, desk))["username"] == "bob"


async def test_link_deleted_twice_is_not_found(admin: Caller, ada: Caller, desk: str) -> None:
    path = f"/user-extensions/{(await link(admin, ada, desk))['uuid']}"

    assert data_of(await admin.delete(path), 200, "Link deleted") is None

    error_of(await admin.delete(path), 404, "not_found")
    assert data_of(await admin.get("/user-extensions")) == []
    assert data_of(await admin.get(f"/users/{ada.uuid}"))["username"] == "ada"
    assert data_of(await admin.get(f"/extensions/{desk}"))["extension"] == "1001"
    await link(admin, ada, desk)


async def test_link_unknown_path_identifier_is_not_found(
    admin: Caller, ada: Caller, desk: str
) -> None:
    for uuid in (STRANGER, "7", "%00", "' OR 1=1 --"):
        error_of(await admin.get(f"/user-extensions/by-user/{uuid}", limit=1), 404, "not_found")
        error_of(await admin.get(f"/user-extensions/by-extension/{uuid}", limit=1), 404)
        error_of(await admin.delete(f"/user-extensions/{uuid}"), 404, "not_found")
    error_of(await admin.get(f"/user-extensions/by-user/{desk}"), 404)
    error_of(await admin.get(f"/user-extensions/by-extension/{ada.uuid}"), 404)


async def test_link_create_for_missing_record_is_not_found(
    admin: Caller, ada: Caller, desk: str
) -> None:
    for body in (
        {"user_uuid": STRANGER, "extension_uuid": desk},
        {"user_uuid": ada.uuid, "extension_uuid": STRANGER},
        {"user_uuid": STRANGER, "extension_uuid": STRANGER},
    ):
        error_of(await admin.post("/user-extensions", body), 404, "not_found")
    assert data_of(await admin.get("/user-extensions")) == []


async def test_every_invalid_field_is_named(admin: Caller, ada: Caller, desk: str) -> None:
    good = {"user_uuid": ada.uuid, "extension_uuid": desk}
    bad: list[tuple[Any, set[str]]] = [
        ({}, {"user_uuid", "extension_uuid"}),
        ({"user_uuid": ada.uuid}, {"extension_uuid"}),
        ({**good, "user_uuid": None}, {"user_uuid"}),
        ({**good, "user_uuid": "ada", "extension_uuid": "1001"}, {"user_uuid", "extension_uuid"}),
        ({**good, "extension_uuid": [desk]}, {"extension_uuid"}),
        ({**good, "uuid": STRANGER, "username": "ada"}, {"uuid", "username"}),
        ([good], {"body"}),
    ]
    for body, fields in bad:
        reply = await admin.post("/user-extensions", body)
        assert set(error_of(reply, 422, "invalid")) == fields, body
    assert data_of(await admin.get("/user-extensions")) == []
