"""One import in steps: check every row, compute the hashes, write."""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from phoneprov_core.features.transfer.configurations import DeskTable
from phoneprov_core.features.transfer.model import (
    ANOTHER_IMPORT,
    Imported,
    Joined,
    Progress,
    Row,
    RowOutcome,
    RowProblem,
    Seen,
    Table,
    TransferTransaction,
    problems_of,
)
from phoneprov_core.features.transfer.rows import Asked, Reader
from phoneprov_core.features.transfer.sheets import DESKS, USERS, Sheet, notes_on, tidied
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import NO_RULES
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite

_HASHES_AT_A_TIME = 8


class _Stopped(Exception):
    """A row cannot be written; the transaction is rolled back."""

    def __init__(self, problems: list[RowProblem]) -> None:
        super().__init__()
        self.problems = problems


@dataclass(frozen=True)
class Import:
    """One table to be imported. It is read once for each step, so that memory does not grow with
    its length. ``use_cases`` write the rows, those of users with the ``hashes`` by line."""

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
