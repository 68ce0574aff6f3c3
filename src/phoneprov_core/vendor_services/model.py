"""Service definitions."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import OptionalLine, Url, Uuid, schema
from phoneprov_core.kernel.times import Timestamp

Name = Annotated[OptionalLine, schema(examples=["Company directory"])]
Type = Annotated[
    OptionalLine, schema(description="The kind of service; free text", examples=["IPPhone"])
]


class VendorService(Struct, frozen=True):
    """A service by its name and address. The address is for phones: it is never fetched
    from here."""

    uuid: Uuid
    name: Annotated[str, schema(examples=["Company directory"])] | None
    url: Url | None
    type: Annotated[str, schema(examples=["IPPhone"])] | None
    created_at: Timestamp
    updated_at: Timestamp


class NewVendorService(Command, frozen=True, kw_only=True):
    """A service to be defined; nothing of it is needed at once."""

    name: Name | None = None
    url: Url | None = None
    type: Type | None = None


class VendorServicePatch(Command, frozen=True, kw_only=True):
    """Changes to a service."""

    name: Name | UnsetType | None = UNSET
    url: Url | UnsetType | None = UNSET
    type: Type | UnsetType | None = UNSET
