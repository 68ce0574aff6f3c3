"""Section 4.2 of the interface: the caller's own record."""

from typing import Any

from phoneprov_adapters.testing.phone_records import a_phone
from phoneprov_adapters.testing.records import a_mac, identifier, moment
from phoneprov_core.kems import Kem
from phoneprov_core.vendor_phones import VendorPhoneRecord
from support.api import Api, Caller, data_of

PROFILE = [
    "uuid", "first_name", "last_name", "username", "email", "phone", "lang", "location",
    "nationality", "timezone", "is_active", "last_uuid", "last_login_ip", "last_logout_ip",
    "last_login_at", "created_at", "updated_at", "created_by", "created_ip", "updated_ip",
    "permission", "vendor_user",
]  # fmt: skip
PHONE = [
    "mac", "brand", "model", "description", "name", "hostname", "location", "phone_ip",
    "phone_vlan", "software_version", "software_type", "is_active", "created_at", "is_vendor",
    "vendor", "key_expansion_modules",
]  # fmt: skip
KEM = [
    "uuid", "model", "mac", "ip", "connected_phone", "software_version", "software_type",
    "created_at",
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


async def phones(api: Api) -> None:
    async with api.database.write() as tx:
        for number in (1, 2, 3):
            await tx.phones.add(a_phone(number))
        await tx.vendor_phones.save(VendorPhoneRecord(a_mac(1), True, moment(1)))
        await tx.vendor_phones.save(VendorPhoneRecord(a_mac(2), False, moment(1)))
        for number, phone in ((9, 1), (8, 1), (7, 99)):
            kem = Kem(
                identifier(number), "CP-7916", None, None, a_mac(phone), None, None, moment(number)
            )
            await tx.kems.add(kem)


async def test_me_phones_include_flags_and_kems(api: Api, ada: Caller) -> None:
    await phones(api)

    reply = await ada.get("/me/phones")

    first, second, third = data_of(reply, 200, "3 phone(s) found")
    assert [list(one) for one in (first, second, third)] == [PHONE] * 3
    assert [one["mac"] for one in (first, second, third)] == [a_mac(1), a_mac(2), a_mac(3)]
    assert [one["is_vendor"] for one in (first, second, third)] == [True, False, False]
    assert first["vendor"] == {"mac": a_mac(1), "vendor": True}
    assert second["vendor"] == {"mac": a_mac(2), "vendor": False}
    assert third["vendor"] is None
    assert [kem["uuid"] for kem in first["key_expansion_modules"]] == [
        identifier(8),
        identifier(9),
    ]
    assert list(first["key_expansion_modules"][0]) == KEM
    assert second["key_expansion_modules"] == third["key_expansion_modules"] == []
    assert reply.json()["metadata"] == {}


async def test_me_phones_are_paged(api: Api, ada: Caller) -> None:
    await phones(api)

    reply = await ada.get("/me/phones", limit=1, offset=1)

    assert [one["mac"] for one in data_of(reply, 200, "1 phone(s) found")] == [a_mac(2)]
    assert reply.json()["metadata"] == {"total": 3, "limit": 1, "offset": 1}


async def test_me_phones_are_visible_to_every_account(api: Api, admin: Caller, ada: Caller) -> None:
    await phones(api)

    of_ada: Any = data_of(await ada.get("/me/phones"))

    assert of_ada == data_of(await admin.get("/me/phones"))
