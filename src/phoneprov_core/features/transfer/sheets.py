"""The kinds of tables: their columns, and the identity of their rows."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from phoneprov_core.features.transfer.configurations import (
    CreateDeskRow,
    DeskRow,
    DeskRowPatch,
    DeskTable,
)
from phoneprov_core.features.transfer.model import OWNER, Note, truth
from phoneprov_core.inventory.extensions import CreateExtension, Extension, ExtensionPatch
from phoneprov_core.inventory.locations import CreateLocation, Location, LocationPatch
from phoneprov_core.inventory.phone_parts import CreateKem, Kem, KemPatch
from phoneprov_core.inventory.phones.model import CreatePhone, Phone, PhonePatch
from phoneprov_core.kernel.commands import invalid, wrong
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.values import INVISIBLE, caseless, known_id, known_mac
from phoneprov_core.people.access import location_key
from phoneprov_core.people.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    CreateCompanyContact,
    CreatePersonalContact,
    PersonalContact,
    PersonalContactPatch,
)
from phoneprov_core.people.directory.use_cases import not_offered
from phoneprov_core.people.users.model import ImportedUser, User, UserPatch
from phoneprov_core.switching.devices.names import mac_in_table


class Sheet(Struct, frozen=True):
    """One kind of table.

    A row means the record that ``identity`` names, by the first of these columns with a value. With
    ``by_content`` a row without such a value means the record with the same content. ``unique`` are
    further values that no two records share. ``store`` is where a transaction has the records, with
    ``rows`` and ``find``. With ``missing`` rows create no records: it is the
    problem of a row that names none. ``secret`` columns are exported only on request,
    ``one_way`` columns never, since only their hash is stored.
    """

    name: str
    record: type[Struct]
    new: type[Struct]
    patch: type[Struct]
    store: Callable[[Any], Any]
    identity: tuple[str, ...]
    key: str = "uuid"
    by_content: bool = False
    owned: bool = False
    unique: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    one_way: tuple[str, ...] = ()
    missing: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that can be written, in the order of the export."""
        named = (self.key,) if self.key not in self.new.__struct_fields__ else ()
        return (*named, *((OWNER,) if self.owned else ()), *self.new.__struct_fields__)

    @property
    def ignored(self) -> frozenset[str]:
        """Read-only columns of the record: they may occur in an import and are ignored."""
        return frozenset(self.record.__struct_fields__).difference(self.columns)

    @property
    def needed(self) -> frozenset[str]:
        """The columns without which no row can be read."""
        names = frozenset[str]() if self.by_content else frozenset(self.identity)
        return names | {OWNER} if self.owned else names

    def leaving(self, *, with_secrets: bool) -> tuple[str, ...]:
        """The columns of an export."""
        hidden = {*self.one_way, *(() if with_secrets else self.secret)}
        return tuple(column for column in self.columns if column not in hidden)

    def values(self, cells: Mapping[str, str], command: type[Struct]) -> dict[str, object]:
        """The cells of a row as fields of a command, not yet checked. An empty cell is null if the
        field may be null, otherwise it is ignored."""
        values: dict[str, object] = {}
        for field in msgspec.structs.fields(self.new):
            cell = cells.get(field.name)
            if cell is not None and field.name in _WITHOUT_BLANKS:
                cell = cell.strip()
            if cell is None or field.name not in command.__struct_fields__:
                continue
            if cell == "":
                if field.default is None:
                    values[field.name] = None
            elif isinstance(field.default, bool):
                values[field.name] = truth(cell)
            else:
                values[field.name] = cell
        return values

    def names(self, values: Mapping[str, object]) -> list[tuple[str, str]]:
        """The names of a record with these values: pairs of a field and its comparable value."""
        return [
            (field, text)
            for field in self.identity
            if (text := comparable(field, values.get(field)))
        ]

    def content(self, values: Mapping[str, Any], owner: str) -> tuple[str, ...]:
        """The content of a record for comparison; a missing value and empty text are equal. A
        switch such as ``is_active`` is not part of it."""
        fields = (
            field.name
            for field in msgspec.structs.fields(self.new)
            if field.name not in self.one_way and not isinstance(field.default, bool)
        )
        return (owner, *(str(values.get(field) or "") for field in fields))


def comparable(field: str, value: object) -> str:
    """A form that is equal for values that count as the same; empty for no value."""
    if not isinstance(value, str):
        return ""
    if field == "uuid":
        return known_id(value.strip())
    if field == "mac":
        return known_mac(value.strip())
    if field == "name":
        return location_key(value)
    return caseless(value) if field in {"username", "email"} else value


def tidied(cells: Mapping[str, str]) -> dict[str, str]:
    """The cells of a row without what other programs add: direction and other invisible marks
    around a number, ``SEP`` before the digits of a MAC."""
    tidy = dict(cells)
    for column, cell in cells.items():
        if column in _NUMBERS and (bare := INVISIBLE.sub("", cell)) != cell:
            tidy[column] = bare.strip()
        if column in _MACS:
            tidy[column] = mac_in_table(tidy[column]) or tidy[column]
    return tidy


def notes_on(sheet: Sheet, cells: Mapping[str, str]) -> list[Note]:
    """The numbers of a contact that phones do not offer, or not completely."""
    columns = _DIALLED.intersection(sheet.new.__struct_fields__)
    return [
        Note(column, message)
        for column in sorted(columns)
        if (cell := cells.get(column)) and (message := not_offered(cell))
    ]


def spoiled(cells: Mapping[str, str]) -> list[Problem]:
    """The numbers that a spreadsheet changed: ``1.23457E+11`` lost its digits, and in ``1001.0``
    it added some."""
    return [
        Problem(column, message)
        for column, cell in cells.items()
        if column in _NUMBERS
        for pattern, message in _SPOILED
        if pattern.fullmatch(cell.strip())
    ]


