"""Files read in pieces in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice

from phoneprov_core.transfer.model import Row, RowProblem, Table
from phoneprov_core.transfer.sheets import OWNER

PIECE = 500

Rows = Iterator[Row | RowProblem]


async def in_pieces(
    opening: Callable[[], AbstractContextManager[Rows]],
) -> AsyncIterator[list[Row | RowProblem]]:
    """The rows of ``opening``, in pieces; it is opened, read and closed in threads."""
    opened = await asyncio.to_thread(opening)
    rows = await asyncio.to_thread(opened.__enter__)
    try:
        while piece := await asyncio.to_thread(lambda: list(islice(rows, PIECE))):
            yield piece
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


class OwnedBy:
    """A table whose rows belong to one user, regardless of their content."""

    def __init__(self, table: Table, username: str) -> None:
        self._table = table
        self._username = username

    async def columns(self) -> tuple[str, ...]:
        """The columns of the table and that of the owner."""
        columns = await self._table.columns()
        return columns if OWNER in columns or not columns else (*columns, OWNER)

    async def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows of the table, each with its owner."""
        async for piece in self._table.pieces():
            yield [
                Row(row.line, {**row.cells, OWNER: self._username}) if isinstance(row, Row) else row
                for row in piece
            ]
