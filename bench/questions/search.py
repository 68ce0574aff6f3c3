"""Duration of a search in a list of phones, and of a page of it: python -m bench.questions.search.

Fills SQLite and PostgreSQL with ROWS phones and prints the shortest time of a page through the use
case, its total included. Exits with 1 if a search takes more than LIMIT milliseconds longer.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import click

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.inventory.phones.model import Phone, PhoneSearch
from phoneprov_core.kernel.ports import Window, listing, selected
from phoneprov_core.switching.deployments.model import Outcome
from support.phone_records import a_deployment
from support.postgres import Server

PIECE = 500
KEY = "the-key-of-the-benchmark-0123456789abcdef"
USER = "00000000-0000-4000-8000-000000000007"
SEARCHES = {
    "a name, 1 in 4": PhoneSearch(q="ada"),
    "a word that all have": PhoneSearch(q="desk"),
    "one MAC": PhoneSearch(q="00-1b-d4-00-00-07"),
    "two words": PhoneSearch(q="ada 001bd4"),
    "no match": PhoneSearch(q="zacharias"),
    "a model, 1 in 3": PhoneSearch(model="CP-7945G"),
    "a model without phones": PhoneSearch(model="CP-8865"),
    "a MAC prefix, 1 in 400": PhoneSearch(q="001bd40041"),
    "last outcome, 9 in 10": PhoneSearch(last_outcome="deployed"),
    "last outcome, 1 in 100": PhoneSearch(last_outcome="failed"),
    "last outcome without phones": PhoneSearch(last_outcome="unknown"),
    "who is logged in": PhoneSearch(user_uuid=USER),
    "words and filters": PhoneSearch(q="ada desk", location="floor 3", is_active=True),
}


@asynccontextmanager
async def sqlite() -> AsyncIterator[Database]:
    """An empty SQLite database."""
    with tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as folder:
        database = SqliteDatabase(Path(folder) / "phoneprov.db", SecretBox(SecretKeys.parse(KEY)))
        await migrate.upgrade(database.url)
        await database.open()
        try:
            yield database
        finally:
            await database.close()


@asynccontextmanager
async def postgres() -> AsyncIterator[Database]:
    """An empty PostgreSQL database."""
    server = Server("shared_buffers=256MB")
    try:
        url = server.url("postgres")
        await migrate.upgrade(url)
        database = PostgresDatabase(url, SecretBox(SecretKeys.parse(KEY)))
        await database.open()
        try:
            yield database
        finally:
            await database.close()
    finally:
        server.close()


DATABASES = {"sqlite": sqlite, "postgresql": postgres}


def phone(number: int, luck: random.Random) -> Phone:
    """A phone that was recorded at a random time."""
    mac = f"001BD4{number:06X}"
    second = luck.randrange(86_400)
    at = f"2026-01-31T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.250Z"
    return Phone(
        ":".join(mac[place : place + 2] for place in range(0, 12, 2)),
        "Cisco",
        f"CP-79{luck.choice((45, 65, 75))}G",
        None,
        f"Desk {number} {luck.choice(('Ada', 'Grace', 'Émilie', 'Linus'))}",
        f"SEP{mac}",
        f"floor {luck.randrange(9)}",
        f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
        None,
        "SCCP45.9-4-2SR3-1S",
        "SCCP",
        is_active=True,
        created_at=at,
        updated_at=at,
    )


async def _fill(database: Database, rows: int) -> None:
    luck = random.Random(1)
    for begin in range(0, rows, PIECE):
        async with database.write() as tx:
            for number in range(begin, min(begin + PIECE, rows)):
                added = phone(number, luck)
                await tx.phones.add(added)
                if number % 10:
                    outcome = Outcome.DEPLOYED if number % 100 > 1 else Outcome.FAILED
                    await tx.deployments.add(a_deployment(number, added.mac, outcome=outcome))
                if number % 1000 == 0:
                    await tx.desks.put(
                        DeskRecord(added.mac).used(DeskUse(user_uuid=USER), added.created_at)
                    )


async def _quickest(
    database: Database, wanted: PhoneSearch | None, rounds: int
) -> tuple[float, int]:
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        found = await listing(
            database.read, lambda tx: selected(tx.phones, wanted), Window(limit=100)
        )
        taken.append(time.perf_counter() - began)
    return min(taken) * 1000, found.total or 0


async def _analyze(url: str) -> None:
    """Update the statistics, as autovacuum does within a minute. Without them PostgreSQL expects
    one match of two words, and reads all rows for the page and again for the total."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute("ANALYZE")
    await connection.close()


async def _measure(name: str, rows: int, rounds: int) -> float:
    async with DATABASES[name]() as database:
        await _fill(database, rows)
        if isinstance(database, PostgresDatabase):
            await _analyze(database.url)
        plain, _ = await _quickest(database, None, rounds)
        click.echo(f"\n{name}, {rows} phones, a page of 100 without a search: {plain:.1f} ms")
        worst = 0.0
        for what, wanted in SEARCHES.items():
            taken, total = await _quickest(database, wanted, rounds)
            worst = max(worst, taken - plain)
            click.echo(f"  {what:28} {total:7} matches  {taken:6.1f} ms  (+{taken - plain:.1f})")
    return worst


@click.command()
@click.option("--rows", default=100_000, show_default=True)
@click.option("--rounds", default=9, show_default=True)
@click.option("--limit", default=50.0, show_default=True, help="Milliseconds")
@click.option("--database", type=click.Choice(sorted(DATABASES)), multiple=True)
def search(rows: int, rounds: int, limit: float, database: tuple[str, ...]) -> None:
    """Print the duration of searches among ROWS phones."""
    names = database or tuple(DATABASES)
    worst = max(asyncio.run(_measure(name, rows, rounds)) for name in names)
    if worst > limit:
        sys.exit(1)


if __name__ == "__main__":
    search()
