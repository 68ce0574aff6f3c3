"""Contacts of the company and of single users, and their terms, by which they are found.

A contact is found by the beginning of a word of the name, or by digits of a number. It has terms:
its whole name, the words of its name in each spelling, the pairs of its words, and every end of the
digits of its numbers. A search is a range of terms, so that its cost follows what it finds, not the
size of the directory. A search for two words is a range of pairs: many contacts can have each of
the words, and few of them both.
"""

import itertools
import re
from collections.abc import Iterable
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
    folded,
    one_letter,
    spellings,
)

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


PAGE = 32
"""Contacts that a search reads at a time, and one more to know whether there are others."""

LONGEST_TERM = 64
_MOST_WORDS = 3
_LONGEST_DIGITS = 24
_LONGEST_NAME = 255
"""Characters of the name of a contact."""

# The letter before a term keeps the kinds apart.
NAME, _WORD, _PAIR, _DIGITS = "n", "w", "p", "d"

# A pair begins with 1 to 4 letters of the first word, so that a beginning of both is a range. It
# has one letter for each reading of two, so that a name with two spellings has no more pairs.
_PAIR_LETTERS = 4
_MOST_PAIRED = 8

_WORDS = re.compile(r"[^\W_]+")
_DIGIT_VALUES = re.compile(r"[0-9]")

LAST = "\U0010ffff"
"""Sorts after every text that begins like a term."""


class TermSearch(Struct, frozen=True):
    """What is searched for, as beginnings of terms: a contact matches if it has a term for each
    of them. Few contacts match the first."""

    prefixes: tuple[str, ...]

    @property
    def is_everyone(self) -> bool:
        """Whether every active contact matches, by its one term for the whole name."""
        return self.prefixes == (NAME,)


def searched(name: str = "", number: str = "") -> TermSearch | None:
    """The search for words of a name and digits of a number; both empty finds every contact, by
    name. None if what was typed can match no contact."""
    digits = _digits(number)
    words = _words(folded(name[:_LONGEST_NAME]))
    if (name.strip() and not words) or (number.strip() and not digits):
        return None
    # A word that another one begins with says nothing more.
    words = [one for one in dict.fromkeys(words) if not _is_beginning(one, words)]
    by_length = sorted(words, key=len, reverse=True)[:_MOST_WORDS]
    prefixes = [_DIGITS + digits] if digits else []
    pair = _pair_of(by_length)
    # A few digits are in more numbers than a pair is in names.
    prefixes = prefixes + pair if len(digits) >= _PAIR_LETTERS else pair + prefixes
    return TermSearch(tuple(prefixes) or (NAME,))


def _pair_of(words: list[str]) -> list[str]:
    """What finds names with these words, the longest first: a pair, and each word that it does not
    hold completely."""
    second, first, *others = (*words, "", "")[: max(len(words), 2)]
    begin, end = one_letter(first), one_letter(second)
    if not first or end.startswith(begin) or begin.startswith(end):
        return [_WORD + word for word in words]
    letters = min(len(begin), _PAIR_LETTERS)
    if letters < len(begin) or begin != first:
        others.insert(0, first)
    if end != second:
        others.append(second)
    return [_pair(begin, end, letters), *(_WORD + word for word in others)]


class FoundContact(Struct, frozen=True):
    """The fields of a contact that a search returns."""

    uuid: str
    name: str
    work: str | None
    mobile: str | None
    home: str | None


def terms_of(contact: CompanyContact) -> frozenset[str]:
    """The terms of a contact; none while it is not active."""
    if not contact.is_active:
        return frozenset()
    forms = [_words(form) for form in spellings(contact.name[:_LONGEST_NAME])]
    terms = {_WORD + word for words in forms for word in words}
    terms.add((NAME + (" ".join(forms[0]) or folded(contact.name)))[:LONGEST_TERM])
    for words in {tuple(map(one_letter, words)) for words in forms}:
        paired = list(dict.fromkeys(words))[:_MOST_PAIRED]
        terms.update(
            _pair(first, second, letters)
            for first, second in itertools.permutations(paired, 2)
            for letters in range(1, min(len(first), _PAIR_LETTERS) + 1)
        )
    for number in (contact.work, contact.mobile, contact.home):
        digits = _digits(number or "")
        terms.update(_DIGITS + digits[start:] for start in range(len(digits)))
    return frozenset(terms)


def _pair(first: str, second: str, letters: int) -> str:
    return f"{_PAIR}{letters}{first[:letters]} {second}"[:LONGEST_TERM]


def _is_beginning(word: str, words: Iterable[str]) -> bool:
    return any(other.startswith(word) for other in words if other != word)


def _words(plain_name: str) -> list[str]:
    return [word[: LONGEST_TERM - 1] for word in _WORDS.findall(plain_name)]


def _digits(number: str) -> str:
    return "".join(_DIGIT_VALUES.findall(digits_as_ascii(number)))[:_LONGEST_DIGITS]
