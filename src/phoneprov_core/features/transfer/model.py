"""Rows of an imported table, their results, the transaction that they are written in, and tables
whose rows are written one after the other in one transaction."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from msgspec import Struct

from phoneprov_core.features.desks.model import DeskStore, DesksTransaction
from phoneprov_core.features.desks.records import DeskUses
from phoneprov_core.features.lines.model import LineStore
from phoneprov_core.features.templates.use_cases import TemplatesTransaction
from phoneprov_core.inventory.extensions import (
    ExtensionStore,
    ExtensionsTransaction,
)
from phoneprov_core.inventory.locations import (
    LocationsTransaction,
)
from phoneprov_core.inventory.phones.use_cases import PhoneStore, PhonesTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import wrong
from phoneprov_core.kernel.errors import PhoneprovError, Problem, Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.people.auth.model import LoginAttemptStore
from phoneprov_core.people.directory.use_cases import (
    CompanyDirectoryTransaction,
    PersonalDirectoryTransaction,
)
from phoneprov_core.people.users.use_cases import UserStore, UsersTransaction
from phoneprov_core.switching.deployments.ports import LeaseStore

OWNER = "username"
"""The column that names the owner of a personal record."""


def is_note(column: str) -> bool:
    """Whether a column is for readers only, such as the columns that the console adds to an export:
    its name is in parentheses. An import ignores it."""
    return column.startswith("(") and column.endswith(")")


class Note(Struct, frozen=True):
    """What an import leaves out of a row: the field (empty for the row), and what continues its
    name."""

    field: str
    message: str


class Row(Struct, frozen=True):
    """One row: its first line in the file (counted from 1), and the text of its cells by column. A
    missing column keeps the value, an empty cell clears it. ``notes`` are what the cells leave
    out."""

    line: int
    cells: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        # Some cells contain passwords.
        return f"Row(line={self.line}, columns={tuple(self.cells)})"


class RowProblem(Struct, frozen=True):
    """A problem of a row: line, field (empty for all of it), and what continues its name."""

    line: int
    field: str
    message: str


ANOTHER_IMPORT = (
    "The row was not written: another import of this table is running. Try again when it has ended."
)
"""The problem of the first row when ``claim_import`` fails."""


def problems_of(line: int, error: PhoneprovError) -> list[RowProblem]:
    """The problems that an error means for the row at this line."""
    problems = error.problems or (Problem("", error.message),)
    return [RowProblem(line, problem.field, problem.message) for problem in problems]


class Table(Protocol):
    """A table that can be read more than once: it is checked before it is written."""

    async def columns(self) -> tuple[str, ...]:
        """The names of the columns in the file; empty for an empty file."""

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows from the first, in pieces; a problem for a row that cannot be read."""


class Imported(Struct, frozen=True):
    """The result of an import; what it would change if ``written`` is False. ``problems`` belong to
    rows that were left out; ``total`` counts every row. ``notes`` belong to rows without a problem:
    numbers of a contact that are not kept, or that no phone can dial."""

    total: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    problems: tuple[RowProblem, ...] = ()
    written: bool = False
    notes: tuple[RowProblem, ...] = ()


RowOutcome = Literal["created", "updated", "unchanged"]

Changes = Mapping[str, Any]
"""The old and the new value of each changed field; of a secret only that it is changed."""

Seen = Callable[[int, RowOutcome, Changes], None]
"""Called with the line of each row that is not wrong, what importing it means, and the changes of a
record: when it is checked, and again when it is written, since the record may have changed."""


def unseen(line: int, outcome: RowOutcome, changes: Changes) -> None:
    """A ``Seen`` for callers that need the totals only."""


Progress = Callable[[str, int, int | None], None]
"""Receives the progress of an import: its step ("checked", "hashed", "written"), the number of rows
done, and the total, None if it is not known yet."""


def unwatched(what: str, done: int, total: int | None) -> None:
    """Ignores the progress."""


