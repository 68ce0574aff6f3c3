"""Each combination of filters of the audit trail reads the entries of a page and no others."""

import itertools
import json
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from contract.stores.test_audit import an_entry
from phoneprov_adapters.sql.engines import postgres_writing, sqlite_writing
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_adapters.sql.stores.people.audit import SqlAudit
from phoneprov_core.people.audit import TracedEntry, WantedEntries
from support.records import identifier, moment
from support.stores import DATABASES

ENTRIES = 4000
PAGE = 10
FILTERS = {
    "actor_uuid": (identifier(77), identifier(78)),
    "resource": ("phone", "user"),
    "action": ("phone.updated", "login.failed"),
    "resource_id": ("00:1B:D4:12:34:56", identifier(78)),
}
"""Two values of each filter, which a third of the entries have each; the third third has any of
them, and others."""
CHOICES: list[dict[str, str]] = [
    dict(zip(names, values, strict=True))
    for count in range(len(FILTERS) + 1)
    for names in itertools.combinations(FILTERS, count)
    for values in itertools.product(*(FILTERS[name] for name in names))
]


def entry(number: int) -> TracedEntry:
    luck = random.Random(number)
    side = number % 3
    fields = {
        name: values[side] if side < 2 else luck.choice((*values, values[0][::-1]))
        for name, values in FILTERS.items()
    }
    return an_entry(number, at=moment(number // 2), **fields)


class Seen(Connection):
    """Remembers the statements."""

    def __init__(self, real: Connection) -> None:
        self.statements: list[tuple[Statement, dict[str, Any]]] = []
        self._real = real

    async def fetch_all(self, statement: Statement, **values: Any) -> Sequence[Row]:
        self.statements.append((statement, values))
        return await self._real.fetch_all(statement, **values)


@asynccontextmanager
async def read_by(database: Database) -> AsyncIterator[Callable[..., Awaitable[float]]]:
    """The number of entries that a statement reads: measured in PostgreSQL, and from the number of
    instructions in SQLite."""
    if isinstance(database, PostgresDatabase):
        driver = await asyncpg.connect(database.url.replace("+asyncpg", ""))
        await driver.execute("ANALYZE audit")
        yield partial(postgres_rows, driver)
        await driver.close()
    elif isinstance(database, SqliteDatabase):
        with closing(sqlite3.connect(database.path)) as connection:
            yield partial(sqlite_rows, connection)


async def sqlite_rows(
    driver: sqlite3.Connection, statement: Statement, values: dict[str, Any]
) -> float:
    compiled = sqlite_writing.compiled_for(statement)
    steps = itertools.count()
    driver.set_progress_handler(lambda: next(steps) < 0, 1)
    driver.execute(compiled.sql, compiled.parameters(values)).fetchall()
    return next(steps) / 10


async def postgres_rows(
    driver: asyncpg.Connection, statement: Statement, values: dict[str, Any]
) -> int:
    compiled = postgres_writing.compiled_for(statement)
    explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {compiled.sql}"
    plan = await driver.fetchval(explained, *compiled.parameters(values))
    read, nodes = 0, [json.loads(plan)[0]["Plan"]]
    wanted = {name.rstrip("_0123456789") for name in values} & set(FILTERS)
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if "Index Cond" in node:
            used = set(re.findall(r"\w+", node["Index Cond"]))
            assert used >= wanted or re.match(r"\(\(?uuid\)?", node["Index Cond"]), node
        if node.get("Relation Name") == "audit":
            assert node["Node Type"] != "Seq Scan", node
            removed = node.get("Rows Removed by Filter", 0)
            read += (node["Actual Rows"] + removed) * node["Actual Loops"]
    return int(read)


@pytest.mark.parametrize("name", ["postgres", "sqlite"])
async def test_page_reads_no_other_entries(name: str, tmp_path: Path) -> None:
    pages: list[tuple[dict[str, str], int]] = [
        *(({}, before) for before in (0, ENTRIES // 2, PAGE)),
        ({"since": moment(500), "until": moment(1200)}, 0),
    ]
    async with DATABASES[name](tmp_path) as database:
        async with database.write() as tx:
            for number in range(1, ENTRIES + 1):
                await tx.audit.add(entry(number))
        async with read_by(database) as cost:
            for wanted, (period, before) in itertools.product(CHOICES, pages):
                last = entry(before).entry if before else None
                async with database.read() as tx:
                    seen = Seen(tx.audit._connection)
                    asked = WantedEntries(**wanted, **period)
                    await SqlAudit(seen).newest(asked, PAGE, before=last)
                for statement, values in seen.statements:
                    assert await cost(statement, values) < ENTRIES / 8, (wanted, period, before)
