"""Reading from SQLite: each query by itself, outside of a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.sqlite_writing import compiled_for, typed, unavailable
from phoneprov_adapters.sql.engines.statements import Statement

Ask = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]


class ReadConnection(Connection):
    """``quick`` executes a short query, ``long`` one that may take long."""

    writing = False

    def __init__(self, path: Path, quick: Ask, long: Ask) -> None:
        self._path = path
        self._quick = quick
        self._long = long

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        return await self._asked(self._long, statement, values)

    async def few(self, statement: Statement, **values: Any) -> Sequence[Row]:
        return await self._asked(self._quick, statement, values)

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        rows = await self.few(statement, **values)
        return rows[0] if rows else None

    async def flush(self) -> None:
        """Nothing is deferred: reads run at once."""

    async def one_at_a_time(self) -> None:
        """Nothing to roll back: reads hold no state."""

    async def _asked(self, ask: Ask, statement: Statement, values: dict[str, Any]) -> Sequence[Row]:
        compiled = compiled_for(statement)
        try:
            rows = await ask(compiled.sql, compiled.parameters(values))
        except (sqlite3.Error, ValueError) as error:
            raise unavailable(error, self._path) from error
        return typed(rows, compiled)
