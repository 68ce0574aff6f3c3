"""Section 4.10 of the interface: key expansion modules."""

from typing import Any

import pytest

from support.api import STRANGER, Caller, data_of, error_of
from support.resources import check_deletion, check_not_found, check_pages

FIELDS = [
    "uuid", "model", "mac", "ip", "connected_phone", "software_version", "software_type",
    "created_at",
]  # fmt: skip

FULL = {
    "model": "CP-7916",
    "mac": "00:1B:D4:65:43:21",
    "ip": "10.20.30.41",
    "connected_phone": "00:1B:D4:12:34:56",
    "software_version": "1.0.4",
    "software_type": "SCCP",
}


async def kem(admin: Caller, **fields: Any) -> dict[str, Any]:
    recorded: dict[str, Any] = data_of(await admin.post("/vendor-kem", fields), 201)
    return recorded


async def test_kem_create_requires_no_field(admin: Caller) -> None:
    reply = await admin.post("/vendor-kem", {})

    recorded = data_of(reply, 201, "KEM created")
    assert list(recorded) == FIELDS
    assert {recorded[field] for field in FULL} == {None}
    assert recorded["uuid"]
    assert recorded["created_at"].endswith("Z")
    assert reply.json()["metadata"] == {}


async def test_kem_create_before_its_phone_returns_the_record(admin: Caller, ada: Caller) -> None:
    recorded = await kem(admin, **FULL)

    assert recorded == {
        **FULL,
        "uuid": recorded["uuid"],
        "created_at": recorded["created_at"],
    }
    reply = await ada.get(f"/vendor-kem/{recorded['uuid'].upper()}")
    assert data_of(reply, 200, "KEM found") == recorded
    assert data_of(await ada.get("/phones")) == []


async def test_mac_addresses_are_returned_in_canonical_form(admin: Caller) -> None:
    recorded = await kem(
        admin, mac="001b.d465.4321", connected_phone="00-1b-d4-12-34-56", ip="2001:DB8::0:1"
    )

    assert recorded["mac"] == "00:1B:D4:65:43:21"
    assert recorded["connected_phone"] == "00:1B:D4:12:34:56"
    assert recorded["ip"] == "2001:db8::1"


async def test_kems_are_listed_and_paged_oldest_first(admin: Caller, ada: Caller) -> None:
    assert data_of(await ada.get("/vendor-kem"), 200, "0 KEM(s) found") == []
    kems = [await kem(admin, model=f"KEM {number}") for number in range(3)]
    kems.sort(key=lambda one: (one["created_at"], one["uuid"]))

    await check_pages(ada, "/vendor-kem", "KEM", kems)
    assert set(error_of(await ada.get("/vendor-kem", limit=0), 422)) == {"limit"}


async def test_update_changes_only_sent_fields(admin: Caller) -> None:
    before = await kem(admin, **FULL)
    change = {"software_version": "2", "connected_phone": "001bd4ffffff"}

    reply = await admin.put(f"/vendor-kem/{before['uuid']}", change)

    after = data_of(reply, 200, "KEM updated")
    assert after == {**before, **change, "connected_phone": "00:1B:D4:FF:FF:FF"}
    assert list(after) == FIELDS
    assert data_of(await admin.get(f"/vendor-kem/{before['uuid']}")) == after


@pytest.mark.parametrize("field", list(FULL))
async def test_null_clears_a_field(admin: Caller, field: str) -> None:
    before = await kem(admin, **FULL)

    assert data_of(await admin.put(f"/vendor-kem/{before['uuid']}", {field: None})) == {
        **before,
        field: None,
    }


async def test_update_accepts_the_record_as_read(admin: Caller) -> None:
    before = await kem(admin, **FULL)

    reply = await admin.put(
        f"/vendor-kem/{before['uuid']}",
        {**before, "created_at": "2001-01-01T00:00:00.000Z", "model": "CKEM"},
    )

    assert data_of(reply) == {**before, "model": "CKEM"}


async def test_update_empty_body_changes_nothing(admin: Caller) -> None:
    before = await kem(admin, **FULL)

    assert data_of(await admin.put(f"/vendor-kem/{before['uuid']}", {})) == before


async def test_update_other_uuid_is_refused(admin: Caller) -> None:
    before = await kem(admin)

    reply = await admin.put(f"/vendor-kem/{before['uuid']}", {"uuid": STRANGER})

    assert set(error_of(reply, 422, "invalid")) == {"uuid"}


async def test_kem_deleted_twice_is_not_found(admin: Caller) -> None:
    path = f"/vendor-kem/{(await kem(admin))['uuid']}"

    await check_deletion(admin, path, "KEM deleted")


@pytest.mark.parametrize("uuid", [STRANGER, "7", "%00"])
async def test_unknown_kem_is_not_found(admin: Caller, uuid: str) -> None:
    await check_not_found(admin, f"/vendor-kem/{uuid}")


BAD: list[tuple[Any, set[str]]] = [
    (
        {"mac": "1", "connected_phone": "00:1B:D4:12:34", "ip": "1"},
        {"mac", "connected_phone", "ip"},
    ),
    ({"mac": "00:00:00:00:00:00"}, {"mac"}),
    ({"connected_phone": "01:00:5E:00:00:01"}, {"connected_phone"}),
    ({"model": "79\u200b16"}, {"model"}),
    ({"ip": "10.20.30.41/24", "model": 7}, {"ip", "model"}),
    (
        {"software_type": "x" * 256, "software_version": "a\nb"},
        {"software_type", "software_version"},
    ),
    ({"phone": "00:1B:D4:12:34:56"}, {"phone"}),
    ([], {"body"}),
]


@pytest.mark.parametrize(("body", "fields"), BAD)
async def test_every_invalid_field_is_named(admin: Caller, body: Any, fields: set[str]) -> None:
    before = await kem(admin)

    assert set(error_of(await admin.post("/vendor-kem", body), 422, "invalid")) == fields
    path = f"/vendor-kem/{before['uuid']}"
    assert set(error_of(await admin.put(path, body), 422, "invalid")) == fields

    assert data_of(await admin.get("/vendor-kem")) == [before]


async def test_create_refuses_read_only_fields(admin: Caller) -> None:
    body = {"uuid": STRANGER}

    assert set(error_of(await admin.post("/vendor-kem", body), 422)) == set(body)


async def test_deleted_phone_clears_the_phone_of_its_kems(admin: Caller) -> None:
    mac, other = "00:1B:D4:12:34:56", "00:1B:D4:00:00:01"
    for one in (mac, other):
        data_of(await admin.post("/phones", {"mac": one}), 201)
    kems = [await kem(admin, connected_phone=phone) for phone in (mac, other, mac)]
    kems.sort(key=lambda one: (one["created_at"], one["uuid"]))

    data_of(await admin.delete(f"/phones/{mac.replace(':', '')}"), 200, "Phone deleted")

    assert data_of(await admin.get("/vendor-kem")) == [
        one if one["connected_phone"] == other else {**one, "connected_phone": None} for one in kems
    ]