_MACS = {"mac", "connected_phone"}
_WITHOUT_BLANKS = {*_MACS, "ip", "phone_ip"}
_NUMBERS = {
    *_WITHOUT_BLANKS, "extension", "number", "voicemail_passcode", "pin_code", "phone", "work",
    "mobile", "home", "emergency_number",
}  # fmt: skip
_DIALLED = {"work", "mobile", "home"}
_AS_TEXT = "format the column as text and enter it again"
_SPOILED = (
    (
        re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?[eE][+-][0-9]+"),
        f"is a number in scientific notation: the spreadsheet lost its digits; {_AS_TEXT}",
    ),
    (
        re.compile(r"[+-]?[0-9]+[.,]0{1,2}"),
        f"is a decimal number: the spreadsheet added the end; {_AS_TEXT}",
    ),
)
USERS = Sheet(
    "users", User, ImportedUser, UserPatch, lambda tx: tx.users, ("username",),
    unique=("email",), one_way=("password",),
)  # fmt: skip
EXTENSIONS = Sheet(
    "extensions", Extension, CreateExtension, ExtensionPatch, lambda tx: tx.extensions,
    ("extension",), secret=("password", "voicemail_passcode"),
)  # fmt: skip
PHONES = Sheet("phones", Phone, CreatePhone, PhonePatch, lambda tx: tx.phones, ("mac",), key="mac")
KEMS = Sheet("kems", Kem, CreateKem, KemPatch, lambda tx: tx.kems, ("uuid", "mac"), by_content=True)
LOCATIONS = Sheet(
    "locations", Location, CreateLocation, LocationPatch, lambda tx: tx.locations, ("name",)
)
COMPANY_DIRECTORY = Sheet(
    "company-directory", CompanyContact, CreateCompanyContact, CompanyContactPatch,
    lambda tx: tx.company_contacts, ("uuid",), by_content=True,
)  # fmt: skip
PERSONAL_DIRECTORY = Sheet(
    "personal-directory", PersonalContact, CreatePersonalContact, PersonalContactPatch,
    lambda tx: tx.personal_contacts, ("uuid",), by_content=True, owned=True,
)  # fmt: skip
DESKS = Sheet(
    "desks", DeskRow, CreateDeskRow, DeskRowPatch, DeskTable, ("mac",), key="mac",
    missing="is not the MAC of a phone",
)  # fmt: skip
SHEETS = {
    sheet.name: sheet
    for sheet in (
        USERS,
        EXTENSIONS,
        PHONES,
        DESKS,
        KEMS,
        LOCATIONS,
        COMPANY_DIRECTORY,
        PERSONAL_DIRECTORY,
    )
}
_NEW = "line "


class Index:
    """Finds the record that a row names. Of the records it keeps their names only."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._named: dict[tuple[str, str], str] = {}
        self._contents: dict[tuple[str, ...], str] = {}
        self._unique: dict[tuple[str, str], str] = {}
        self._has: dict[tuple[str, str], str] = {}
        self._lines: dict[str, int] = {}

    def learn(self, record: Struct, owner: str) -> None:
        """Add a stored record. Of several with one name the first counts."""
        values = {name: getattr(record, name) for name in record.__struct_fields__}
        self._note(str(values[self._sheet.key]), values, owner)

    def named(self, cells: Mapping[str, object]) -> str | None:
        """The key of the record that a row names, or None for a new one. A name without a stored
        record is ignored: the record comes from another installation."""
        for name in self._sheet.names(cells):
            if (key := self._named.get(name)) is not None:
                return key
        return None

    def saying(self, values: Mapping[str, object], owner: str) -> str | None:
        """The key of the record with the same content, or None."""
        return self._contents.get(self._sheet.content(values, owner))

    def claim(self, line: int, key: str | None, values: Mapping[str, object], owner: str) -> None:
        """Note that the row at ``line`` is the record ``key`` (None: a new one). Raises ``Invalid``
        with the conflicts with an earlier row or with another record."""
        means = key if key is not None else f"{_NEW}{line}"
        names = self._sheet.names(values)
        earlier = self._lines.get(means, line)
        if earlier != line and names:
            raise wrong(names[0][0], f"is on line {earlier} already")
        if problems := [
            Problem(field, "is already in use")
            for field in self._sheet.unique
            if (value := comparable(field, values.get(field)))
            and self._unique.get((field, value), means) != means
        ]:
            raise invalid(problems)
        self._lines[means] = line
        self._note(means, values, owner)

    def is_stored(self, key: str) -> bool:
        """Whether a key belongs to a record that was stored before the import."""
        return not key.startswith(_NEW)

    def is_brought(self, key: str, *, before: int) -> bool:
        """Whether a key belongs to a record of a row above the line ``before``."""
        return key.startswith(_NEW) and self._lines[key] < before

    def is_new(self, key: str, *, at: int) -> bool:
        """Whether a key belongs to the record of the row at this line."""
        return key.startswith(_NEW) and self._lines[key] == at

    def _note(self, key: str, values: Mapping[str, object], owner: str) -> None:
        for name in self._sheet.names(values):
            self._named.setdefault(name, key)
        for field in self._sheet.unique:
            if value := comparable(field, values.get(field)):
                # A record that gets a new value releases its old one.
                self._unique.pop((field, self._has.get((key, field), "")), None)
                self._has[key, field] = value
                self._unique[field, value] = key
        if self._sheet.by_content:
            self._contents.setdefault(self._sheet.content(values, owner), key)
