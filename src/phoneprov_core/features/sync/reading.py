"""Reads the entries of a directory as the fields of people, what these want of an account, and
their contacts in the company directory."""

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from msgspec import UNSET, Struct, structs

from phoneprov_core.features.sync.model import (
    CONTACT,
    Directory,
    DirectoryKey,
    SyncOptions,
    SyncTransaction,
)
from phoneprov_core.features.transfer.importing import PIECE
from phoneprov_core.features.transfer.model import Row, RowProblem, problems_of, truth
from phoneprov_core.features.transfer.sheets import spoiled
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of, invalid, wrong
from phoneprov_core.kernel.errors import Invalid, Problem
from phoneprov_core.kernel.ports import Rows
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    CreateCompanyContact,
)
from phoneprov_core.people.directory.use_cases import CompanyDirectory
from phoneprov_core.people.users.model import ImportedUser, User, UserPatch

REQUIRED = ("username", "first_name", "last_name", "email")
USER_FIELDS = (*REQUIRED, "phone", "lang", "location", "nationality", "timezone", "is_active")
CONTACT_FIELDS = ("mobile", "home", "department", "company", "building")
"""Fields that only the contact of a person has."""
FIELDS = ("key", *USER_FIELDS, *CONTACT_FIELDS)

USUAL: Mapping[str, tuple[str, ...]] = {
    "key": ("objectguid", "entryuuid"),
    "username": ("samaccountname", "uid"),
    "first_name": ("givenname",),
    "last_name": ("sn",),
    "email": ("mail",),
    "phone": ("telephonenumber",),
    "lang": ("preferredlanguage",),
    "location": ("physicaldeliveryofficename", "l"),
    "is_active": ("useraccountcontrol", "nsaccountlock", "logindisabled"),
    "mobile": ("mobile",),
    "department": ("department",),
    "company": ("company",),
}
"""The attributes of an LDAP entry, the first one that it has."""
_LONGEST_KEY = 255
_DISABLED = 2
_KEPT_WHEN_EMPTY = {"lang", "timezone"}
_LANGUAGE = re.compile(r"[^,; ]+")


@dataclass
class Person:
    """A person of the directory: the values of an account; a missing one is not changed."""

    line: int
    key: str
    values: dict[str, object]
    contact: dict[str, object]


@dataclass
class People:
    """The people of the input. ``keys`` are all its keys, ``has_unknown`` is whether an
    entry may belong to a missing person."""

    total: int = 0
    people: list[Person] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    problems: list[RowProblem] = field(default_factory=list)
    has_unknown: bool = False


async def people_of(directory: Directory, mapped: Mapping[str, str]) -> People:
    """Read every entry. Raises ``Invalid`` if a field or its attribute does not exist."""
    unknown = [Problem(name, "is not a field of a person") for name in mapped if name not in FIELDS]
    if unknown:
        raise invalid(unknown)
    columns = await directory.columns()
    named = {name: (attribute.lower().replace(" ", "_"),) for name, attribute in mapped.items()}
    attributes = {**({name: (name,) for name in FIELDS} if columns else USUAL), **named}
    if columns:
        strange = set(columns).difference(*attributes.values()) if not mapped else ()
        problems = [Problem(name, "is not a column of this table") for name in sorted(strange)]
        problems += [
            Problem(name, f"needs a column {attributes[name][0]}")
            for name in ("key", *named)
            if attributes[name][0] not in columns
        ]
        if problems:
            raise invalid(problems)
    found = People()
    rows: list[Row] = []
    async for piece in directory.pieces():
        for row in piece:
            found.total += 1
            if isinstance(row, RowProblem):
                found.problems.append(row)
                found.has_unknown = True
            else:
                rows.append(row)
    # An attribute that no entry has was not asked for: its field is not changed.
    seen = {name for row in rows for name, value in row.cells.items() if value} | set(columns)
    asked = {name: known for name, names in attributes.items() if (known := _in(names, seen))}
    if rows and "key" not in asked:
        names = " or ".join(attributes["key"])
        raise wrong("key", f"is missing: no entry has {names}; ask for it, or name another")
    if missing := [name for name in named if rows and name not in asked]:
        raise invalid(
            [Problem(name, f"is missing: no entry has {named[name][0]}") for name in missing]
        )
    for row in rows:
        _read(row, asked, found)
    return found


def _in(names: Sequence[str], seen: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in seen)


def _read(row: Row, asked: Mapping[str, Sequence[str]], found: People) -> None:
    cells = {
        name: next((cell for one in names if (cell := row.cells.get(one, "").strip())), "")
        for name, names in asked.items()
    }
    key = cells.pop("key")
    if not key or len(key) > _LONGEST_KEY or not key.isprintable():
        message = "is required" if not key else "must be one line of at most 255 characters"
        found.problems.append(RowProblem(row.line, "key", message))
        found.has_unknown = True
        return
    if key in found.keys:
        message = f"is on line {found.keys[key]} already"
        found.problems.append(RowProblem(row.line, "key", message))
        return
    found.keys[key] = row.line
    problems = [Problem(name, "is required") for name in REQUIRED if cells.get(name) == ""]
    problems += [Problem(name, "is not in UTF-8") for name in cells if not _is_text(cells[name])]
    problems += spoiled(cells)
    active: object = True
    if "is_active" in asked:
        active = _active(asked["is_active"], row.cells, cells.pop("is_active"))
        if not isinstance(active, bool):
            problems.append(Problem("is_active", "must be true or false, or userAccountControl"))
    if problems:
        found.problems += [RowProblem(row.line, one.field, one.message) for one in problems]
        return
    if language := _LANGUAGE.match(cells.get("lang", "")):
        cells["lang"] = language[0].replace("_", "-")
    values: dict[str, object] = {name: cell or None for name, cell in cells.items()}
    account = {
        name: value
        for name, value in values.items()
        if name in USER_FIELDS and not (value is None and name in _KEPT_WHEN_EMPTY)
    }
    contact = {
        name: values[name] for name in (*CONTACT_FIELDS, "email", "location") if name in values
    }
    if "phone" in values:
        contact["work"] = values["phone"]
    found.people.append(Person(row.line, key, {**account, "is_active": active}, contact))


