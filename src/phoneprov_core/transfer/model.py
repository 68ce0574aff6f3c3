"""Rows of an imported table, and their results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct


class Row(Struct, frozen=True):
    """One row: its first line in the file (counted from 1), and the text of its cells by column. A
    missing column keeps the value, an empty cell clears it."""

    line: int
    cells: Mapping[str, str]

    def __repr__(self) -> str:
        # Some cells contain passwords.
        return f"Row(line={self.line}, columns={tuple(self.cells)})"


class RowProblem(Struct, frozen=True):
    """A problem of one row: its line, the field (empty for the whole row), and a message that
    continues the field's name."""

    line: int
    field: str
    message: str


class Table(Protocol):
    """A table that can be read more than once: it is checked before it is written."""

    async def columns(self) -> tuple[str, ...]:
        """The names of the columns in the file; empty for an empty file."""
        ...

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows from the first, in pieces; a problem for a row that cannot be read."""
        ...


class Imported(Struct, frozen=True):
    """The result of an import; what it would change if ``written`` is False.

    ``problems`` are those of the rows that were left out; ``total`` counts every row.

    """

    total: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    problems: tuple[RowProblem, ...] = ()
    written: bool = False


RowOutcome = Literal["created", "updated", "unchanged"]

Seen = Callable[[int, RowOutcome], None]
"""Called with the line of each row that is not wrong and what importing it means, when the row is
checked."""


def unseen(line: int, outcome: RowOutcome) -> None:
    """A ``Seen`` for callers that need the totals only."""


Progress = Callable[[str, int, int | None], None]
"""Receives the progress of an import: its step ("checked", "hashed", "written"), the number of rows
done, and the total, None if it is not known yet."""


def unwatched(what: str, done: int, total: int | None) -> None:
    """Ignores the progress."""
