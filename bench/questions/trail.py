"""Duration of a page of the audit trail for each combination of filters, and of a new entry:
python -m bench.questions.trail.

Fills SQLite and PostgreSQL with ROWS entries. Half of them belong to two accounts, two kinds and
two phones that never occur together, half to sixty kinds. Prints for each combination of filters
the longest time of a page with matches (the first, a middle and the last one, and one of a period)
and of one without, for each combination of values that occur. Exits with 1 if a page takes more
than LIMIT milliseconds.
"""

import asyncio
import itertools
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import asyncpg
import click
import msgspec
from msgspec.structs import astuple

from bench.questions.search import DATABASES
from bench.world import load_sqlite
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_adapters.sql.tables.people import audit
from phoneprov_core.people.audit import AuditEntry, TracedEntry, WantedEntries

PIECE = 500
FILTERS = ("actor_uuid", "resource", "action", "resource_id")
ADA, BOB, EVE = (f"00000000-0000-4000-8000-00000000000{letter}" for letter in "abe")
APART = [
    (ADA, "phone", "phone.updated", "00:1B:D4:00:00:0A"),
    (BOB, "user", "login.succeeded", BOB),
]
"""A quarter of the entries each."""
BUSY = (EVE, "desk", "desk.created", "00:1B:D4:00:00:0E")
RESOURCES = "phone", "user", "profile", "desk", "batch", "deployment", "link", "kem", "contact"
VERBS = "created", "updated", "deleted", "shown", "switched", "started", "ended"
KINDS = [(resource, f"{resource}.{verb}") for resource in RESOURCES for verb in VERBS]


def entry(number: int) -> TracedEntry:
    """An entry; a later one for a larger number."""
    luck = random.Random(number)
    actor = luck.choice((EVE, f"00000000-0000-4000-8000-{luck.randrange(2000):012}"))
    phone = luck.choice((BUSY[-1], f"00:1B:D4:01:{luck.randrange(10**4):05}"))
    fields = [*APART, *[(actor, *luck.choice(KINDS), phone)] * 2][number % 4]
    return TracedEntry(
        AuditEntry(
            uuid=f"{number:08x}-0000-7000-8000-{luck.getrandbits(48):012x}",
            at=moment(number),
            actor="ada",
            token=None,
            client_ip="10.0.0.7",
            request_id="00000000-0000-4000-8000-000000000000",
            changes={"location": {"old": None, "new": "2nd floor"}},
            **dict(zip(FILTERS, fields, strict=True)),
        )
    )


def moment(number: int) -> str:
    """The time of an entry."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_700_000_000 + number))


async def fill(database: Database, rows: int) -> float:
    """Add the entries. Returns the microseconds of each of the last thousand pieces."""
    slowly = min(rows // 2, 50_000)
    await load(database, (row(entry(number)) for number in range(rows - slowly)))
    waited = 0.0
    for first in range(rows - slowly, rows, PIECE):
        entries = [entry(number) for number in range(first, min(first + PIECE, rows))]
        began = time.perf_counter()
        async with database.write() as tx:
            for one in entries:
                await tx.audit.add(one)
        waited += time.perf_counter() - began
    return waited * 1_000_000 / slowly


def row(added: TracedEntry) -> tuple[Any, ...]:
    """The columns of an entry."""
    *plain, changes = astuple(added.entry)
    return *plain, msgspec.json.encode(changes).decode(), None


async def load(database: Database, rows: Iterator[tuple[Any, ...]]) -> None:
    """Add rows, past the store."""
    if isinstance(database, PostgresDatabase):
        connection = await asyncpg.connect(database.url.replace("+asyncpg", ""))
        names = audit.columns.keys()
        await connection.copy_records_to_table("audit", records=rows, columns=names)
        await connection.close()
    elif isinstance(database, SqliteDatabase):
        await database.close()
        load_sqlite(database.path, "audit", audit.columns.keys(), rows)
        await database.open()


async def size(database: Database) -> float:
    """Update the statistics, as autovacuum does. Returns the size of the table and its indexes in
    bytes."""
    if isinstance(database, PostgresDatabase):
        connection = await asyncpg.connect(database.url.replace("+asyncpg", ""))
        await connection.execute("VACUUM ANALYZE audit")
        size = await connection.fetchval("SELECT pg_total_relation_size('audit')")
        await connection.close()
        return float(size)
    assert isinstance(database, SqliteDatabase)
    return float(sum(file.stat().st_size for file in database.path.parent.glob("*.db")))


def questions(rows: int) -> Iterator[tuple[tuple[str, ...], dict[str, str], int | None]]:
    """The filters, their values, and the entry before the page."""
    for count in range(len(FILTERS) + 1):
        for names in itertools.combinations(FILTERS, count):
            for chosen in itertools.product((*APART, BUSY), repeat=count):
                places = [FILTERS.index(name) for name in names]
                wanted = {
                    name: values[place]
                    for name, place, values in zip(names, places, chosen, strict=True)
                }
                for before in (None, rows // 2, PIECE):
                    yield names, wanted, before
                period = {"since": moment(rows // 4), "until": moment(rows // 3)}
                yield names, wanted | period, None


async def page(database: Database, wanted: dict[str, Any], before: int | None, limit: int) -> Any:
    """Number of the entries of a page, and its duration in milliseconds: the shorter of two."""
    last = None if before is None else entry(before).entry
    taken = []
    for _ in range(2):
        began = time.perf_counter()
        async with database.read() as tx:
            found = await tx.audit.newest(WantedEntries(**wanted), limit, before=last)
        taken.append((time.perf_counter() - began) * 1000)
    return len(found), min(taken)


async def measure(name: str, rows: int, limit: int) -> float:
    """Print the figures of a database. Returns the longest time of a page."""
    longest: dict[tuple[str, ...], dict[bool, float]] = {}
    async with DATABASES[name]() as database:
        taken = await fill(database, rows)
        stored = await size(database)
        click.echo(f"{name}, {rows} entries: {taken:.0f} us and {stored / rows:.0f} bytes each")
        for names, wanted, before in questions(rows):
            found, took = await page(database, wanted, before, limit)
            times = longest.setdefault(names, {True: 0.0, False: 0.0})
            times[found > 0] = max(times[found > 0], took)
    for names, times in longest.items():
        what = ", ".join(names) or "no filter"
        click.echo(f"  {what:44} match {times[True]:8.1f} ms   none {times[False]:8.1f} ms")
    return max(took for times in longest.values() for took in times.values())


@click.command()
@click.option("--rows", default=1_000_000, show_default=True)
@click.option("--page", "size", default=1000, show_default=True, help="Entries")
@click.option("--limit", default=50.0, show_default=True, help="Milliseconds")
@click.option("--database", type=click.Choice(sorted(DATABASES)), multiple=True)
def trail(rows: int, size: int, limit: float, database: tuple[str, ...]) -> None:
    """Print the duration of pages of an audit trail of ROWS entries."""
    names = database or tuple(DATABASES)
    if max([asyncio.run(measure(name, rows, size)) for name in names]) > limit:
        sys.exit(1)


if __name__ == "__main__":
    trail()
