"""Phones of the inventory."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import (
    Description,
    IpAddress,
    MacAddress,
    OptionalLine,
    schema,
)
from phoneprov_core.kernel.times import Timestamp

Model = Annotated[OptionalLine, schema(examples=["CP-7945G"])]
SoftwareType = Annotated[
    OptionalLine, schema(description="The firmware family; free text", examples=["SCCP"])
]


Family = Literal["SCCP", "SIP", "SIPE"]
"""A firmware family. ``SIPE`` is SIP firmware with Cisco's extensions."""

FAMILIES: tuple[Family, ...] = get_args(Family)


class Phone(Struct, frozen=True):
    """A desk phone, known by its MAC."""

    mac: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])]
    brand: str | None
    model: Annotated[str, schema(examples=["CP-7945G"])] | None
    description: str | None
    name: str | None
    hostname: str | None
    location: str | None
    phone_ip: IpAddress | None
    phone_vlan: str | None
    software_version: str | None
    software_type: Annotated[str, schema(examples=["SCCP"])] | None
    is_active: bool
    created_at: Timestamp
    updated_at: Timestamp


class NewPhone(Command, frozen=True, kw_only=True):
    """A phone to be recorded; only its MAC is needed."""

    mac: MacAddress
    brand: OptionalLine | None = None
    model: Model | None = None
    description: Description | None = None
    name: OptionalLine | None = None
    hostname: OptionalLine | None = None
    location: OptionalLine | None = None
    phone_ip: IpAddress | None = None
    phone_vlan: OptionalLine | None = None
    software_version: OptionalLine | None = None
    software_type: SoftwareType | None = None
    is_active: bool = True


class PhonePatch(Command, frozen=True, kw_only=True):
    """Changes to a phone; its MAC never changes."""

    brand: OptionalLine | UnsetType | None = UNSET
    model: Model | UnsetType | None = UNSET
    description: Description | UnsetType | None = UNSET
    name: OptionalLine | UnsetType | None = UNSET
    hostname: OptionalLine | UnsetType | None = UNSET
    location: OptionalLine | UnsetType | None = UNSET
    phone_ip: IpAddress | UnsetType | None = UNSET
    phone_vlan: OptionalLine | UnsetType | None = UNSET
    software_version: OptionalLine | UnsetType | None = UNSET
    software_type: SoftwareType | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET


def family_text(software_type: str | None) -> str:
    """A software type, which is free text, as families are compared: without blanks around it
    and in upper case; empty if it is not recorded."""
    return (software_type or "").strip().upper()


def speaks_sip(software_type: str | None) -> bool:
    """Whether firmware of this type speaks SIP. Every other type counts as SCCP."""
    return family_text(software_type) in {"SIP", "SIPE"}


def software_type_of(phone: Phone, profile: str | None) -> str | None:
    """The software type of a phone: as recorded, otherwise that of the profile it is given."""
    return (phone.software_type or "").strip() or profile


_MODEL = re.compile(r"(?:cisco\s+)?(?:cp-)?(.+?)g?", re.DOTALL)


def bare_model(model: str) -> str:
    """A model without its trimmings, in lower case: ``CP-7945G`` and ``Cisco 7945`` are ``7945``.

    Drops a leading ``Cisco``, a leading ``CP-`` and one trailing ``G``. Two models are the
    same when their bare forms are equal.
    """
    match = _MODEL.fullmatch(model.strip().casefold())
    return match[1] if match else ""
