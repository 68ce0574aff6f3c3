"""Reads a row as a record to be created, changes to a record, or no change."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import UNSET, Struct, to_builtins

from phoneprov_core.features.transfer.configurations import DeskRowPatch, DeskTable
from phoneprov_core.features.transfer.model import (
    OWNER,
    Changes,
    Row,
    RowProblem,
    TransferTransaction,
    named_user,
    problems_of,
)
from phoneprov_core.features.transfer.sheets import Sheet, comparable, spoiled, tidied
from phoneprov_core.kernel.commands import Rules, command_of, invalid, wrong
from phoneprov_core.kernel.errors import PhoneprovError, Problem
from phoneprov_core.kernel.values import known_id
from phoneprov_core.people.audit import CHANGED

PIECE = 500
"""Maximum number of records read at a time."""

_NEW = "line "


class Asked(NamedTuple):
    """The change of a row. ``key`` is None for a record to be created, ``command`` None if the
    record has the values of the row already; ``changes`` are those of a stored record."""

    key: str | None
    owner: str
    command: Any
    changes: Changes = {}


class Reader:
    """Reads the rows of one table and compares them with the stored records of a transaction."""

    def __init__(self, sheet: Sheet, rules: Rules, rules_of_new: Rules) -> None:
        self._sheet = sheet
        self._rules = rules
        self._rules_of_new = rules_of_new
        self._index: Index | None = None

    async def look(self, tx: TransferTransaction) -> None:
        """Read against the records that this transaction sees. The first call indexes them."""
        self._tx = tx
        self._store = store = self._sheet.store(tx)
        if self._index is not None:
            return
        self._index = Index(self._sheet)
        last = None
        while records := await store.rows(PIECE, after=last):
            for record in records:
                self._index.learn(record, record.user_uuid if self._sheet.owned else "")
            last = records[-1]

    async def read(self, row: Row) -> Asked | list[RowProblem]:
        """The change of the row, or all its problems. One not written may be read again."""
        try:
            return await self._asked(row)
        except PhoneprovError as error:
            return problems_of(row.line, error)

    async def _asked(self, row: Row) -> Asked:
        sheet, cells, index = self._sheet, tidied(row.cells), self._index
        assert index is not None
        if problems := spoiled(cells):
            raise invalid(problems)
        owner = ""
        if sheet.owned:
            owner = await named_user(self._tx.users, cells.get(OWNER, ""))
        if "uuid" in sheet.identity and cells.get("uuid") and not known_id(cells["uuid"]):
            raise wrong("uuid", "must be a UUID, or empty")
        key = index.named(cells)
        record = None
        if key is not None and index.is_stored(key):
            record = await self._store.find(key)
        if record is None:
            if sheet.missing is not None and sheet.names(cells):
                raise wrong(sheet.key, sheet.missing)
            command = command_of(sheet.new, sheet.values(cells, sheet.new), self._rules_of_new)
            said = _fields_set(command)
            same = index.saying(said, owner) if sheet.by_content else None
            if same is not None and index.is_new(same, at=row.line):
                same = None
            if same is None and key is not None and index.is_brought(key, before=row.line):
                same = key
            if same is not None and index.is_stored(same):
                key, record = same, await self._store.find(same)
            if record is None:
                index.claim(row.line, same, {**cells, **said}, owner)
                return Asked(same, owner, None if same is not None else command)
        if sheet.owned and record.user_uuid != owner:
            raise wrong(OWNER, "must agree with the record that is addressed")
        command = command_of(sheet.patch, sheet.values(cells, sheet.patch), self._rules)
        index.claim(row.line, key, {**cells, **_fields_set(command)}, owner)
        changes = self._changes(record, command)
        if not changes:
            return Asked(key, owner, None)
        if isinstance(command, DeskRowPatch):
            await DeskTable(self._tx).patch_of(command)  # what it names exists
        return Asked(key, owner, command, changes)

    def _changes(self, record: Struct, patch: Struct) -> Changes:
        changes: dict[str, Any] = {}
        for name in patch.__struct_fields__:
            new = getattr(patch, name)
            if name in self._sheet.one_way:
                if isinstance(new, str):
                    changes[name] = CHANGED
            elif new is not UNSET and (new or None) != (old := getattr(record, name) or None):
                secret = name in self._sheet.secret
                changes[name] = CHANGED if secret else to_builtins({"old": old, "new": new})
        return changes


def _fields_set(command: Struct) -> dict[str, object]:
    values = ((name, getattr(command, name)) for name in command.__struct_fields__)
    return {name: value for name, value in values if value is not UNSET}


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
