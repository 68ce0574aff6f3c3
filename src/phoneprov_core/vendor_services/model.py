"""Service definitions."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import CreatedAt, OptionalLine, RecordUuid, UpdatedAt, Url, schema

Name = Annotated[
    OptionalLine, schema(description="Name of the service", examples=["Company directory"])
]
Type = Annotated[
    OptionalLine, schema(description="Kind of service; free text", examples=["IPPhone"])
]


ServiceUrl = Annotated[
    Url, schema(description="Address with http or https. The service never requests it")
]


class VendorService(Struct, frozen=True):
    """A service: name and URL. Phones open the URL; this service never requests it."""

    uuid: RecordUuid
    name: Name | None
    url: ServiceUrl | None
    type: Type | None
    created_at: CreatedAt
    updated_at: UpdatedAt


class NewVendorService(Command, frozen=True, kw_only=True):
    """A service to be created; every field is optional."""

    name: Name | None = None
    url: ServiceUrl | None = None
    type: Type | None = None


class VendorServicePatch(Command, frozen=True, kw_only=True):
    """Changes to a service."""

    name: Name | UnsetType | None = UNSET
    url: ServiceUrl | UnsetType | None = UNSET
    type: Type | UnsetType | None = UNSET
