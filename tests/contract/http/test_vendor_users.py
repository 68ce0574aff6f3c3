"""Section 4.14 of the interface: PINs."""

from typing import Any

import pytest

from support.api import STRANGER, Api, Caller, data_of, error_of

FIELDS = ["uuid", "user_uuid", "pin_code", "created_at"]


async def save(caller: Caller, owner: Caller, pin: str = "2468") -> dict[str, Any]:
    saved: dict[str, Any] = data_of(
        await caller.put(f"/vendor-users/{owner.uuid}", {"pin_code": pin})
    )
    return saved


async def test_pin_saved_is_returned_as_a_hash(api: Api, ada: Caller) -> None:
    reply = await ada.put(f"/vendor-users/{ada.uuid.upper()}", {"pin_code": "246813579"})

    saved = data_of(reply, 200, "Vendor user saved")
    assert list(saved) == FIELDS
    assert saved["user_uuid"] == ada.uuid
    assert "246813579" not in reply.text
    assert await api.container.hasher().verify_pin("246813579", saved["pin_code"])
    assert reply.json()["metadata"] == {}
    found = await ada.get(f"/vendor-users/by-user/{ada.uuid}")
    assert data_of(found, 200, "Vendor user found") == saved
    assert data_of(await ada.get("/me"))["vendor_user"] == saved


async def test_pin_body_with_other_fields_of_the_record_is_accepted(
    ada: Caller, bob: Caller
) -> None:
    first = await save(ada, ada)
    body = {**first, "created_at": "2001-01-01T00:00:00.000Z", "pin_code": "9753"}

    second = data_of(await ada.put(f"/vendor-users/{ada.uuid}", body))

    assert second == {**first, "pin_code": second["pin_code"]}
    for other in (bob.uuid, None, 7):
        reply = await ada.put(f"/vendor-users/{ada.uuid}", {"pin_code": "9753", "user_uuid": other})
        assert set(error_of(reply, 422, "invalid")) == {"user_uuid"}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"pin_code"}),
        ({"pin_code": None}, {"pin_code"}),
        ({"pin_code": 2468}, {"pin_code"}),
        ({"pin_code": "246"}, {"pin_code"}),
        ({"pin_code": "2" * 33}, {"pin_code"}),
        ({"pin_code": "0000"}, {"pin_code"}),
        ({"pin_code": "1234"}, {"pin_code"}),
        ({"pin_code": "78901"}, {"pin_code"}),
        ({"pin_code": "654321"}, {"pin_code"}),
        ({"pin_code": "2109"}, {"pin_code"}),
        ({"pin_code": "24 68"}, {"pin_code"}),
        ({"pin_code": "\u0662\u0664\u0666\u0668"}, {"pin_code"}),
        ({"pin_code": "2468\n"}, {"pin_code"}),
        ({"pin_code": "x", "pin": "2468"}, {"pin_code", "pin"}),
        ([{"pin_code": "2468"}], {"body"}),
    ],
)
async def test_every_invalid_field_is_named(ada: Caller, body: Any, fields: set[str]) -> None:
    reply = await ada.put(f"/vendor-users/{ada.uuid}", body)

    assert set(error_of(reply, 422, "invalid")) == fields
    error_of(await ada.get(f"/vendor-users/by-user/{ada.uuid}"), 404)


async def test_pin_deleted_twice_is_not_found(ada: Caller, bob: Caller) -> None:
    await save(ada, ada)
    kept = await save(bob, bob)
    path = f"/vendor-users/{ada.uuid}"

    assert data_of(await ada.delete(path), 200, "Vendor user deleted") is None

    error_of(await ada.delete(path), 404, "not_found")
    error_of(await ada.get(f"/vendor-users/by-user/{ada.uuid}"), 404, "not_found")
    assert data_of(await ada.get("/me"))["vendor_user"] is None
    assert data_of(await bob.get(f"/vendor-users/by-user/{bob.uuid}")) == kept


async def test_pin_of_another_user_is_forbidden_whether_or_not_it_exists(
    ada: Caller, bob: Caller
) -> None:
    kept = await save(bob, bob)

    for owner in (bob.uuid, STRANGER, "7"):
        error_of(await ada.get(f"/vendor-users/by-user/{owner}"), 403, "forbidden")
        reply = await ada.put(f"/vendor-users/{owner}", {"pin_code": "2468"})
        assert error_of(reply, 403, "forbidden") == {}
        error_of(await ada.delete(f"/vendor-users/{owner}"), 403, "forbidden")
    assert data_of(await bob.get(f"/vendor-users/by-user/{bob.uuid}")) == kept


async def test_pin_of_any_user_is_open_to_level_0(admin: Caller, bob: Caller) -> None:
    saved = await save(admin, bob)

    assert saved["user_uuid"] == bob.uuid
    assert data_of(await bob.get("/me"))["vendor_user"] == saved


@pytest.mark.parametrize("owner", [STRANGER, "7"])
async def test_pin_of_missing_user_is_404_for_level_0(admin: Caller, owner: str) -> None:
    for reply in (
        await admin.get(f"/vendor-users/by-user/{owner}"),
        await admin.put(f"/vendor-users/{owner}", {"pin_code": "2468"}),
        await admin.delete(f"/vendor-users/{owner}"),
    ):
        error_of(reply, 404, "not_found")
        assert reply.json()["message"] == "There is no such user."


async def test_pin_that_is_a_number_of_its_user_is_refused(api: Api) -> None:
    admin, ada = await api.account("admin", level=0), await api.account("ada")
    line = {"type": "chan_sccp", "extension": "+49-2468", "name": "A"}
    line["password"] = "line secret"
    extension = data_of(await admin.post("/extensions", line), 201)["uuid"]
    link = {"user_uuid": ada.uuid, "extension_uuid": extension}
    data_of(await admin.post("/user-extensions", link), 201)

    for caller in (ada, admin):
        reply = await caller.put(f"/vendor-users/{ada.uuid}", {"pin_code": "492468"})
        assert reply.status_code == 422
        assert [one["field"] for one in reply.json()["error"]["details"]] == ["pin_code"]
    data_of(await admin.put(f"/vendor-users/{admin.uuid}", {"pin_code": "492468"}))
