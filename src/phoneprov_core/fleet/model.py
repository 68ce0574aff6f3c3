"""Adopted and replaced phones."""

from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import Location, MacAddress, Uuid, schema
from phoneprov_core.phones.model import Phone, PhoneName


class AdoptPhone(Command, frozen=True, kw_only=True):
    """What a discovered phone becomes; every field is optional."""

    name: PhoneName | None = None
    location: Location | None = None
    profile_uuid: Annotated[Uuid, schema("Default profile of its desk")] | None = None


class ReplacePhone(Command, frozen=True, kw_only=True):
    """The phone that takes the place of another."""

    mac: Annotated[MacAddress, schema("MAC address of the new phone", examples=["001bd4654321"])]


class Replacement(Struct, frozen=True):
    """A phone (``mac``) took the place of another (``earlier``)."""

    mac: str
    earlier: str
    created_at: str


class AlreadyReplaced(Conflict):
    """Another phone took the place of this one."""

    code = "already_replaced"
    usual = "This phone was replaced by 00:1B:D4:65:43:21; replace that one, or activate this one."


def successor(old: Phone, mac: str, now: str, *, ip: str | None, model: str | None) -> Phone:
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
        software_version=None,
        is_active=True,
        created_at=now,
        updated_at=now,
    )
