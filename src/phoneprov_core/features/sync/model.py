"""Keys and free names of a directory's people, the options of a sync, its result, its ports, and
the sync of a table that is sent in a request."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from msgspec import UNSET, Struct
from msgspec.structs import replace

from phoneprov_core.features.transfer.model import (
    Row,
    RowOutcome,
    RowProblem,
    Table,
    TransferTransaction,
)
from phoneprov_core.features.transfer.texts import (
    ImportedRow,
    ImportRequest,
    ImportResult,
    ImportText,
    SentTable,
    by_line,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Command, command_of, wrong
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import Check, schema, within

USER = "user"
CONTACT = "contact"


class DirectoryKey(Struct, frozen=True):
    """The record that belongs to the person with this key in a directory. ``kind`` is that of the
    record, ``USER`` or ``CONTACT``."""

    source: str
    key: str
    kind: str
    record_uuid: str


class DirectoryKeyStore(Protocol):
    """Keys of directories. The record of a key may be deleted; the key stays."""

    async def all(self) -> list[DirectoryKey]:
        """The keys of every source."""

    async def put(self, key: DirectoryKey) -> None:
        """Keep the key, in place of one of the same source, key and kind. Raises ``Conflict`` (code
        ``already_exists``) if the record has another key: here, with the next call, with ``flush``
        or at the end of the transaction."""

    async def remove(self, key: DirectoryKey) -> None:
        """Remove the key, if it is there."""

    async def finished(self, source: str, at: int) -> None:
        """Keep the moment when a sync of the source was written, in milliseconds since 1970."""


class SyncTransaction(TransferTransaction, Protocol):
    """Stores that a sync reads and writes."""

    @property
    def directory_keys(self) -> DirectoryKeyStore: ...


class Directory(Table, Protocol):
    """The people of a directory. Cells are by the name of their attribute in lower case, with
    underscores for blanks. An attribute without a value may be missing."""

    async def columns(self) -> tuple[str, ...]:
        """The names of the columns; empty where entries name their attributes themselves."""

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The people from the first, in pieces; a problem for one that cannot be read. Raises
        ``SyncRefused`` if the input ends amid an entry or says that it is not complete."""


Missing = Literal["deactivate", "keep"]

_SOURCE = "^[a-z0-9][a-z0-9._-]{0,31}$"


def source_name(text: str) -> str:
    """The name of a directory. Raises ``ValueError``."""
    if not re.fullmatch(_SOURCE, text):
        raise ValueError("must be 1 to 32 of a-z, 0-9, '.', '_' and '-'")
    return text


SourceName = Annotated[
    str,
    Check(source_name),
    schema(
        "Name of the directory; accounts are matched by its keys", pattern=_SOURCE, examples=["ad"]
    ),
]
Most = Annotated[
    int,
    within(
        0,
        100,
        "Percent of the people of the source that may be deactivated or renamed at once, at least "
        "5 people; beyond, nothing is written",
    ),
]


class SyncOptions(Command, frozen=True, kw_only=True, rename={"missing_": "missing"}):
    """How a directory is taken over. ``attributes`` names the attribute of a field, instead of the
    usual ones."""

    source: SourceName
    attributes: Mapping[str, str] = {}
    missing_: Missing = "deactivate"
    most: Most = 10
    adopt: bool = False
    contacts: bool = False
    dry_run: bool = False


class SyncedPerson(Struct, frozen=True):
    """What a sync changes for the person at a line; ``username`` is the account's before it."""

    line: int
    username: str
    outcome: RowOutcome
    changes: Mapping[str, Any] = {}


class Synced(Struct, frozen=True):
    """The result of a sync; what it would change if ``written`` is False. ``left`` are the
    usernames of the people that are missing and get deactivated, ``kept`` is the number of missing
    people that stay active, ``contacts`` of contacts that are created or changed. A problem of a
    missing person has the line 0."""

    written: bool
    total: int
    people: tuple[SyncedPerson, ...] = ()
    left: tuple[str, ...] = ()
    kept: int = 0
    contacts: int = 0
    problems: tuple[RowProblem, ...] = ()

    def count(self, outcome: RowOutcome) -> int:
        """The number of people with this outcome."""
        return sum(one.outcome == outcome for one in self.people)

    @property
    def failed(self) -> int:
        """The number of entries that were left out."""
        return len({one.line for one in self.problems if one.line})


class SyncRefused(Conflict):
    """The input of a sync is empty or not complete, or changes more people than allowed."""

    code = "sync_refused"
    usual = (
        "Nothing was written: 212 of 1500 people of ad would be deactivated (210) or renamed (2), "
        "more than 150."
    )


Names = Mapping[str, Iterable[str]]
"""The values of each field that no two accounts share, in the form in which they are compared."""


def settled(
    held: Mapping[str, Names], wanted: Mapping[str, Names], clash: Callable[[str, str, str], None]
) -> dict[str, Names]:
    """The accounts of ``wanted`` that can have their names, as if all changed at one moment: a
    name that its holder gives up in the same run is free. ``clash`` is called with each other
    account, the field, and the holder of the name. A name that an account keeps is never lost."""
    left, own = dict(wanted), {uuid: _pairs(names) for uuid, names in held.items()}
    while True:
        taken = {pair: uuid for uuid, pairs in own.items() if uuid not in left for pair in pairs}
        for uuid, names in left.items():
            kept = [pair for pair in _pairs(names) if pair in own.get(uuid, ())]
            taken |= {pair: uuid for pair in kept if pair not in taken}
        lost = []
        for uuid, names in left.items():
            new = [pair for pair in _pairs(names) if pair not in own.get(uuid, ())]
            holder = next(((p[0], taken[p]) for p in new if p in taken), None)
            if holder is None:
                taken |= dict.fromkeys(new, uuid)
            else:
                clash(uuid, *holder)
                lost.append(uuid)
        if not lost:
            return left
        for uuid in lost:
            del left[uuid]


def _pairs(names: Names) -> list[tuple[str, str]]:
    return [(name, value) for name, values in names.items() for value in values]


SyncTable = Callable[[Actor, SentTable, SyncOptions], Awaitable[Synced]]
"""``SyncPeople``."""

ReadDirectory = Callable[[str | bytes], SentTable]
"""Port: the people in a CSV text or in an Excel file, as ``ReadTable``."""

_OPTIONS = {"source": "source", "missing": "missing_", "most": "most", "adopt": "adopt"}


@dataclass(frozen=True)
class ImportOrSync:
    """``ImportText``, or ``SyncPeople`` for a request that names a ``source``. Needs level 0."""

    import_text: ImportText
    sync: SyncTable
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
