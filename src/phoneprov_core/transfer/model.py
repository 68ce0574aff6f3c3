"""Rows of a table as somebody sent it, and what became of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct


class Row(Struct, frozen=True):
    """One row: where it begins in its file (lines are counted from 1), and the text of its
    cells by column. A column that is not there is left alone, an empty cell clears."""

    line: int
    cells: Mapping[str, str]

    def __repr__(self) -> str:
        # Some cells are passwords.
        return f"Row(line={self.line}, columns={tuple(self.cells)})"


class RowProblem(Struct, frozen=True):
    """What is wrong with one row: its line, the field (empty when it is the whole row), and
    a sentence that reads on from the field's name."""

    line: int
    field: str
    message: str


class Table(Protocol):
    """A table that can be read more than once: it is checked before it is written."""

    async def columns(self) -> tuple[str, ...]:
        """The names of the columns as they stand in the file; empty for an empty file."""
        ...

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows from the first, some at a time; a problem for one that cannot be read."""
        ...


class Imported(Struct, frozen=True):
    """What an import did, or would do when ``written`` is False.

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
"""Told how far an import is: what it does ("checked", "hashed", "written"), how many rows of it
are done, and of how many, None when that is not known yet."""


def unwatched(what: str, done: int, total: int | None) -> None:
    """For whoever does not care how far it is."""