def _active(names: Sequence[str], cells: Mapping[str, str], mapped: str) -> object:
    """Whether an account is active: by each of the usual attributes, or by a mapped one."""
    if not set(names) <= set(USUAL["is_active"]):
        return truth(mapped) if mapped else True
    flags = cells.get("useraccountcontrol", "").strip()
    if flags and not flags.lstrip("-").isdecimal():
        return flags
    locks = [truth(cells.get(name) or "false") for name in USUAL["is_active"][1:]]
    return not (int(flags or 0) & _DISABLED or True in locks)


def _is_text(cell: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in cell)


class Want(NamedTuple):
    """An account as a person wants it; ``user`` is None for a new one."""

    person: Person
    user: User | None
    command: ImportedUser | UserPatch
    adopted: bool = False

    @property
    def username(self) -> str:
        """The username at the end."""
        new = self.command.username
        return new if isinstance(new, str) else self.user.username if self.user else ""

    @property
    def email(self) -> str:
        """The e-mail address at the end."""
        new = self.command.email
        return new if isinstance(new, str) else self.user.email if self.user else ""


async def every(rows: Rows[Any]) -> AsyncIterator[Any]:
    """All records of a store, read in pieces."""
    last = None
    while piece := await rows.rows(PIECE, after=last):
        for one in piece:
            yield one
        last = piece[-1]


def fields_set(patch: Struct) -> list[str]:
    """The fields that a patch sets."""
    return [name for name in patch.__struct_fields__ if getattr(patch, name) is not UNSET]


def differs(patch: Struct, record: Struct, name: str) -> bool:
    """Whether a field of the patch has another value than the record; no value is empty text."""
    return (getattr(patch, name) or None) != (getattr(record, name) or None)


class Contacts(NamedTuple):
    """The changes of the company directory: commands with the key, and the contact if it exists."""

    changed: list[tuple[DirectoryKey, CompanyContact | None, Any]]
    problems: list[RowProblem]

    @classmethod
    async def of(
        cls,
        tx: SyncTransaction,
        all_keys: Sequence[DirectoryKey],
        wants: Mapping[str, Want],
        found: People,
        options: SyncOptions,
    ) -> Self:
        """The changes; a problem of a contact leaves the contact out."""
        if not options.contacts:
            return cls([], [])
        contacts = {one.uuid: one async for one in every(tx.company_contacts)}
        keys = [one for one in all_keys if one.kind == CONTACT]
        keyed = {one.record_uuid for one in keys}
        own = {
            one.key: contacts[one.record_uuid]
            for one in keys
            if one.source == options.source and one.record_uuid in contacts
        }
        by_email = {
            caseless(one.email): one for one in contacts.values()
            if one.email and one.uuid not in keyed
        } if options.adopt else {}  # fmt: skip
        problems: list[RowProblem] = []
        changed: list[tuple[DirectoryKey, CompanyContact | None, Any]] = []
        for want in wants.values():
            person = want.person
            contact = own.get(person.key) or by_email.pop(caseless(want.email), None)
            values = {**person.contact, "is_active": person.values["is_active"]}
            if name := _full_name(want):
                values["name"] = name
            key = DirectoryKey(options.source, person.key, CONTACT, contact.uuid if contact else "")
            try:
                if contact is None:
                    changed.append((key, None, command_of(CreateCompanyContact, values)))
                    continue
                patch = command_of(CompanyContactPatch, values)
            except Invalid as error:
                problems += problems_of(person.line, error)
                continue
            same = {name: UNSET for name in fields_set(patch) if not differs(patch, contact, name)}
            patch = structs.replace(patch, **same)
            if fields_set(patch) or person.key not in own:
                changed.append((key, contact, patch))
        if options.missing_ == "deactivate" and not found.has_unknown:
            changed += [
                (
                    DirectoryKey(options.source, key, CONTACT, contact.uuid),
                    contact,
                    CompanyContactPatch(is_active=False),
                )
                for key, contact in own.items()
                if key not in found.keys and contact.is_active
            ]
        return cls(changed, problems)

    async def write(self, tx: SyncTransaction, actor: Actor, directory: CompanyDirectory) -> None:
        """Write the changes in the transaction that ``directory`` has joined."""
        known = {
            (one.source, one.key) for one in await tx.directory_keys.all() if one.kind == CONTACT
        }
        for key, contact, command in self.changed:
            uuid = key.record_uuid
            if contact is None:
                uuid = (await directory.create(actor, command)).uuid
            elif fields_set(command):
                await directory.update(actor, uuid, command)
            if contact is None or (key.source, key.key) not in known:
                await tx.directory_keys.put(structs.replace(key, record_uuid=uuid))


def _full_name(want: Want) -> str:
    names = [want.command.first_name, want.command.last_name]
    stored = [want.user.first_name, want.user.last_name] if want.user else ["", ""]
    return " ".join(
        new if isinstance(new, str) else old for new, old in zip(names, stored, strict=True)
    )
