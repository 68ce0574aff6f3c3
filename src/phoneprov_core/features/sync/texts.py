"""Import of a table that is sent in a request, or sync of the people in it."""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from phoneprov_core.features.sync.model import Synced, SyncOptions
from phoneprov_core.features.sync.use_cases import SyncPeople
from phoneprov_core.features.transfer.texts import (
    ImportedRow,
    ImportRequest,
    ImportResult,
    ImportText,
    SentTable,
    by_line,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of, wrong

ReadDirectory = Callable[[str | bytes], SentTable]
"""Port: the people in a CSV text or in an Excel file, as ``ReadTable``."""

_OPTIONS = {"source": "source", "missing": "missing_", "most": "most", "adopt": "adopt"}


@dataclass(frozen=True)
class ImportOrSync:
    """``ImportText``, or ``SyncPeople`` for a request that names a ``source``. Needs level 0."""

    import_text: ImportText
    sync: SyncPeople
    read: ReadDirectory

    async def __call__(self, actor: Actor, kind: str, request: ImportRequest) -> ImportResult:
        """Raises ``NotFound`` for an unknown kind, ``Invalid`` for options of a sync without a
        source or for another kind than users, and as ``SyncPeople``."""
        options = {name: getattr(request, field) for name, field in _OPTIONS.items()}
        given = {name: value for name, value in options.items() if value is not UNSET}
        if not given:
            return await self.import_text(actor, kind, request)
        if "source" not in given:
            raise wrong("source", f"is required with {next(iter(given))}")
        if kind != "users":
            raise wrong("source", "is for users only")
        if request.keep_going:
            raise wrong("keep_going", "is not for a source, whose wrong rows are always skipped")
        wanted = command_of(SyncOptions, {**given, "dry_run": request.dry_run})
        directory = self.read(request.content)
        result = result_of(await self.sync(actor, directory, wanted))
        return replace(result, unread_sheets=directory.unread)


def result_of(synced: Synced) -> ImportResult:
    """The result of a sync as that of an import."""
    rows = {
        one.line: ImportedRow(one.line, one.outcome, changes=dict(one.changes))
        for one in synced.people
    }
    for line, problems in by_line(synced.problems).items():
        if line:
            outcome = rows[line].outcome if line in rows else "failed"
            rows[line] = ImportedRow(
                line, outcome, problems, rows[line].changes if line in rows else {}
            )
    return ImportResult(
        written=synced.written,
        total=synced.total,
        created=synced.count("created"),
        updated=synced.count("updated"),
        unchanged=synced.count("unchanged"),
        failed=synced.failed,
        deactivated=synced.left,
        rows=tuple(rows[line] for line in sorted(rows)),
    )
