"""Section 4.10 of the interface: key expansion modules."""

from typing import Any

from support.api import Caller, data_of


async def kem(admin: Caller, **fields: Any) -> dict[str, Any]:
    recorded: dict[str, Any] = data_of(await admin.post("/vendor-kem", fields), 201)
    return recorded


async def test_mac_addresses_are_returned_in_canonical_form(admin: Caller) -> None:
    recorded = await kem(
        admin, mac="001b.d465.4321", connected_phone="00-1b-d4-12-34-56", ip="2001:DB8::0:1"
    )

    assert recorded["mac"] == "00:1B:D4:65:43:21"
    assert recorded["connected_phone"] == "00:1B:D4:12:34:56"
    assert recorded["ip"] == "2001:db8::1"
