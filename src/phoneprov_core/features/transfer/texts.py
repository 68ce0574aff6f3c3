"""Import of a table that is sent in a request, and lists as such tables."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Protocol, get_args, get_origin

from msgspec import UNSET, Struct, UnsetType, to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from phoneprov_core.features.transfer.model import Changes, RowOutcome, RowProblem, Table
from phoneprov_core.features.transfer.sheets import SHEETS
from phoneprov_core.features.transfer.use_cases import Transfer
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import Command, invalid, record_of
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import SECRET, fields_of, schema
from phoneprov_core.kernel.ports import Listing

Kind = Literal[
    "users", "extensions", "phones", "desks", "kems", "locations", "company-directory",
    "personal-directory", "pins", "user-extensions", "profiles", "templates",
]  # fmt: skip


class SentTable(Table, Protocol):
    """A table in a request."""

    @property
    def unread(self) -> tuple[str, ...]:
        """The names of the sheets that are no part of the table, once it is read."""


ReadTable = Callable[[str | bytes], SentTable]
"""Port: the table in a CSV text, whose first line names the columns, or in the bytes of an Excel
file, whose first sheet it is. Reading it raises ``Invalid`` if a file is none of Excel, is larger
than a table is, or has cells without a value of their own."""

WriteRows = Callable[[Iterable[Sequence[Any]]], str]
"""Port: these rows as lines of CSV; None is an empty cell."""

_WAYS = ("people", "csv", "xlsx")


class WithTable(Command, frozen=True, kw_only=True):
    """A request with a table; in some requests a list of people is instead of it."""

    csv: (
        Annotated[
            str,
            SECRET,
            schema(
                "The table as CSV (RFC 4180); its first line names the columns. Required without "
                "`xlsx`",
                examples=["mac,model,location\n00:1B:D4:12:34:56,CP-7945G,Hall\n"],
            ),
        ]
        | UnsetType
    ) = UNSET
    xlsx: (
        Annotated[
            bytes,
            SECRET,
            schema(
                "The table as an Excel file (.xlsx) in base64, instead of `csv`: its first sheet, "
                "whose first row names the columns"
            ),
        ]
        | UnsetType
    ) = UNSET

    @classmethod
    def missing(cls, given: Mapping[str, object]) -> list[Problem]:
        """One of the ways to give the rows."""
        first, *others = (one for one in _WAYS if one in cls.__struct_fields__)
        if {first, *others} & set(given):
            return []
        return [Problem(first, f"is required, or {' or '.join(others)}")]

    def problems(self) -> list[Problem]:
        """More than one way to give the rows."""
        given = [one for one in _WAYS if getattr(self, one, UNSET) is not UNSET]
        return [Problem(one, f"is a second table beside {given[0]}") for one in given[1:]]

    @property
    def content(self) -> str | bytes:
        """The table. Raises ``Invalid`` without one."""
        if self.csv is not UNSET:
            return self.csv
        if self.xlsx is not UNSET:
            return self.xlsx
        raise invalid(self.missing({}))


class ImportRequest(WithTable, frozen=True, kw_only=True, rename={"missing_": "missing"}):
    """A table to import."""

    dry_run: Annotated[bool, schema("Write nothing; report the result of the import")] = False
    keep_going: Annotated[
        bool, schema("Skip wrong rows; otherwise one wrong row stops the import")
    ] = False
    source: (
        Annotated[
            str,
            schema(
                "Sync: the directory that the people of the table come from. They are matched by "
                "the column `key`, missing ones are deactivated, and wrong rows are skipped. Users "
                "only",
                examples=["entra"],
            ),
        ]
        | UnsetType
    ) = UNSET
    missing_: (
        Annotated[
            Literal["deactivate", "keep"],
            schema("Sync: what happens to people of the source that the table lacks; `deactivate`"),
        ]
        | UnsetType
    ) = UNSET
    most: (
        Annotated[
            int,
            schema(
                "Sync: percent of the people of the source that may be deactivated or renamed at "
                "once, at least 5 people; 10. Beyond, nothing is written",
                minimum=0,
                maximum=100,
            ),
        ]
        | UnsetType
    ) = UNSET
    adopt: (
        Annotated[
            bool,
            schema("Sync: accounts of no source with the same username get the key; false"),
        ]
        | UnsetType
    ) = UNSET


class ImportProblem(Struct, frozen=True):
    """A problem of a row."""

    field: Annotated[str, schema("The column; empty for the whole row")]
    message: Annotated[str, schema("Message that continues the name of the column")]


class ImportedRow(Struct, frozen=True):
    """The result of one row."""

    line: Annotated[
        int, schema("Line of the text, or row of the sheet, from 1", minimum=1, examples=[2])
    ]
    outcome: Annotated[
        Literal["created", "updated", "unchanged", "failed"],
        schema("What happened to the row, or would happen"),
    ]
    problems: Annotated[
        tuple[ImportProblem, ...], schema("Everything that is wrong with the row")
    ] = ()
    changes: Annotated[
        dict[str, Any],
        schema(
            "Old and new value of each field that the row changes in a record; `changed` for a "
            "secret",
            examples=[{"location": {"old": "Hall", "new": "Annex"}}],
        ),
    ] = {}
    notes: Annotated[
        tuple[ImportProblem, ...],
        schema("What phones do not offer of a row that is not wrong: text that is no number"),
    ] = ()


def by_line(problems: tuple[RowProblem, ...]) -> dict[int, tuple[ImportProblem, ...]]:
    """The problems of each row."""
    found: dict[int, list[ImportProblem]] = {}
    for one in problems:
        found.setdefault(one.line, []).append(ImportProblem(one.field, one.message))
    return {line: tuple(of_line) for line, of_line in found.items()}


class ImportResult(Struct, frozen=True):
    """The result of an import: numbers of rows, and each row in the order of the table."""

    written: Annotated[bool, schema("Whether anything was written")]
    total: Annotated[int, schema("Number of rows", minimum=0)]
    created: Annotated[int, schema("Number of records created", minimum=0)]
    updated: Annotated[int, schema("Number of records changed", minimum=0)]
    unchanged: Annotated[int, schema("Number of rows without a change", minimum=0)]
    failed: Annotated[int, schema("Number of wrong rows", minimum=0)]
    rows: Annotated[tuple[ImportedRow, ...], schema("The rows in the order of the table")]
    deactivated: Annotated[
        tuple[str, ...],
        schema(
            "Sync: usernames of the people that the table lacks, now inactive", examples=[["bob"]]
        ),
    ] = ()
    unread_sheets: Annotated[
        tuple[str, ...],
        schema("Names of the sheets of an Excel file that were not read: only the first one is"),
    ] = ()


@dataclass(frozen=True)
class ImportText:
    """``Transfer.into`` for a table in a request. Needs level 0."""

    transfer: Transfer
    read: ReadTable

    async def __call__(self, actor: Actor, kind: str, request: ImportRequest) -> ImportResult:
        """Raises ``NotFound`` for an unknown kind, and as ``ReadTable``."""
        require_superadmin(actor)
        rows: dict[int, ImportedRow] = {}
        table = self.read(request.content)

        def seen(line: int, outcome: RowOutcome, changes: Changes) -> None:
            rows[line] = ImportedRow(line, outcome, changes=dict(changes))

        imported = await self.transfer.into(
            actor,
            kind,
            table,
            dry_run=request.dry_run,
            keep_going=request.keep_going,
            seen=seen,
        )
        problems = by_line(imported.problems)
        for line, found in problems.items():
            rows[line] = ImportedRow(line, "failed", found)
        for line, notes in by_line(imported.notes).items():
            rows[line] = replace(rows[line], notes=notes)
        in_order = tuple(rows[line] for line in sorted(rows))
        return record_of(
            ImportResult, imported, failed=len(problems), rows=in_order, unread_sheets=table.unread
        )


class _Column(Struct, frozen=True):
    """A column of a list: its name, and the fields that lead to its value."""

    name: str
    path: tuple[str, ...]

    def value(self, record: Any) -> Any:
        for field in self.path:
            record = getattr(record, field)
        plain = None if record is UNSET else to_builtins(record)  # a field that is not shown
        return encode(plain).decode() if isinstance(plain, dict | list) else plain


@cache
def _columns(kind: type[Struct]) -> tuple[_Column, ...]:
    sheet = next((one for one in SHEETS.values() if issubclass(kind, one.record)), None)
    read = None if sheet is None else {*sheet.columns, *sheet.ignored}

    def columns() -> Iterator[_Column]:
        for field in fields_of(kind):
            plain = field.type
            while get_origin(plain) is Annotated:
                plain = get_args(plain)[0]
            if field.is_secret:
                continue
            if isinstance(plain, type) and issubclass(plain, Struct):
                for inner in fields_of(plain):
                    if not inner.is_secret:
                        name = f"({field.name}.{inner.name})"
                        yield _Column(name, (field.name, inner.name))
            else:
                is_read = read is None or field.name in read
                yield _Column(field.name if is_read else f"({field.name})", (field.name,))

    return tuple(columns())


@dataclass(frozen=True)
class ListAsTable:
    """A list as a table, piece by piece: the fields of its records without secrets. If an import
    reads this kind, it reads the table unchanged; columns that it would not read are named in
    parentheses. The list is one that its use case has made for the caller."""

    write: WriteRows

    async def __call__(self, kind: type[Struct], listing: Listing[Any]) -> AsyncIterator[str]:
        columns = _columns(kind)
        yield self.write([[one.name for one in columns]])
        async for piece in listing:
            yield self.write([one.value(record) for one in columns] for record in piece)
