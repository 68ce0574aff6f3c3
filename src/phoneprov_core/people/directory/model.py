"""Contacts of the company and of single users."""

from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import (
    CreatedAt,
    Email,
    Line,
    Location,
    OptionalLine,
    RecordUuid,
    UserUuid,
    Uuid,
    schema,
)
from phoneprov_core.kernel.search import ORDER, Filter, Query, SearchFields, Whether

Name = Annotated[Line, schema("Name of the contact", examples=["Ada Lovelace"])]
WorkNumber = Annotated[
    OptionalLine, schema("Telephone number at work", examples=["+44 20 7946 0018"])
]
MobileNumber = Annotated[
    OptionalLine, schema("Mobile telephone number", examples=["+44 7700 900123"])
]
HomeNumber = Annotated[
    OptionalLine, schema("Telephone number at home", examples=["+44 20 7946 0099"])
]
Ringtone = Annotated[OptionalLine, schema("Ring tone; free text", examples=["Chirp1"])]

Department = Annotated[OptionalLine, schema("Department", examples=["Engineering"])]
Company = Annotated[OptionalLine, schema("Company", examples=["Example Ltd"])]
Building = Annotated[OptionalLine, schema("Building", examples=["B"])]
ContactEmail = Annotated[Email, schema("E-mail address")]
Active = Annotated[bool, schema("Whether the contact is shown on phones", examples=[True])]


class CompanyContact(Struct, frozen=True):
    """A contact of the company, visible to all accounts."""

    uuid: RecordUuid
    name: Name
    work: WorkNumber | None
    mobile: MobileNumber | None
    home: HomeNumber | None
    email: ContactEmail | None
    ringtone: Ringtone | None
    department: Department | None
    company: Company | None
    location: Location | None
    building: Building | None
    is_active: Active
    created_at: CreatedAt


class CreatePersonalContact(Command, frozen=True, kw_only=True):
    """A personal contact to be created; only its name is required."""

    name: Name
    work: WorkNumber | None = None
    mobile: MobileNumber | None = None
    home: HomeNumber | None = None
    email: ContactEmail | None = None
    ringtone: Ringtone | None = None


class CreateCompanyContact(CreatePersonalContact, frozen=True, kw_only=True):
    """A company contact to be created; only its name is required."""

    department: Department | None = None
    company: Company | None = None
    location: Location | None = None
    building: Building | None = None
    is_active: Active = True


class ContactPatch(Command, frozen=True, kw_only=True):
    """Changes to a contact of either directory."""

    name: Name | UnsetType = UNSET
    work: WorkNumber | UnsetType | None = UNSET
    mobile: MobileNumber | UnsetType | None = UNSET
    home: HomeNumber | UnsetType | None = UNSET
    email: ContactEmail | UnsetType | None = UNSET
    ringtone: Ringtone | UnsetType | None = UNSET


class CompanyContactPatch(ContactPatch, frozen=True, kw_only=True):
    """Changes to a company contact."""

    department: Department | UnsetType | None = UNSET
    company: Company | UnsetType | None = UNSET
    location: Location | UnsetType | None = UNSET
    building: Building | UnsetType | None = UNSET
    is_active: Active | UnsetType = UNSET


class PersonalContact(Struct, frozen=True):
    """A contact in a user's personal directory."""

    uuid: RecordUuid
    user_uuid: UserUuid
    name: Name
    work: WorkNumber | None
    mobile: MobileNumber | None
    home: HomeNumber | None
    email: ContactEmail | None
    ringtone: Ringtone | None
    created_at: CreatedAt


class PersonalContactPatch(ContactPatch, frozen=True, kw_only=True):
    """Changes to a personal contact. Its owner never changes: a ``user_uuid`` here must equal the
    stored one."""

    user_uuid: Annotated[Uuid, schema("Must agree with the owner of the contact")] | UnsetType = (
        UNSET
    )


CONTACT_FIELDS = SearchFields(texts=("name", "email"), numbers=("work", "mobile", "home"))


ContactSort = Literal[
    "name", "-name", "email", "-email", "department", "-department", "location", "-location"
]


class ContactSearch(QueryCommand, frozen=True, kw_only=True):
    """Which company contacts a list shows; None of a field means all."""

    q: Query | None = None
    department: Filter | None = None
    company: Filter | None = None
    location: Filter | None = None
    building: Filter | None = None
    is_active: Whether | None = None
    sort: Annotated[ContactSort, ORDER] | None = None


class TooManyContacts(Conflict):
    """The user has the maximum number of personal contacts."""

    code = "too_many_contacts"
    usual = (
        "This user has 1000 personal contacts, the maximum; delete one, or raise "
        "PHONEPROV_MOST_CONTACTS."
    )
