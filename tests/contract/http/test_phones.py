"""Section 4.7 of the interface: the inventory of phones."""

import asyncio
from typing import Any

import pytest

from support.api import Caller, data_of, error_of
from support.resources import check_not_found, check_pages

FIELDS = [
    "mac", "brand", "model", "description", "name", "hostname", "location", "phone_ip",
    "phone_vlan", "software_version", "software_type", "is_active", "created_at", "updated_at",
]  # fmt: skip

MAC = "00:1B:D4:12:34:56"
FULL = {
    "mac": MAC,
    "brand": "Cisco",
    "model": "CP-7945G",
    "description": "By the door\n\tof the hall",
    "name": "Front desk",
    "hostname": "SEP001BD4123456",
    "location": "Berlin",
    "phone_ip": "10.20.30.40",
    "phone_vlan": "120",
    "software_version": "SCCP45.9-4-2SR3-1S",
    "software_type": "SCCP",
    "is_active": False,
}


async def phone(admin: Caller, **fields: Any) -> dict[str, Any]:
    created: dict[str, Any] = data_of(await admin.post("/phones", {"mac": MAC, **fields}), 201)
    return created


async def test_phone_create_requires_a_mac_only(admin: Caller) -> None:
    reply = await admin.post("/phones", {"mac": "001bd4123456"})

    created = data_of(reply, 201, "Phone created")
    assert list(created) == FIELDS
    assert (created["mac"], created["is_active"]) == (MAC, True)
    assert created["created_at"] == created["updated_at"]
    assert {created[field] for field in FIELDS[1:11]} == {None}
    assert reply.json()["metadata"] == {}


async def test_phone_read_returns_the_created_record(admin: Caller, ada: Caller) -> None:
    created = data_of(await admin.post("/phones", FULL), 201)

    assert {name: created[name] for name in FULL} == FULL
    for spelling in (MAC, MAC.lower(), "001bd4123456", "00-1B-d4-12-34-56", "001b.d412.3456"):
        reply = await ada.get(f"/phones/{spelling}")
        assert data_of(reply, 200, "Phone found") == created


async def test_phones_are_listed_and_paged_oldest_first(admin: Caller, ada: Caller) -> None:
    assert data_of(await ada.get("/phones"), 200, "0 phone(s) found") == []
    made = [await phone(admin, mac=f"00:1B:D4:00:00:0{number}") for number in (3, 1, 2)]
    made.sort(key=lambda one: (one["created_at"], one["mac"]))

    await check_pages(ada, "/phones", "phone", made)


@pytest.mark.parametrize(
    "mac",
    ["", "001bd412345", "001bd41234567", "00:1B:D4:12:34:5G", "00:1B-D4:12:34:56",
     "001B.D4:12.3456", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF", "01:1B:D4:12:34:56",
     " 001bd4123456", "001bd4123456\n", "\u0660" * 12, 7, None, [MAC]],
)  # fmt: skip
async def test_invalid_mac_is_refused(admin: Caller, mac: Any) -> None:
    assert set(error_of(await admin.post("/phones", {"mac": mac}), 422, "invalid")) == {"mac"}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("::FFFF:10.0.0.1", "::ffff:a00:1"),
    ],
)
async def test_phone_ip_is_stored_in_canonical_form(admin: Caller, sent: str, kept: str) -> None:
    kept_as = (await phone(admin, phone_ip=sent))["phone_ip"]
    assert kept_as in {kept, "::ffff:10.0.0.1"} if "FFFF" in sent else kept_as == kept


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"phone_ip": "010.0.0.1"}, {"phone_ip"}),
        ({"phone_ip": "10.0.0.1/24"}, {"phone_ip"}),
        ({"phone_ip": "fe80::1%eth0"}, {"phone_ip"}),
        ({"name": "Hall\u200e"}, {"name"}),
        ({"location": "2nd\u2028floor"}, {"location"}),
        ({"phone_ip": 7}, {"phone_ip"}),
        ({"phone_vlan": 120}, {"phone_vlan"}),
        ({"name": "x" * 256}, {"name"}),
        ({"description": "x" * 2049}, {"description"}),
        ({"hostname": "a\u0000b"}, {"hostname"}),
        ({"location": "a\u0085b"}, {"location"}),
        ({"is_active": None}, {"is_active"}),
        ({"is_active": "yes"}, {"is_active"}),
        ({"is_vendor": True, "updated_at": "x"}, {"is_vendor", "updated_at"}),
        ({"mac": "x", "phone_ip": "x", "name": 1, "x": 1}, {"mac", "phone_ip", "name", "x"}),
    ],
)
async def test_every_invalid_field_is_named(
    admin: Caller, fields: dict[str, Any], bad: set[str]
) -> None:
    assert set(error_of(await admin.post("/phones", {"mac": MAC, **fields}), 422)) == bad