class TransferTransaction(
    UsersTransaction, ExtensionsTransaction, PhonesTransaction, LocationsTransaction,
    CompanyDirectoryTransaction, PersonalDirectoryTransaction, DesksTransaction,
    TemplatesTransaction, Protocol,
):  # fmt: skip
    """Stores that imports and exports use."""

    @property
    def users(self) -> Any: ...
    @property
    def extensions(self) -> ExtensionStore: ...
    @property
    def phones(self) -> PhoneStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def lines(self) -> LineStore: ...
    @property
    def desk_uses(self) -> DeskUses: ...
    @property
    def leases(self) -> LeaseStore: ...
    @property
    def attempts(self) -> LoginAttemptStore: ...

    async def flush(self) -> None:
        """Execute deferred changes; raises their errors."""

    async def claim_import(self, kind: str) -> bool:
        """Whether no other open transaction imports this kind of table."""


@dataclass(frozen=True)
class Joined:
    """Lets use cases take part in an open transaction, which their changes belong to."""

    tx: TransferTransaction

    def read(self) -> AbstractAsyncContextManager[TransferTransaction]:
        """The stores of the transaction."""
        return self._join()

    def write(self, *, by: Actor) -> AbstractAsyncContextManager[TransferTransaction]:  # noqa: ARG002
        """The stores of the transaction, which has its actor."""
        return self._join()

    @asynccontextmanager
    async def _join(self) -> AsyncIterator[TransferTransaction]:
        yield self.tx


async def named_user(users: UserStore, username: str, column: str = OWNER) -> str:
    """The uuid of the user that a cell of ``column`` names. Raises ``Invalid``."""
    if not username:
        raise wrong(column, "is required")
    user = await users.by_username(username)
    if user is None:
        raise wrong(column, "is the name of no user")
    return user.uuid


class WholeTable(Struct, frozen=True):
    """One kind of table: its columns, the required columns, and the prefix of the names of further
    columns, if allowed."""

    columns: tuple[str, ...]
    needed: tuple[str, ...]
    further: str | None = None


Write = Callable[[Row], Awaitable[RowOutcome]]
"""Writes a row. Raises ``PhoneprovError``."""


class _Undone(Exception):
    """Leaves the transaction without writing."""


async def import_whole(
    database: ReadAndWrite[TransferTransaction],
    writing: Callable[[TransferTransaction], Write],
    actor: Actor,
    kind: str,
    table: Table,
    progress: Progress,
    seen: Seen,
    *,
    dry_run: bool,
    keep_going: bool,
) -> Imported:
    """Import the rows of one table in one transaction. Writes all rows, or none if a row is wrong,
    unless ``keep_going``; with ``dry_run`` none. Raises ``Unavailable``."""
    counts: Counter[str] = Counter()
    problems: list[RowProblem] = []
    written = False
    with suppress(_Undone):
        async with database.write(by=actor) as tx:
            if not await tx.claim_import(kind):
                problems.append(RowProblem(1, "", ANOTHER_IMPORT))
                raise _Undone
            write = writing(tx)
            async for piece in table.pieces():
                for row in piece:
                    if isinstance(row, RowProblem):
                        problems.append(row)
                        continue
                    try:
                        outcome = await write(row)
                    except Unavailable:
                        raise
                    except PhoneprovError as error:
                        problems += problems_of(row.line, error)
                    else:
                        counts[outcome] += 1
                        seen(row.line, outcome, {})
                progress("written", counts.total() + len(problems), None)
            if dry_run or (problems and not keep_going):
                raise _Undone
            written = True
    bad = len({problem.line for problem in problems})
    return Imported(
        counts.total() + bad, **counts, problems=tuple(problems), written=written, notes=()
    )


def truth(cell: str) -> bool | str:
    """The value of a switch such as ``is_active``; the cell itself if it is none."""
    return _TRUTHS.get(cell.strip().casefold(), cell)


# Spreadsheets write true and false in the language of their user.
_TRUTHS = {
    word: is_true
    for is_true, words in (
        (True, "true yes 1 wahr ja vrai oui verdadero s\u00ed vero s\u00ec waar"),
        (False, "false no 0 falsch nein faux non falso onwaar nee"),
    )
    for word in words.split()
}
