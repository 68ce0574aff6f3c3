"""Adopted and replaced phones."""

from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.commands import Command, wrong
from phoneprov_core.kernel.errors import Conflict, Problem
from phoneprov_core.kernel.fields import Location, MacAddress, Uuid, schema
from phoneprov_core.phones.model import Phone, PhoneIp, PhoneName
from phoneprov_core.provisioning.model import DiscoveredPhone

NamedAddress = Annotated[
    PhoneIp,
    schema("Address of the phone; required if several asked for its files within a day"),
]


class AdoptPhone(Command, frozen=True, kw_only=True):
    """What a discovered phone becomes; every field is optional."""

    name: PhoneName | None = None
    location: Location | None = None
    profile_uuid: Annotated[Uuid, schema("Default profile of its desk")] | None = None
    phone_ip: NamedAddress | None = None


class ReplacePhone(Command, frozen=True, kw_only=True):
    """The phone that takes the place of another."""

    mac: Annotated[MacAddress, schema("MAC address of the new phone", examples=["001bd4654321"])]
    phone_ip: NamedAddress | None = None


class PlacedPhone(Phone, frozen=True, kw_only=True):
    """A phone that was adopted or took the place of another, and whether it is at its address."""

    mac_confirmed: Annotated[
        bool, schema("Whether the phone at its address stated its MAC address", examples=[True])
    ]
    mac_note: Annotated[
        str,
        schema(
            "What was found at its address",
            examples=["The phone at 10.0.0.31 states this MAC address."],
        ),
    ]


class Replacement(Struct, frozen=True):
    """A phone (``mac``) took the place of another (``earlier``)."""

    mac: str
    earlier: str
    created_at: str


class SeveralAddresses(Conflict):
    """Several addresses asked for the files of a phone within a day."""

    code = "several_addresses"
    usual = (
        "Several addresses asked for the files of this phone within a day: 10.0.0.31, 10.0.0.66. "
        "Look which one is the phone, and name it (phone_ip)."
    )
    usual_problems = (Problem("phone_ip", "is required: 10.0.0.31 or 10.0.0.66"),)


class AlreadyReplaced(Conflict):
    """Another phone took the place of this one."""

    code = "already_replaced"
    usual = "This phone was replaced by 00:1B:D4:65:43:21; replace that one, or activate this one."


def address_of_new(seen: DiscoveredPhone | None, named: str | None, since: str) -> str | None:
    """The address of a new phone: the named one, else the one that asked for its files; None
    without any. Raises ``SeveralAddresses`` if several asked since a moment; ``Invalid`` if a
    discovered phone never asked from the named one."""
    if seen is None:
        return named
    if named is not None:
        if named not in seen.addresses(""):
            raise wrong("phone_ip", "is not an address that asked for the files of this phone")
        return named
    addresses = seen.addresses(since)
    if len(addresses) > 1:
        raise SeveralAddresses(
            "Several addresses asked for the files of this phone within a day: "
            f"{', '.join(addresses)}. Look which one is the phone, and name it (phone_ip).",
            problems=(Problem("phone_ip", f"is required: {' or '.join(addresses)}"),),
        )
    return seen.client_ip


def successor(
    old: Phone, mac: str, now: str, *, ip: str | None, model: str | None, confirmed: bool = True
) -> Phone:
    """The phone that takes the place of ``old``: what is true of the place, not of the device. Its
    address and its firmware are those of the device: ``ip`` and ``model`` are known if it was
    discovered, else it counts as the same model."""
    hostname = old.hostname
    if hostname is not None:
        hostname = hostname.replace(old.mac.replace(":", ""), mac.replace(":", ""))
    return replace(
        old,
        mac=mac,
        model=model or old.model,
        hostname=hostname,
        phone_ip=ip,
        address_confirmed=confirmed or ip is None,
        adopted_with_pin=False,
        software_version=None,
        is_active=True,
        created_at=now,
        updated_at=now,
    )
