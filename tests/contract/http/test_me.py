"""Section 4.2 of the interface: the caller's own record."""

from support.api import Caller, data_of

PROFILE = [
    "uuid", "first_name", "last_name", "username", "email", "phone", "lang", "location",
    "nationality", "timezone", "is_active", "last_uuid", "last_login_ip", "last_logout_ip",
    "last_login_at", "created_at", "updated_at", "created_by", "created_ip", "updated_ip",
    "permission", "vendor_user",
]  # fmt: skip


async def test_me_returns_the_account_of_the_caller(admin: Caller, ada: Caller) -> None:
    reply = await ada.get("/me")

    me = data_of(reply, 200, "User found")
    assert list(me) == PROFILE
    assert (me["uuid"], me["username"]) == (ada.uuid, "ada")
    assert me["permission"] is None
    assert me["vendor_user"] is None
    assert reply.json()["metadata"] == {}
    of_admin = data_of(await admin.get("/me"))
    assert of_admin["permission"] == {"level": 0, "perm_name": "level 0 of admin"}
    account = data_of(await admin.get(f"/users/{ada.uuid}"))
    assert {name: me[name] for name in account} == account


async def test_me_pin_is_returned_as_its_hash(ada: Caller) -> None:
    saved = data_of(await ada.put(f"/vendor-users/{ada.uuid}", {"pin_code": "2468"}))

    shown = data_of(await ada.get("/me"))["vendor_user"]

    assert list(shown) == ["uuid", "user_uuid", "pin_code", "created_at"]
    assert shown == saved
    assert "2468" not in shown["pin_code"][:12]
