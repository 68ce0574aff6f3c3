"""Key expansion modules."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import IpAddress, MacAddress, OptionalLine, Uuid, schema
from phoneprov_core.kernel.times import Timestamp

Model = Annotated[OptionalLine, schema(examples=["CP-7916"])]
SoftwareType = Annotated[
    OptionalLine, schema(description="The firmware family; free text", examples=["SCCP"])
]
ConnectedPhone = Annotated[
    MacAddress,
    schema(description="The MAC of the phone it is connected to, in the inventory or not"),
]


class Kem(Struct, frozen=True):
    """A key expansion module. ``connected_phone`` is the MAC of its phone, which may not be
    in the inventory yet."""

    uuid: Uuid
    model: Annotated[str, schema(examples=["CP-7916"])] | None
    mac: Annotated[str, schema(examples=["00:1B:D4:65:43:21"])] | None
    ip: IpAddress | None
    connected_phone: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])] | None
    software_version: str | None
    software_type: Annotated[str, schema(examples=["SCCP"])] | None
    created_at: Timestamp


class NewKem(Command, frozen=True, kw_only=True):
    """A KEM to be recorded; nothing of it needs to be known."""

    model: Model | None = None
    mac: MacAddress | None = None
    ip: IpAddress | None = None
    connected_phone: ConnectedPhone | None = None
    software_version: OptionalLine | None = None
    software_type: SoftwareType | None = None


class KemPatch(Command, frozen=True, kw_only=True):
    """Changes to a KEM."""

    model: Model | UnsetType | None = UNSET
    mac: MacAddress | UnsetType | None = UNSET
    ip: IpAddress | UnsetType | None = UNSET
    connected_phone: ConnectedPhone | UnsetType | None = UNSET
    software_version: OptionalLine | UnsetType | None = UNSET
    software_type: SoftwareType | UnsetType | None = UNSET
