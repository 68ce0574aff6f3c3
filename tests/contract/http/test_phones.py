"""Section 4.7 of the interface: the inventory of phones."""

from typing import Any

import pytest

from support.api import Caller, data_of, error_of

MAC = "00:1B:D4:12:34:56"


async def phone(admin: Caller, **fields: Any) -> dict[str, Any]:
    created: dict[str, Any] = data_of(await admin.post("/phones", {"mac": MAC, **fields}), 201)
    return created


async def test_phone_read_returns_the_created_record(admin: Caller, ada: Caller) -> None:
    created = await phone(admin)

    for spelling in (MAC, MAC.lower(), "001bd4123456", "00-1B-d4-12-34-56", "001b.d412.3456"):
        reply = await ada.get(f"/phones/{spelling}")
        assert data_of(reply, 200, "Phone found") == created


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


async def test_mac_in_use_is_conflict(admin: Caller) -> None:
    await phone(admin)

    reply = await admin.post("/phones", {"mac": "00-1b-d4-12-34-56"})

    assert set(error_of(reply, 409, "already_exists")) == {"mac"}
