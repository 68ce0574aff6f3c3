"""Reads a row as a record to be created, changes to a record, or no change."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import UNSET, Struct

from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid, PhoneprovError, Problem
from phoneprov_core.kernel.field_types import Rule
from phoneprov_core.kernel.ids import known_id
from phoneprov_core.transfer.desks import DeskRowPatch, DeskTable
from phoneprov_core.transfer.index import Index
from phoneprov_core.transfer.model import Row, RowProblem
from phoneprov_core.transfer.sheets import OWNER, Sheet, scientific
from phoneprov_core.transfer.targets import TransferTransaction

_ROUNDED = (
    "is a number in scientific notation: the spreadsheet lost its digits; format the column as "
    "text and enter it again"
)
PIECE = 500
"""Maximum number of records read at a time."""


class Asked(NamedTuple):
    """The change of a row. ``key`` is None for a record to be created, ``command`` None if the
    record has the values of the row already."""

    key: str | None
    owner: str
    command: Any


class Reader:
    """Reads the rows of one table and compares them with the stored records of a transaction."""

    def __init__(self, sheet: Sheet, rules: dict[str, Rule], new: dict[str, Rule]) -> None:
        self._sheet = sheet
        self._rules = rules
        self._rules_of_new = {**rules, **new}
        self._index: Index | None = None

    async def look(self, tx: TransferTransaction, store: Any) -> None:
        """Read against the records that this transaction sees. The stored records are indexed at
        the first call."""
        self._tx = tx
        self._store = store
        if self._index is not None:
            return
        self._index = Index(self._sheet)
        last = None
        while records := await store.rows(PIECE, after=last):
            for record in records:
                self._index.learn(record, record.user_uuid if self._sheet.owned else "")
            last = records[-1]

    async def read(self, row: Row) -> Asked | list[RowProblem]:
        """The change of the row, or all its problems. A row may be read again if it was not written
        the first time."""
        try:
            return await self._asked(row)
        except PhoneprovError as error:
            return problems_of(row.line, error)

    async def _asked(self, row: Row) -> Asked:
        sheet, cells, index = self._sheet, row.cells, self._index
        assert index is not None
        if rounded := scientific(cells):
            raise Invalid(
                "The row has numbers in scientific notation.",
                problems=tuple(Problem(column, _ROUNDED) for column in rounded),
            )
        owner = await self._owner(cells.get(OWNER, "")) if sheet.owned else ""
        self._require_uuid(cells)
        key = index.named(cells)
        record = None
        if key is not None and index.is_stored(key):
            record = await self._store.find(key)
        command: Struct
        if record is None:
            if sheet.missing is not None and sheet.names(cells):
                raise _wrong(sheet.key, sheet.missing)
            command = self._checked(sheet.new, sheet.values(cells, sheet.new), self._rules_of_new)
            said = _fields_set(command)
            same = index.saying(said, owner) if sheet.by_content else None
            if same is not None and index.is_new(same, at=row.line):
                same = None
            if same is None and key is not None and index.is_brought(key, before=row.line):
                same = key
            self._claim(row, same, {**cells, **said}, owner)
            return Asked(same, owner, None if same is not None else command)
        if sheet.owned and record.user_uuid != owner:
            raise _wrong(OWNER, "must agree with the record that is addressed")
        command = self._checked(sheet.patch, sheet.values(cells, sheet.patch), self._rules)
        self._claim(row, key, {**cells, **_fields_set(command)}, owner)
        if self._changes_nothing(record, command):
            return Asked(key, owner, None)
        if isinstance(command, DeskRowPatch):
            await DeskTable(self._tx).patch_of(command)  # what it names exists
        return Asked(key, owner, command)

    def _claim(self, row: Row, key: str | None, values: dict[str, object], owner: str) -> None:
        assert self._index is not None
        if problems := self._index.claim(row.line, key, values, owner):
            raise Invalid("Conflicts with another row.", problems=tuple(problems))

    async def _owner(self, username: str) -> str:
        if not username:
            raise _wrong(OWNER, "is required")
        user = await self._tx.users.by_username(username)
        if user is None:
            raise _wrong(OWNER, "is the name of no user")
        return str(user.uuid)

    def _require_uuid(self, cells: Any) -> None:
        if "uuid" in self._sheet.identity and cells.get("uuid") and not known_id(cells["uuid"]):
            raise _wrong("uuid", "must be a UUID, or empty")

    @staticmethod
    def _checked(
        command: type[Struct], values: dict[str, object], rules: dict[str, Rule]
    ) -> Struct:
        return command_of(command, values, rules)

    def _changes_nothing(self, record: Struct, patch: Struct) -> bool:
        if any(isinstance(getattr(patch, name, None), str) for name in self._sheet.one_way):
            return False
        values = ((name, getattr(patch, name)) for name in patch.__struct_fields__)
        return all(
            value is UNSET or (value or None) == (getattr(record, name) or None)
            for name, value in values
            if name not in self._sheet.one_way
        )


def _fields_set(command: Struct) -> dict[str, object]:
    values = ((name, getattr(command, name)) for name in command.__struct_fields__)
    return {name: value for name, value in values if value is not UNSET}


def problems_of(line: int, error: PhoneprovError) -> list[RowProblem]:
    """The problems that an error means for the row at this line."""
    problems = error.problems or (Problem("", error.message),)
    return [RowProblem(line, problem.field, problem.message) for problem in problems]


def _wrong(field: str, message: str) -> Invalid:
    return Invalid(f"The field {field} {message}.", problems=(Problem(field, message),))
