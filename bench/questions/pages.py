"""Duration of a page by key in a short list and in a long one: python -m bench.questions.pages.

Fills an SQLite database with deployments, phones of one batch and a tenth as many batches, for each
number of ROWS. Prints the shortest time of a page of 100 at the beginning and in the middle. Exits
with 1 unless the cost is flat.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from bench.world import load_sqlite
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql import tables
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_adapters.sql.tables.columns import SealedColumn
from phoneprov_core.features.batches.commands import WantedPhones
from phoneprov_core.switching.deployments.model import DeploymentFilter

BOX = SecretBox(SecretKeys.parse("the-key-of-the-benchmark-0123456789abcdef"))
PAGE = 100


def uuid(number: int) -> str:
    """A UUID made of a number."""
    return f"00000000-0000-4000-8000-{number:012x}"


def moment(number: int) -> str:
    """A later moment for a larger number."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_700_000_000 + number)) + ".000Z"


def mac(number: int) -> str:
    """A MAC made of a number."""
    digits = f"001B{number:08X}"
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))


def _deployment(number: int, rows: int) -> dict[str, Any]:
    hashes = SealedColumn(tables.metadata.tables["deployments"], "sha256")
    return {
        "uuid": uuid(number), "mac": mac(number % _phones(rows)), "number": number,
        **hashes.seal(BOX, bytes(32), uuid(number)),
        "action": "switch",
        "profile_uuid": uuid(0), "profile_name": "Ada", "revision": 1, "size": 1,
        "owner_uuid": uuid(0), "user_uuid": uuid(0), "filename": "x", "outcome": "deployed",
        "place": "x", "steps": "[]", "confirmation": "none", "created_at": moment(number),
    }  # fmt: skip


def _phones(rows: int) -> int:
    """Each phone has four deployments."""
    return max(rows // 4, PAGE * 3)


def _current(number: int, rows: int) -> dict[str, Any]:
    newest = rows - number + 1
    return {
        "mac": mac(newest % _phones(rows)), "number": newest, "created_at": moment(newest),
        "uuid": uuid(newest),
    }  # fmt: skip


def _batch(number: int) -> dict[str, Any]:
    return {
        "uuid": uuid(number), "action": "restart", "at_once": 10, "wait_minutes": 60,
        "user_uuid": uuid(0), "state": "done", "created_at": moment(number),
        "ended_at": moment(number), "holder": "", "fence": 0, "expires_at": 0,
    }  # fmt: skip


def _batch_phone(number: int) -> dict[str, Any]:
    return {
        "batch_uuid": uuid(1), "position": number, "mac": mac(number), "attempt_uuid": uuid(number),
        "state": "done", "tries": 1, "cut_off": 0, "fence": 0, "not_before": 0,
    }  # fmt: skip


def _fill(file: Path, rows: int) -> None:
    for table, make, count in (
        ("deployments", partial(_deployment, rows=rows), rows),
        ("current_deployments", partial(_current, rows=rows), _phones(rows)),
        ("batches", _batch, max(rows // 10, PAGE * 3)),
        ("batch_phones", _batch_phone, rows),
    ):
        # The columns without a meaning here.
        required = {
            column.name: column.type.python_type()
            for column in tables.metadata.tables[table].c
            if not column.nullable
        }
        values = (tuple((required | make(number)).values()) for number in range(1, count + 1))
        load_sqlite(file, table, list(required | make(1)), values)


async def _pages(tx: SqlTransaction, rows: int) -> dict[str, Callable[[], Awaitable[list[Any]]]]:
    deployments = tx.deployments.matching(DeploymentFilter())
    deployment = await tx.deployments.find(uuid(rows // 2))
    current = tx.deployments.matching(DeploymentFilter(current=True))
    batch = await tx.batches.find(uuid(max(rows // 10, PAGE * 3) // 2))
    phones = tx.batches.phones(uuid(1), WantedPhones())
    later_phones = tx.batches.phones(uuid(1), WantedPhones(after=rows // 2))
    return {
        "deployments, newest": lambda: deployments.newest(PAGE),
        "deployments, middle": lambda: deployments.newest(PAGE, before=deployment),
        "current ones, newest": lambda: current.newest(PAGE),
        "current ones, oldest": lambda: current.rows(PAGE),
        "batches, newest": lambda: tx.batches.newest(PAGE),
        "batches, middle": lambda: tx.batches.newest(PAGE, before=batch),
        "phones of a batch, first": lambda: phones.rows(PAGE),
        "phones of a batch, middle": lambda: later_phones.rows(PAGE),
    }


async def _measure(rows: int, rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as folder:
        file = Path(folder) / "phoneprov.db"
        database = SqliteDatabase(file, BOX)
        await migrate.upgrade(database.url)
        await asyncio.to_thread(_fill, file, rows)
        await database.open()
        taken: dict[str, float] = {}
        async with database.read() as tx:
            for name, page in (await _pages(tx, rows)).items():
                for _ in range(rounds):
                    began = time.perf_counter()
                    assert len(await page()) == PAGE, name
                    now = (time.perf_counter() - began) * 1000
                    taken[name] = min(now, taken.get(name, now))
        await database.close()
    return taken


@click.command()
@click.option("--rows", multiple=True, type=int, default=(1000, 10_000, 100_000), show_default=True)
@click.option("--rounds", default=20, show_default=True)
def pages(rows: tuple[int, ...], rounds: int) -> None:
    """Print the duration of pages by key in lists of ROWS."""
    measured = {size: asyncio.run(_measure(size, rounds)) for size in sorted(rows)}
    shortest, longest = measured[min(rows)], measured[max(rows)]
    click.echo(f"{'milliseconds':28}" + "".join(f"{size:>12}" for size in measured))
    for name in shortest:
        figures = "".join(f"{one[name]:12.2f}" for one in measured.values())
        click.echo(f"{name:28}{figures}")
    if any(longest[name] > 3 * taken + 1 for name, taken in shortest.items()):
        sys.exit(1)


if __name__ == "__main__":
    pages()
