"""Contacts of the company and of single users, and what a phone can dial of their numbers."""

import re
from collections.abc import Iterator
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
from phoneprov_core.kernel.search import (
    ORDER,
    Filter,
    Query,
    SearchFields,
    Whether,
    digits_as_ascii,
)
from phoneprov_core.kernel.values import INVISIBLE

LONGEST_NUMBER = 32
LONGEST_FIELD = 255
"""Characters of the field of a number; a longer text is not read."""
_LONGEST_EXTENSION = 3
"""Digits of an extension that begins with 0, as far as it is distinguished from a second number."""

_SCHEME = re.compile(r"\s*(?:sips?|tel|callto):/{0,2}", re.IGNORECASE)
_WIDE = str.maketrans("\uff0b\ufe62\u207a\uff0a\uff03", "+++*#")
# Marks between the digits of one number.
_SEPARATORS = re.compile(r"[\s()\[\]/.\-_\u2010-\u2015\u2212\u00b7\u2022]+")
# (0) stands for calls within the country.
_NATIONAL = re.compile(r"\(\s*0\s*\)")
# In "030 1 / 030 2" the second begins with 0; the number after an area code does not.
_ANOTHER = re.compile(r"\s/\s+(?=0(?:[^\d/]*\d){2})")
_PLAIN = re.compile(r"[0-9]+")
_DIALLED = re.compile(r"\+?[0-9*#]+")
_TRUNK = re.compile(r"[\s(]*0{1,2}[\s)]*(?=\+)")
# Letters for digits, as in 0800 FLOWERS: what is before them is not the whole number.
_NO_LABEL = "(?!(?i:ext|fax|tel|mob|int|nst))"
_VANITY = re.compile(
    rf"[0-9][\s.\-]*{_NO_LABEL}[A-Z]{{3,}}(?![^\W\d_])|[0-9]-{_NO_LABEL}[^\W\d_]{{3,}}"
    r"|[^\W\d_]{3,}-?[0-9]"
)
_EXTENSION = re.compile(r";\s*(?:ext|isub|phone-context|user)\b|[^\W\d_]", re.IGNORECASE)


def dialled(number: str) -> str:
    """The first number in the text, without the marks that people write between its digits: digits,
    ``*`` and ``#``, and ``+`` in front. Extensions (``;ext=``, ``x``, ``ext.``) are cut off. Empty
    if there is none, if it has letters, or if it is too long for a phone."""
    if len(number) > LONGEST_FIELD:
        return ""
    plain = number.replace(" ", "")
    if not _PLAIN.fullmatch(plain.removeprefix("+")):
        plain = next(_numbers(number), "")
    return plain if len(plain) <= LONGEST_NUMBER else ""


def not_offered(number: str) -> str | None:
    """What phones do not offer of the text, as a text that continues the name of its field."""
    if not dialled(number):
        return "has no number that a phone can dial"
    first, *others = _numbers(number)
    if _EXTENSION.search(number):
        others = [one for one in others if one[0] in "+0" and len(one) > _LONGEST_EXTENSION]
    if others:
        return f"has {len(others) + 1} numbers; phones offer the first, {first}"
    return None


def _numbers(text: str) -> Iterator[str]:
    """The numbers in the text, in their order; none if letters stand for digits."""
    text = INVISIBLE.sub("", digits_as_ascii(text)).translate(_WIDE)
    if found := _SCHEME.match(text):
        text = text[found.end() :]
    if "@" in text:  # sip:1001@example.com
        text = text.partition("@")[0]
    if _VANITY.search(text):
        return
    text = _TRUNK.sub("", text, count=1) if _TRUNK.match(text) else text
    if text.lstrip(" (").startswith(("+", "00")):
        text = _NATIONAL.sub(" ", text)
    for part in _ANOTHER.split(text):
        bare = _SEPARATORS.sub("", part)
        for found in _DIALLED.finditer(bare):
            if found[0].strip("+*#"):
                yield found[0]


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
