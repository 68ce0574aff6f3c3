"""One import in steps: check every row, compute the hashes, write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.transfer.model import (
    Imported,
    Progress,
    Row,
    RowOutcome,
    RowProblem,
    Seen,
    Table,
)
from phoneprov_core.transfer.rows import Asked, Reader, problems_of
from phoneprov_core.transfer.sheets import Sheet
from phoneprov_core.transfer.targets import (
    Target,
    Tools,
    TransferTransaction,
    rules_of,
    rules_of_new,
    target_of,
)

_HASHES_AT_A_TIME = 8
_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Import:
    """One table to be imported. It is read once for each step, so that memory does not grow with
    its length."""

    database: ReadAndWrite[TransferTransaction]
    tools: Tools
    actor: Actor
    sheet: Sheet
    table: Table
    progress: Progress
    seen: Seen

    async def check(self) -> Imported:
        """The changes of an import, and all problems."""
        reader = self._reader()
        count = _Count()
        async with self.database.read() as tx:
            await reader.look(tx, self._target(tx).store)
            async for piece in self.table.pieces():
                for row in piece:
                    await self._check(reader, row, count)
                self.progress("checked", count.total, None)
        return count.imported(written=False)

    async def hashes(self, checked: Imported) -> dict[int, str]:
        """The hashes of the passwords in valid rows, by line. They take long, and are computed
        before a transaction begins."""
        hashes: dict[int, str] = {}
        bad = frozenset(problem.line for problem in checked.problems)
        done = 0
        async for rows in self._good(bad):
            done += len(rows)
            asked = [(row.line, row.cells["password"]) for row in rows if row.cells.get("password")]
            for start in range(0, len(asked), _HASHES_AT_A_TIME):
                some = asked[start : start + _HASHES_AT_A_TIME]
                made = await asyncio.gather(*(self.tools.hasher.hash(pw) for _, pw in some))
                hashes.update(zip((line for line, _ in some), made, strict=True))
                so_far = done - len(rows) + len(rows) * (start + len(some)) // len(asked)
                self.progress("hashed", so_far, checked.total)
        return hashes

    async def write(
        self, checked: Imported, hashes: Mapping[int, str], *, keep_going: bool
    ) -> Imported:
        """Write the valid rows: all in one transaction, or with ``keep_going`` as many as
        possible."""
        writer = _Writer(self._reader(), hashes)
        bad = frozenset(problem.line for problem in checked.problems)
        count = _Count(list(checked.problems))
        if not keep_going:
            try:
                async with self.database.write(by=self.actor) as tx:
                    await self._write_all(writer, tx, count, checked.total)
            except _Stopped as stopped:
                # Another transaction changed the records since the check.
                return _Count(stopped.problems, checked.total).imported(written=False)
            return count.imported(written=True)
        async for rows in self._good(bad):
            await self._write_some(writer, rows, count)
            self.progress("written", count.total, checked.total)
        # Rows that were invalid at the check are not counted again.
        count.total = checked.total
        return count.imported(written=True)

    async def _write_all(
        self, writer: _Writer, tx: TransferTransaction, count: _Count, total: int
    ) -> None:
        target = self._target(tx)
        async for rows in self._good(_NONE):
            await writer.write(tx, target, rows, count)
            self.progress("written", count.total, total)

    async def _write_some(self, writer: _Writer, rows: list[Row], count: _Count) -> None:
        attempt = _Count()
        try:
            async with self.database.write(by=self.actor) as tx:
                await writer.write(tx, self._target(tx), rows, attempt)
        except _Stopped as stopped:
            if len(rows) == 1:
                count.problems += stopped.problems
                count.total += 1
                return
            for row in rows:
                await self._write_some(writer, [row], count)
            return
        count.add(attempt)

    async def _check(self, reader: Reader, row: Row | RowProblem, count: _Count) -> None:
        if isinstance(row, RowProblem):
            count.total += 1
            count.problems.append(row)
            return
        asked = await reader.read(row)
        count.note(asked)
        if not isinstance(asked, list):
            self.seen(row.line, _outcome(asked))

    async def _good(self, bad: frozenset[int]) -> AsyncIterator[list[Row]]:
        async for piece in self.table.pieces():
            yield [row for row in piece if isinstance(row, Row) and row.line not in bad]

    def _reader(self) -> Reader:
        rules = rules_of(self.sheet, self.tools.policy)
        return Reader(self.sheet, rules, rules_of_new(self.sheet))

    def _target(self, tx: TransferTransaction) -> Target:
        return target_of(self.sheet, tx, self.actor, self.tools)


def _outcome(asked: Asked) -> RowOutcome:
    if asked.command is None:
        return "unchanged"
    return "created" if asked.key is None else "updated"


class _Stopped(Exception):
    """A row cannot be written; the transaction is rolled back."""

    def __init__(self, problems: list[RowProblem]) -> None:
        super().__init__()
        self.problems = problems


@dataclass(frozen=True)
class _Writer:
    reader: Reader
    hashes: Mapping[int, str]

    async def write(
        self, tx: TransferTransaction, target: Target, rows: list[Row], count: _Count
    ) -> None:
        """Raises ``_Stopped``, and ``Unavailable`` if the database cannot be used."""
        await self.reader.look(tx, target.store)
        for row in rows:
            asked = await self.reader.read(row)
            if isinstance(asked, list):
                raise _Stopped(asked)
            target.hasher.next_hash = self.hashes.get(row.line)
            try:
                await _write(asked, target)
                await tx.flush()  # a deferred conflict belongs to this row
            except Unavailable:
                raise
            except PhoneprovError as error:
                raise _Stopped(problems_of(row.line, error)) from error
            count.note(asked)


async def _write(asked: Asked, target: Target) -> None:
    if asked.command is None:
        return
    if asked.key is None:
        await target.create(asked.owner, asked.command)
    else:
        await target.update(asked.key, asked.command)


class _Count:
    def __init__(self, problems: list[RowProblem] | None = None, total: int = 0) -> None:
        self.total = total
        self.created = self.updated = self.unchanged = 0
        self.problems = problems or []

    def note(self, asked: Asked | list[RowProblem]) -> None:
        self.total += 1
        if isinstance(asked, list):
            self.problems += asked
        else:
            name = _outcome(asked)
            setattr(self, name, getattr(self, name) + 1)

    def add(self, other: _Count) -> None:
        self.total += other.total
        self.created += other.created
        self.updated += other.updated
        self.unchanged += other.unchanged

    def imported(self, *, written: bool) -> Imported:
        return Imported(
            self.total,
            self.created,
            self.updated,
            self.unchanged,
            tuple(sorted(self.problems, key=lambda problem: problem.line)),
            written=written,
        )
