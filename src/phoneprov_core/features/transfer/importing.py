"""One import in steps: check every row, compute the hashes, write. A row is read as a record to be
created, changes to a record, or no change."""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import UNSET, Struct, to_builtins

from phoneprov_core.features.transfer.configurations import DeskRowPatch, DeskTable
from phoneprov_core.features.transfer.model import (
    ANOTHER_IMPORT,
    OWNER,
    Changes,
    Imported,
    Joined,
    Progress,
    Row,
    RowOutcome,
    RowProblem,
    Seen,
    Table,
    TransferTransaction,
    named_user,
    problems_of,
)
from phoneprov_core.features.transfer.sheets import (
    DESKS,
    USERS,
    Index,
    Sheet,
    notes_on,
    spoiled,
    tidied,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import NO_RULES, Rules, command_of, invalid, wrong
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.kernel.values import known_id
from phoneprov_core.people.audit import CHANGED

PIECE = 500
"""Maximum number of records read at a time."""


class Asked(NamedTuple):
    """The change of a row. ``key`` is None for a record to be created, ``command`` None if the
    record has the values of the row already; ``changes`` are the changes of a stored record."""

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


_HASHES_AT_A_TIME = 8


class _Stopped(Exception):
    """A row cannot be written; the transaction is rolled back."""

    def __init__(self, problems: list[RowProblem]) -> None:
        super().__init__()
        self.problems = problems


@dataclass(frozen=True)
class Import:
    """One table to be imported. It is read once for each step, so that memory does not grow with
    its length. ``use_cases`` write the rows, of users with the ``hashes`` by line."""

    database: ReadAndWrite[TransferTransaction]
    use_cases: Any
    actor: Actor
    sheet: Sheet
    table: Table
    progress: Progress
    seen: Seen
    hashes: dict[int, str] = field(default_factory=dict)

    async def check(self) -> Imported:
        """The changes of an import, and all problems."""
        reader = self._reader()
        counts: Counter[str] = Counter()
        problems: list[RowProblem] = []
        notes: list[RowProblem] = []
        total = 0
        async with self.database.read() as tx:
            await reader.look(tx)
            async for piece in self.table.pieces():
                for row in piece:
                    total += 1
                    if isinstance(row, RowProblem):
                        problems.append(row)
                        continue
                    asked = await reader.read(row)
                    if isinstance(asked, list):
                        problems += asked
                        continue
                    counts[_outcome(asked)] += 1
                    self.seen(row.line, _outcome(asked), asked.changes)
                    found = (*row.notes, *notes_on(self.sheet, tidied(row.cells)))
                    notes += [RowProblem(row.line, note.field, note.message) for note in found]
                self.progress("checked", total, None)
        return Imported(
            total, **counts, problems=tuple(problems), written=False, notes=tuple(notes)
        )

    async def hash(self, checked: Imported) -> None:
        """Compute the hashes of the passwords in valid rows, by line. They take long, and are
        computed before a transaction begins."""
        hasher = self.use_cases.hasher
        done = 0
        async for rows in self._good(checked):
            done += len(rows)
            asked = [(row.line, row.cells["password"]) for row in rows if row.cells.get("password")]
            for start in range(0, len(asked), _HASHES_AT_A_TIME):
                some = asked[start : start + _HASHES_AT_A_TIME]
                made = await asyncio.gather(*(hasher.hash(pw) for _, pw in some))
                self.hashes.update(zip((line for line, _ in some), made, strict=True))
                so_far = done - len(rows) + len(rows) * (start + len(some)) // len(asked)
                self.progress("hashed", so_far, checked.total)

    async def write(self, checked: Imported, *, keep_going: bool) -> Imported:
        """Write the valid rows: all in one transaction, or what is possible (``keep_going``)."""
        reader = self._reader()
        counts: Counter[str] = Counter()
        problems = list(checked.problems)
        done = 0
        if keep_going:
            async for rows in self._good(checked):
                await self._write_possible(reader, rows, counts, problems)
                done += len(rows)
                self.progress("written", done, checked.total)
            return _imported(checked, counts, problems)
        try:
            async with self.database.write(by=self.actor) as tx:
                async for rows in self._good(checked):
                    counts += await self._written(reader, tx, rows)
                    self.progress("written", counts.total(), checked.total)
        except _Stopped as stopped:
            # Another transaction changed the records since the check.
            return Imported(checked.total, problems=tuple(stopped.problems))
        return _imported(checked, counts, problems)

    async def _write_possible(
        self, reader: Reader, rows: list[Row], counts: Counter[str], problems: list[RowProblem]
    ) -> None:
        try:
            async with self.database.write(by=self.actor) as tx:
                written = await self._written(reader, tx, rows)
        except _Stopped as stopped:
            if len(rows) == 1:
                problems += stopped.problems
                return
            for row in rows:
                await self._write_possible(reader, [row], counts, problems)
        else:
            counts += written

    async def _written(
        self, reader: Reader, tx: TransferTransaction, rows: list[Row]
    ) -> Counter[str]:
        """Raises ``_Stopped``, and ``Unavailable`` if the database cannot be used."""
        if rows and not await tx.claim_import(self.sheet.name):
            # Rows of both without a name would be created twice.
            raise _Stopped([RowProblem(rows[0].line, "", ANOTHER_IMPORT)])
        await reader.look(tx)
        if self.sheet is DESKS:
            use_cases: Any = DeskTable(tx)
        else:
            use_cases = dataclasses.replace(self.use_cases, database=Joined(tx))
        counts: Counter[str] = Counter()
        for row in rows:
            asked = await reader.read(row)
            if isinstance(asked, list):
                raise _Stopped(asked)
            try:
                await self._write(use_cases, asked, row.line)
                await tx.flush()  # a deferred conflict belongs to this row
            except Unavailable:
                raise
            except PhoneprovError as error:
                raise _Stopped(problems_of(row.line, error)) from error
            counts[_outcome(asked)] += 1
            self.seen(row.line, _outcome(asked), asked.changes)
        return counts

    async def _write(self, use_cases: Any, asked: Asked, line: int) -> None:
        hashed = {"hash_": self.hashes.get(line)} if self.sheet is USERS else {}
        if asked.command is None:
            return
        if asked.key is not None:
            await use_cases.update(self.actor, asked.key, asked.command, **hashed)
        elif self.sheet.owned:
            await use_cases.create(self.actor, asked.owner, asked.command)
        else:
            await use_cases.create(self.actor, asked.command, **hashed)

    async def _good(self, checked: Imported) -> AsyncIterator[list[Row]]:
        bad = {problem.line for problem in checked.problems}
        async for piece in self.table.pieces():
            yield [row for row in piece if isinstance(row, Row) and row.line not in bad]

    def _reader(self) -> Reader:
        if self.sheet is USERS:
            policy = self.use_cases.policy
            return Reader(self.sheet, policy.rules, policy.rules_of_new)
        return Reader(self.sheet, NO_RULES, NO_RULES)


def _outcome(asked: Asked) -> RowOutcome:
    if asked.command is None:
        return "unchanged"
    return "created" if asked.key is None else "updated"


def _imported(checked: Imported, counts: Counter[str], problems: list[RowProblem]) -> Imported:
    """The result of rows that were written."""
    in_order = tuple(sorted(problems, key=lambda problem: problem.line))
    bad = {problem.line for problem in problems}
    notes = tuple(note for note in checked.notes if note.line not in bad)
    return Imported(checked.total, **counts, problems=in_order, written=True, notes=notes)
