"""Section 4.8 of the interface: phone profiles. Its replies carry no ``metadata``."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support import api as support
from support.api import STRANGER, Caller, error_of, opened_api

data_of = partial(support.data_of, metadata=False)

FIELDS = [
    "uuid", "user_uuid", "name", "description", "cnf_xml", "compatible_models", "software_type",
    "created_at", "updated_at",
]  # fmt: skip

XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\r\n'
    "<device>\n\t<name>\u00c5sa \U0001f4de</name>\n</device>\n"
)


def body(owner: Caller, **fields: Any) -> dict[str, Any]:
    return {"user_uuid": owner.uuid, "name": "Ada's", "cnf_xml": XML, **fields}


async def profile(owner: Caller, **fields: Any) -> dict[str, Any]:
    reply = await owner.post("/phone-profiles", body(owner, **fields))
    created: dict[str, Any] = data_of(reply, 201, "Profile created")
    return created


async def test_profile_is_created_from_required_fields(ada: Caller) -> None:
    created = await profile(ada)

    assert list(created) == FIELDS
    assert created == {
        "uuid": created["uuid"],
        "user_uuid": ada.uuid,
        "name": "Ada's",
        "description": None,
        "cnf_xml": XML,
        "compatible_models": [],
        "software_type": None,
        "created_at": created["created_at"],
        "updated_at": created["created_at"],
    }
    found = await ada.get(f"/phone-profiles/{created['uuid'].upper()}")
    assert data_of(found, 200, "Profile found") == created


async def test_profile_create_stores_every_field(ada: Caller) -> None:
    created = await profile(
        ada, description="a\n\tb", compatible_models=["CP-7945G", "8845"], software_type="SIPE"
    )

    assert created["description"] == "a\n\tb"
    assert created["compatible_models"] == ["CP-7945G", "8845"]
    assert created["software_type"] == "SIPE"
    for software_type in ("", None):
        assert (await profile(ada, software_type=software_type))["software_type"] is None


@pytest.mark.parametrize(
    "xml",
    ["\ufeff<a>e\u0301 \u00e9</a>", "<a>\r\n\r\n</a>\r\n", f"<a>{'x' * (512 * 1024 - 7)}</a>"],
)
async def test_configuration_is_stored_unchanged(ada: Caller, xml: str) -> None:
    created = await profile(ada, cnf_xml=xml)

    assert created["cnf_xml"] == xml
    read = data_of(await ada.get(f"/phone-profiles/{created['uuid']}"))
    assert read["cnf_xml"] == xml


@pytest.mark.parametrize(
    ("xml", "where"),
    [
        ("", "is required"),
        ("<a>\n<b></a>", "line 2, column "),
        (f"<a>{'x' * (512 * 1024 - 6)}</a>", ""),
    ],
)
async def test_invalid_configuration_is_refused_with_position(
    ada: Caller, xml: str, where: str
) -> None:
    reply = await ada.post("/phone-profiles", body(ada, cnf_xml=xml))

    problems = error_of(reply, 422, "invalid")
    assert set(problems) == {"cnf_xml"}
    assert where in problems["cnf_xml"]
    assert len(reply.text) < 500


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"user_uuid": None}, {"user_uuid"}),
        ({"user_uuid": "ada"}, {"user_uuid"}),
        ({"name": " "}, {"name"}),
        ({"name": None}, {"name"}),
        ({"cnf_xml": None}, {"cnf_xml"}),
        ({"cnf_xml": {"device": 1}}, {"cnf_xml"}),
        ({"compatible_models": None}, {"compatible_models"}),
        ({"compatible_models": "7945"}, {"compatible_models"}),
        ({"compatible_models": ["7945", 7]}, {"compatible_models"}),
        ({"compatible_models": ["7945", ""]}, {"compatible_models"}),
        ({"compatible_models": ["x"] * 201}, {"compatible_models"}),
        ({"software_type": "sccp"}, {"software_type"}),
        ({"software_type": 7}, {"software_type"}),
        ({"uuid": STRANGER, "name": "a\u2063b"}, {"uuid", "name"}),
        ({"name": "", "cnf_xml": "<", "software_type": "x", "y": 1},
         {"name", "cnf_xml", "software_type", "y"}),
    ],
)  # fmt: skip
async def test_every_invalid_field_is_named(
    ada: Caller, fields: dict[str, Any], bad: set[str]
) -> None:
    reply = await ada.post("/phone-profiles", body(ada, **fields))

    assert set(error_of(reply, 422, "invalid")) == bad
    required = {"user_uuid", "name", "cnf_xml"}
    assert set(error_of(await ada.post("/phone-profiles", {}), 422)) == required


async def test_profiles_are_listed_to_their_owner_and_superadmins(
    admin: Caller, ada: Caller, bob: Caller
) -> None:
    adas = [await profile(ada, name=f"n{number}") for number in range(3)]
    adas.sort(key=lambda one: (one["created_at"], one["uuid"]))
    bobs = await profile(bob)

    assert data_of(await ada.get("/phone-profiles"), 200, "3 profile(s) found") == adas
    assert data_of(await bob.get("/phone-profiles"), 200, "1 profile(s) found") == [bobs]
    of_all = data_of(await admin.get("/phone-profiles"), 200, "4 profile(s) found")
    assert sorted(one["uuid"] for one in of_all) == sorted(one["uuid"] for one in (*adas, bobs))
    page = await ada.get("/phone-profiles", limit=1, offset=1)
    assert data_of(page, 200, "1 profile(s) found") == adas[1:2]
    assert set(error_of(await ada.get("/phone-profiles", limit=0, offset="x"), 422)) == {
        "limit",
        "offset",
    }


async def test_profiles_of_a_user_are_listed_to_the_user_and_superadmins(
    admin: Caller, ada: Caller, bob: Caller
) -> None:
    adas = await profile(ada)
    await profile(bob)
    path = f"/phone-profiles/user/{ada.uuid}"

    for caller in (ada, admin):
        assert data_of(await caller.get(path), 200, "1 profile(s) found") == [adas]
        assert data_of(await caller.get(path, offset=1), 200, "0 profile(s) found") == []
    assert data_of(await admin.get(f"/phone-profiles/user/{admin.uuid}")) == []
    for uuid in (ada.uuid, STRANGER, "7"):
        error_of(await bob.get(f"/phone-profiles/user/{uuid}", limit=1), 403, "forbidden")
    for uuid in (STRANGER, "7"):
        error_of(await admin.get(f"/phone-profiles/user/{uuid}", limit=1), 404, "not_found")


async def test_update_changes_only_sent_fields(ada: Caller) -> None:
    before = await profile(ada, compatible_models=["7945"], software_type="SIP", description="x")
    path = f"/phone-profiles/{before['uuid']}"

    after = data_of(await ada.put(path, {"cnf_xml": "<other/>"}), 200, "Profile updated")

    assert list(after) == FIELDS
    assert after == {**before, "cnf_xml": "<other/>", "updated_at": after["updated_at"]}
    cleared = data_of(
        await ada.put(path, {"description": None, "software_type": "", "compatible_models": []})
    )
    assert cleared["description"] is cleared["software_type"] is None
    assert cleared["compatible_models"] == []
    never = dict.fromkeys(("user_uuid", "name", "cnf_xml", "compatible_models"))
    assert set(error_of(await ada.put(path, never), 422)) == set(never)
    assert data_of(await ada.get(path)) == cleared


async def test_update_based_on_an_older_revision_is_conflict(ada: Caller) -> None:
    path = f"/phone-profiles/{(await profile(ada))['uuid']}"

    data_of(await ada.put(path, {"cnf_xml": "<first/>", "revision": 1}), 200, "Profile updated")
    for fields in ({"cnf_xml": "<second/>"}, {"name": "Second"}):
        late = await ada.put(path, {**fields, "revision": 1})
        assert error_of(late, 409, "changed_meanwhile") == {"revision": "must be 2, the newest"}

    kept = data_of(await ada.get(path), 200)
    assert (kept["name"], kept["cnf_xml"]) == ("Ada's", "<first/>")
    assert list(data_of(await ada.put(path, {"name": "Third", "revision": 2}))) == FIELDS
    data_of(await ada.put(path, {"cnf_xml": "<last/>"}))
    for revision in (0, 2**31, "1", None):
        assert list(error_of(await ada.put(path, {"revision": revision}), 422)) == ["revision"]


async def test_update_accepts_the_record_as_read(ada: Caller) -> None:
    before = await profile(ada, software_type="SCCP")
    path = f"/phone-profiles/{before['uuid']}"

    after = data_of(await ada.put(path, {**before, "created_at": 7}))

    assert after == {**before, "updated_at": after["updated_at"]}
    assert set(error_of(await ada.put(path, {**before, "uuid": STRANGER}), 422)) == {"uuid"}


async def test_superadmin_manages_profiles_of_every_user(admin: Caller, ada: Caller) -> None:
    reply = await admin.post("/phone-profiles", body(ada))
    path = f"/phone-profiles/{data_of(reply, 201)['uuid']}"

    data_of(await admin.put(path, {"name": "x"}))
    assert data_of(await ada.get(path))["name"] == "x"
    given = data_of(await admin.put(path, {"user_uuid": admin.uuid}))
    assert given["user_uuid"] == admin.uuid
    error_of(await ada.get(path), 404)
    assert data_of(await admin.delete(path), 200, "Profile deleted") is None
    error_of(await admin.delete(path), 404, "not_found")


async def test_profile_of_another_user_is_not_found(
    admin: Caller, ada: Caller, bob: Caller
) -> None:
    path = f"/phone-profiles/{(await profile(ada))['uuid']}"
    bobs = f"/phone-profiles/{(await profile(bob))['uuid']}"

    def without_id(reply: Any) -> Any:
        return {**reply.json(), "error": {**reply.json()["error"], "request_id": ""}}

    for method in ("GET", "PUT", "DELETE"):
        hidden = await bob.ask(method, path, content=b"{}")
        missing = await bob.ask(method, f"/phone-profiles/{STRANGER}", content=b"{}")
        error_of(hidden, 404, "not_found")
        assert without_id(hidden) == without_id(missing)
    for owner in (ada.uuid, STRANGER):
        error_of(await bob.post("/phone-profiles", {**body(bob), "user_uuid": owner}), 403)
        error_of(await bob.put(bobs, {"user_uuid": owner}), 403)
    for reply in (
        await admin.post("/phone-profiles", {**body(admin), "user_uuid": STRANGER}),
        await admin.put(bobs, {"user_uuid": STRANGER}),
    ):
        error_of(reply, 404, "not_found")
    data_of(await ada.get(path))


async def test_default_profile_of_desks_is_deleted_only_with_force(
    admin: Caller, ada: Caller
) -> None:
    uuid = (await profile(ada))["uuid"]
    for number in range(7):
        mac = f"00:1B:D4:00:00:0{number}"
        support.data_of(await admin.post("/phones", {"mac": mac}), 201)
        support.data_of(await admin.put(f"/phones/{mac}/desk", {"default_profile_uuid": uuid}))
    path = f"/phone-profiles/{uuid}"

    for query in ("", "?force=false"):
        reply = await ada.delete(path + query)
        error_of(reply, 409, "in_use")
        assert reply.json()["message"].startswith(
            "This profile is the default of 00:1B:D4:00:00:00, 00:1B:D4:00:00:01, "
            "00:1B:D4:00:00:02, 00:1B:D4:00:00:03, 00:1B:D4:00:00:04 and 2 more."
        )
    assert set(error_of(await ada.delete(f"{path}?force=maybe"), 422)) == {"force"}
    data_of(await ada.get(path))

    data_of(await ada.delete(f"{path}?force=true"), 200, "Profile deleted")
    desk = support.data_of(await admin.get("/phones/00:1B:D4:00:00:01/desk"))
    assert desk["default_profile_uuid"] is None


async def test_default_profile_of_desks_is_deleted_with_its_owner(
    admin: Caller, bob: Caller
) -> None:
    uuid = (await profile(bob))["uuid"]
    mac = "00:1B:D4:00:00:01"
    support.data_of(await admin.post("/phones", {"mac": mac}), 201)
    support.data_of(await admin.put(f"/phones/{mac}/desk", {"default_profile_uuid": uuid}))

    support.data_of(await admin.delete(f"/users/{bob.uuid}"))

    error_of(await admin.get(f"/phone-profiles/{uuid}"), 404)


async def test_configuration_is_not_logged_and_encrypted_in_the_database(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async with opened_api(tmp_path, database_kind="sqlite") as api:
        ada = await api.account("ada")
        await profile(ada, cnf_xml="<device><secret>Sesame-4711</secret></device>")
        error_of(await ada.post("/phone-profiles", body(ada, cnf_xml="<Sesame-4711>")), 422)
        stored = b"".join(path.read_bytes() for path in tmp_path.glob("phoneprov.db*"))

    assert "Sesame-4711" not in "".join(f"{one.__dict__} {one}" for one in caplog.records)
    assert stored
    assert b"Sesame" not in stored


async def test_configuration_size_limit_follows_the_setting(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    async with opened_api(tmp_path / "small", PHONEPROV_CNF_XML_MAX="1024") as api:
        ada = await api.account("ada")

        await profile(ada, cnf_xml=f"<a>{'x' * 1017}</a>")
        reply = await ada.post("/phone-profiles", body(ada, cnf_xml=f"<a>{'x' * 1018}</a>"))
        assert set(error_of(reply, 422)) == {"cnf_xml"}
