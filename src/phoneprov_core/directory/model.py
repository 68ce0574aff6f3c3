"""Contacts of the company and of single users."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Email, Line, OptionalLine, Uuid, schema
from phoneprov_core.kernel.times import Timestamp

Name = Annotated[Line, schema(examples=["Ada Lovelace"])]
Number = Annotated[
    OptionalLine,
    schema(description="A telephone number, as it is dialled", examples=["+44 20 7946 0018"]),
]
Ringtone = Annotated[
    OptionalLine, schema(description="What the phone rings with; free text", examples=["Chirp1"])
]


class CompanyContact(Struct, frozen=True):
    """Somebody whom everybody in the company may call."""

    uuid: Uuid
    name: Annotated[str, schema(examples=["Ada Lovelace"])]
    work: str | None
    mobile: str | None
    home: str | None
    email: Email | None
    ringtone: str | None
    department: str | None
    company: str | None
    location: str | None
    building: str | None
    is_active: bool
    created_at: Timestamp


class NewCompanyContact(Command, frozen=True, kw_only=True):
    """A contact for everybody; only its name is needed."""

    name: Name
    work: Number | None = None
    mobile: Number | None = None
    home: Number | None = None
    email: Email | None = None
    ringtone: Ringtone | None = None
    department: OptionalLine | None = None
    company: OptionalLine | None = None
    location: OptionalLine | None = None
    building: OptionalLine | None = None


class CompanyContactPatch(Command, frozen=True, kw_only=True):
    """Changes to a contact of the company."""

    name: Name | UnsetType = UNSET
    work: Number | UnsetType | None = UNSET
    mobile: Number | UnsetType | None = UNSET
    home: Number | UnsetType | None = UNSET
    email: Email | UnsetType | None = UNSET
    ringtone: Ringtone | UnsetType | None = UNSET
    department: OptionalLine | UnsetType | None = UNSET
    company: OptionalLine | UnsetType | None = UNSET
    location: OptionalLine | UnsetType | None = UNSET
    building: OptionalLine | UnsetType | None = UNSET


class PersonalContact(Struct, frozen=True):
    """Somebody in a user's own directory."""

    uuid: Uuid
    user_uuid: Uuid
    name: Annotated[str, schema(examples=["Ada Lovelace"])]
    work: str | None
    mobile: str | None
    home: str | None
    email: Email | None
    ringtone: str | None
    created_at: Timestamp


class NewPersonalContact(Command, frozen=True, kw_only=True):
    """A contact of one user's own; only its name is needed."""

    name: Name
    work: Number | None = None
    mobile: Number | None = None
    home: Number | None = None
    email: Email | None = None
    ringtone: Ringtone | None = None


class PersonalContactPatch(Command, frozen=True, kw_only=True):
    """Changes to a contact of one user's own. It stays with its user: a ``user_uuid`` here must
    be the stored one."""

    user_uuid: (
        Annotated[Uuid, schema(description="Must agree with the owner of the contact")] | UnsetType
    ) = UNSET
    name: Name | UnsetType = UNSET
    work: Number | UnsetType | None = UNSET
    mobile: Number | UnsetType | None = UNSET
    home: Number | UnsetType | None = UNSET
    email: Email | UnsetType | None = UNSET
    ringtone: Ringtone | UnsetType | None = UNSET
