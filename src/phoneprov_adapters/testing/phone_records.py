"""A phone for the rig of a driver."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from phoneprov_core.kernel.system import shown
from phoneprov_core.phones.model import Phone

_START = datetime(2026, 1, 31, tzinfo=UTC)


def moment(number: int) -> str:
    """A shown moment, later for a larger number."""
    return shown(_START + timedelta(seconds=number))


def a_mac(number: int) -> str:
    """A MAC made of a number."""
    return ":".join(f"{octet:02X}" for octet in (0, 0x1B, 0xD4, *number.to_bytes(3, "big")))


def a_phone(number: int, **changes: Any) -> Phone:
    """An active phone of the inventory; larger numbers are created later."""
    phone = Phone(
        mac=a_mac(number),
        brand="Cisco",
        model="CP-7945G",
        description=None,
        name=None,
        hostname=None,
        location=None,
        phone_ip="10.20.30.40",
        phone_vlan=None,
        software_version=None,
        software_type="SCCP",
        is_active=True,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(phone, **changes)
