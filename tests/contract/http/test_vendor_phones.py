"""Section 4.13 of the interface: vendor phone flags."""

from typing import Any

import pytest

from support.api import Api, Caller, data_of, error_of
from support.phone_records import a_flag
from support.records import a_mac

DESK, OTHER_DESK = "00:1B:D4:12:34:56", "00:1B:D4:65:43:21"


async def flagged(admin: Caller, mac: str, vendor: bool = True) -> None:
    data_of(await admin.put(f"/vendor-phones/{mac}", {"vendor": vendor}))


@pytest.mark.parametrize("spelling", [DESK, "001bd4123456", "00-1B-D4-12-34-56", "001b.d412.3456"])
async def test_flag_set_before_its_phone_exists_is_stored(
    admin: Caller, ada: Caller, spelling: str
) -> None:
    reply = await admin.put(f"/vendor-phones/{spelling}", {"mac": spelling, "vendor": True})

    flag = data_of(reply, 200, "Vendor phone saved")
    assert list(flag.items()) == [("mac", DESK), ("vendor", True)]
    assert reply.json()["metadata"] == {}
    found = await ada.get(f"/vendor-phones/{spelling}")
    assert data_of(found, 200, "Vendor phone found") == flag
    assert data_of(await admin.put(f"/vendor-phones/{DESK}", flag)) == flag
    assert data_of(await ada.get("/phones")) == []


async def test_flag_set_twice_is_updated(admin: Caller) -> None:
    await flagged(admin, DESK)

    reply = await admin.put(f"/vendor-phones/{DESK}", {"vendor": False})

    assert data_of(reply, 200, "Vendor phone saved") == {"mac": DESK, "vendor": False}
    assert data_of(await admin.get("/vendor-phones")) == [{"mac": DESK, "vendor": False}]


async def test_flags_are_listed_and_paged_oldest_first(
    admin: Caller, ada: Caller, api: Api
) -> None:
    assert data_of(await ada.get("/vendor-phones"), 200, "0 vendor phone(s) found") == []
    async with api.database.write() as tx:
        for number in (2, 3, 1):
            await tx.vendor_phones.add(a_flag(number))
    await flagged(admin, a_mac(1), vendor=False)
    flags = [{"mac": a_mac(number), "vendor": number != 1} for number in (1, 2, 3)]

    assert data_of(await ada.get("/vendor-phones"), 200, "3 vendor phone(s) found") == flags
    page = await ada.get("/vendor-phones", limit=2, offset=1)
    assert data_of(page, 200, "2 vendor phone(s) found") == flags[1:]
    assert page.json()["metadata"] == {"total": 3, "limit": 2, "offset": 1}
    assert set(error_of(await ada.get("/vendor-phones", limit="x"), 422)) == {"limit"}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"vendor"}),
        ({"vendor": None}, {"vendor"}),
        ({"vendor": 1}, {"vendor"}),
        ({"vendor": "true", "mac": OTHER_DESK}, {"vendor", "mac"}),
        ({"vendor": True, "mac": OTHER_DESK}, {"mac"}),
        ({"vendor": True, "mac": "desk"}, {"mac"}),
        ({"vendor": True, "mac": None}, {"mac"}),
        ({"vendor": True, "created_at": "x"}, {"created_at"}),
        ([], {"body"}),
    ],
)
async def test_every_invalid_field_is_named(admin: Caller, body: Any, fields: set[str]) -> None:
    await flagged(admin, DESK, vendor=False)

    reply = await admin.put(f"/vendor-phones/{DESK}", body)

    assert set(error_of(reply, 422, "invalid")) == fields
    assert data_of(await admin.get("/vendor-phones")) == [{"mac": DESK, "vendor": False}]


@pytest.mark.parametrize(
    "mac", ["desk", "00:1B:D4:12:34", "00:00:00:00:00:00", "01:00:5E:00:00:01", "%00"]
)
async def test_path_without_a_mac_is_refused(admin: Caller, mac: str) -> None:
    path = f"/vendor-phones/{mac}"

    assert set(error_of(await admin.put(path, {"vendor": True}), 422, "invalid")) == {"mac"}
    assert set(error_of(await admin.put(path, {"x": 1}), 422)) == {"vendor", "x"}
    error_of(await admin.get(path), 404, "not_found")
    error_of(await admin.delete(path), 404, "not_found")
    assert data_of(await admin.get("/vendor-phones")) == []


async def test_flag_deleted_twice_is_not_found_and_the_phone_remains(admin: Caller) -> None:
    phone = data_of(await admin.post("/phones", {"mac": DESK}), 201)
    await flagged(admin, DESK)
    await flagged(admin, OTHER_DESK)

    reply = await admin.delete(f"/vendor-phones/{DESK.replace(':', '').lower()}")

    assert data_of(reply, 200, "Vendor phone deleted") is None
    error_of(await admin.get(f"/vendor-phones/{DESK}"), 404, "not_found")
    error_of(await admin.delete(f"/vendor-phones/{DESK}"), 404, "not_found")
    assert data_of(await admin.get("/vendor-phones")) == [{"mac": OTHER_DESK, "vendor": True}]
    assert data_of(await admin.get("/phones")) == [phone]


async def test_flag_is_deleted_with_its_phone(admin: Caller) -> None:
    for mac in (DESK, OTHER_DESK):
        data_of(await admin.post("/phones", {"mac": mac}), 201)
        await flagged(admin, mac)

    data_of(await admin.delete(f"/phones/{DESK}"))

    assert data_of(await admin.get("/vendor-phones")) == [{"mac": OTHER_DESK, "vendor": True}]
