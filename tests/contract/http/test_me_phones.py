"""Section 4.2 of the interface: every phone with its modules and flags."""

from support.api import Api, Caller, data_of, error_of
from support.phone_records import a_flag, a_kem, a_phone
from support.records import a_mac

FIELDS = [
    "mac", "brand", "model", "description", "name", "hostname", "location", "phone_ip",
    "phone_vlan", "software_version", "software_type", "is_active", "created_at", "is_vendor",
    "vendor", "key_expansion_modules",
]  # fmt: skip


async def test_me_phones_include_flag_and_kems(admin: Caller, ada: Caller) -> None:
    phone = data_of(await admin.post("/phones", {"mac": a_mac(1), "model": "CP-7965G"}), 201)
    flag = data_of(await admin.put(f"/vendor-phones/{a_mac(1)}", {"vendor": True}))
    kems = [
        data_of(await admin.post("/vendor-kem", {"connected_phone": a_mac(1), "model": model}), 201)
        for model in ("CP-7916", "CP-7915")
    ]
    kems.sort(key=lambda one: (one["created_at"], one["uuid"]))
    data_of(await admin.post("/vendor-kem", {"connected_phone": a_mac(2)}), 201)

    reply = await ada.get("/me/phones")

    (shown,) = data_of(reply, 200, "1 phone(s) found")
    assert list(shown) == FIELDS
    del phone["updated_at"]
    assert shown == {**phone, "is_vendor": True, "vendor": flag, "key_expansion_modules": kems}
    assert reply.json()["metadata"] == {}


async def test_me_phones_without_flag_and_kems_have_empty_values(
    admin: Caller, ada: Caller
) -> None:
    data_of(await admin.post("/phones", {"mac": a_mac(1), "is_active": False}), 201)
    await admin.put(f"/vendor-phones/{a_mac(2)}", {"vendor": True})

    (shown,) = data_of(await ada.get("/me/phones"))

    assert (shown["is_vendor"], shown["vendor"], shown["is_active"]) == (False, None, False)
    assert shown["key_expansion_modules"] == []
    data_of(await admin.put(f"/vendor-phones/{a_mac(1)}", {"vendor": False}))
    (shown,) = data_of(await ada.get("/me/phones"))
    assert (shown["is_vendor"], shown["vendor"]) == (False, {"mac": a_mac(1), "vendor": False})


async def test_me_phones_are_listed_and_paged_oldest_first(ada: Caller, api: Api) -> None:
    assert data_of(await ada.get("/me/phones"), 200, "0 phone(s) found") == []
    async with api.database.write() as tx:
        for number in (2, 3, 1):
            await tx.phones.add(a_phone(number))
            for kem in (2 * number, 2 * number + 1):
                await tx.kems.add(a_kem(kem, connected_phone=a_mac(number)))

    everything = await ada.get("/me/phones")
    page = await ada.get("/me/phones", limit=2, offset=1)

    phones = data_of(everything, 200, "3 phone(s) found")
    assert [phone["mac"] for phone in phones] == [a_mac(1), a_mac(2), a_mac(3)]
    assert [len(phone["key_expansion_modules"]) for phone in phones] == [2, 2, 2]
    assert data_of(page, 200, "2 phone(s) found") == phones[1:]
    assert page.json()["metadata"] == {"total": 3, "limit": 2, "offset": 1}
    assert set(error_of(await ada.get("/me/phones", limit=1001), 422)) == {"limit"}


async def test_me_phones_long_list_is_complete(ada: Caller, api: Api) -> None:
    async with api.database.write() as tx:
        for number in range(1001):
            await tx.phones.add(a_phone(number))
        for number in (0, 999, 1000):
            await tx.vendor_phones.add(a_flag(number))
            await tx.kems.add(a_kem(number, connected_phone=a_mac(number)))

    phones = data_of(await ada.get("/me/phones"), 200, "1001 phone(s) found")
    page = data_of(await ada.get("/me/phones", limit=600, offset=400), 200, "600 phone(s) found")

    assert [phone["mac"] for phone in phones] == [a_mac(number) for number in range(1001)]
    assert page == phones[400:1000]
    equipped = [0, 999, 1000]
    assert [n for n in range(1001) if phones[n]["is_vendor"]] == equipped
    assert [n for n in range(1001) if phones[n]["key_expansion_modules"]] == equipped
