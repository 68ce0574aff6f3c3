"""A table in memory, for what is imported."""

from __future__ import annotations

from collections.abc import AsyncIterator

from phoneprov_core.transfer.model import Row, RowProblem


class ListTable:
    """Rows of text below one line of columns; line 2 is the first."""

    def __init__(self, columns: str, *rows: tuple[str, ...] | RowProblem) -> None:
        self._columns = tuple(columns.split(","))
        self._rows = rows
        self.readings = 0

    async def columns(self) -> tuple[str, ...]:
        return self._columns

    async def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        self.readings += 1
        for start in range(0, len(self._rows), 500):
            yield [
                row
                if isinstance(row, RowProblem)
                else Row(line, dict(zip(self._columns, row, strict=True)))
                for line, row in enumerate(self._rows[start : start + 500], start + 2)
            ]