async def test_text_of_maximum_length_is_accepted(admin: Caller) -> None:
    created = await phone(admin, name="\U0001f600" * 255, description="\u00e9" * 2048)

    assert (len(created["name"]), len(created["description"])) == (255, 2048)


async def test_mac_in_use_is_conflict(admin: Caller) -> None:
    await phone(admin)

    reply = await admin.post("/phones", {"mac": "00-1b-d4-12-34-56"})

    assert set(error_of(reply, 409, "already_exists")) == {"mac"}
    replies = await asyncio.gather(
        *(admin.post("/phones", {"mac": "00:1B:D4:AA:AA:AA"}) for _ in range(4))
    )
    assert sorted(reply.status_code for reply in replies) == [201, 409, 409, 409]


async def test_update_changes_only_sent_fields(admin: Caller) -> None:
    before = data_of(await admin.post("/phones", FULL), 201)

    reply = await admin.put("/phones/001BD4123456", {"name": "Hall", "brand": None})

    after = data_of(reply, 200, "Phone updated")
    assert list(after) == FIELDS
    assert after == {**before, "name": "Hall", "brand": None, "updated_at": after["updated_at"]}
    assert after["updated_at"] >= before["updated_at"]
    assert data_of(await admin.get(f"/phones/{MAC}")) == after
    assert data_of(await admin.put(f"/phones/{MAC}", {}))["name"] == "Hall"


async def test_update_accepts_the_record_as_read(admin: Caller) -> None:
    before = data_of(await admin.post("/phones", FULL), 201)

    reply = await admin.put(f"/phones/{MAC}", {**before, "created_at": None, "mac": MAC.lower()})

    after = data_of(reply)
    assert after == {**before, "updated_at": after["updated_at"]}
    for mac in ("00:1B:D4:12:34:57", "x", None):
        assert set(error_of(await admin.put(f"/phones/{MAC}", {"mac": mac}), 422)) == {"mac"}


async def test_null_clears_every_field_but_is_active(admin: Caller) -> None:
    data_of(await admin.post("/phones", FULL), 201)
    everything = dict.fromkeys(FIELDS[1:11])

    cleared = data_of(await admin.put(f"/phones/{MAC}", everything))

    assert {cleared[name] for name in everything} == {None}
    reply = await admin.put(f"/phones/{MAC}", {"is_active": None, "x": 1})
    assert set(error_of(reply, 422)) == {"is_active", "x"}


async def test_phone_deleted_removes_its_flag_and_keeps_its_kems(admin: Caller) -> None:
    await phone(admin)
    data_of(await admin.put(f"/vendor-phones/{MAC}", {"vendor": True}))
    kem = data_of(await admin.post("/vendor-kem", {"connected_phone": MAC}), 201)

    reply = await admin.delete("/phones/00-1b-d4-12-34-56")

    assert data_of(reply, 200, "Phone deleted") is None
    error_of(await admin.delete(f"/phones/{MAC}"), 404, "not_found")
    error_of(await admin.get(f"/vendor-phones/{MAC}"), 404)
    assert data_of(await admin.get(f"/vendor-kem/{kem['uuid']}"))["connected_phone"] is None


@pytest.mark.parametrize("mac", ["00:1B:D4:12:34:57", "7", "%00", "FF:FF:FF:FF:FF:FF", "a b"])
async def test_unknown_phone_is_not_found(admin: Caller, mac: str) -> None:
    await check_not_found(admin, f"/phones/{mac}")
