"""Tables whose rows are written one after the other, in one transaction."""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from msgspec import Struct

from phoneprov_core.features.transfer.model import (
    ANOTHER_IMPORT,
    Imported,
    Progress,
    Row,
    RowOutcome,
    RowProblem,
    Seen,
    Table,
    TransferTransaction,
    problems_of,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite


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
