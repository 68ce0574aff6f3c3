"""Tables in memory, their import, and the export to compare with."""

from collections.abc import AsyncIterator
from typing import Any

from phoneprov_adapters.api import InMemory
from phoneprov_core.features.transfer.model import Imported, Row, RowProblem

PASSWORD = "a long one for the tests"
MAC = "00:1B:D4:12:34:56"
ADA = ("ada", "Ada", "Lovelace", "ada@example.com", PASSWORD)
BOB = ("bob", "Bob", "Byron", "bob@example.com", PASSWORD)


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


async def into(phoneprov: InMemory, kind: str, table: ListTable, **how: Any) -> Imported:
    return await phoneprov.transfer.into(phoneprov.system_actor(), kind, table, **how)


async def everything(phoneprov: InMemory, kind: str) -> list[dict[str, Any]]:
    pieces = phoneprov.transfer.out(phoneprov.system_actor(), kind, with_secrets=True)
    return [row async for piece in pieces for row in piece]


def users(*rows: tuple[str, ...]) -> ListTable:
    return ListTable("username,first_name,last_name,email,password", *rows)
