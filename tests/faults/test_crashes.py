"""Answered changes survive a kill of the service, and no change is stored in part."""

import asyncio
import shutil
import sqlite3
import time
from pathlib import Path

from faults.ledger import Writer
from faults.served import Served
from faults.writers import Contacts, Phones, Profiles, Services, Sessions, Users
from support.polling import until
from support.scale import SEED, note, random_choices, rounds, spread

HALF_THERE = {
    "a user without a password": (
        "SELECT count(*) FROM users LEFT JOIN passwords ON user_uuid = uuid WHERE hash IS NULL"
    ),
    "a flag of a phone that was deleted": (
        "SELECT count(*) FROM vendor_phones WHERE mac NOT IN (SELECT mac FROM phones)"
    ),
    "a module at a phone that was deleted": (
        "SELECT count(*) FROM kems WHERE connected_phone NOT IN (SELECT mac FROM phones)"
    ),
}
"""Inconsistencies, and the queries that count them."""


def writers_for(owner: str, username: str, what: str) -> list[Writer]:
    """One writer of each kind, and two more of the fast kinds."""
    return [
        Users(1, random_choices(f"{what} users")),
        Phones(2, random_choices(f"{what} phones")),
        Phones(3, random_choices(f"{what} other phones")),
        Profiles(4, random_choices(f"{what} profiles"), owner),
        Contacts(5, random_choices(f"{what} contacts")),
        Contacts(6, random_choices(f"{what} other contacts")),
        Services(7, random_choices(f"{what} services")),
        Sessions(8, random_choices(f"{what} sessions"), username),
    ]


async def test_answered_changes_of_a_killed_service_are_stored(served: Served) -> None:
    await asyncio.to_thread(served.start)
    chance, times = random_choices("kills"), rounds(3, 200)
    starts: list[float] = []
    async with served.direct() as direct:
        root = await direct.account(level=0, username="root")
    writers = writers_for(root.uuid, "root", "kills")
    for _ in range(times):
        token = await served.token()
        writing = [
            asyncio.create_task(writer.write(served.port, token, lambda: True))
            for writer in writers
        ]
        await until(lambda: all(writer.acknowledged for writer in writers), 60)
        await asyncio.sleep(chance.uniform(0.02, 0.6))
        served.kill()
        await asyncio.gather(*writing)
        await asyncio.to_thread(check_database, served.folder)
        if chance.random() < 0.1:  # again, during the start
            served.spawn()
            await asyncio.sleep(chance.uniform(0.0, 1.5))
            served.kill()
        began = time.monotonic()
        await asyncio.to_thread(served.start)
        starts.append(time.monotonic() - began)
        token = await served.token()
        async with served.line() as line:
            for writer in writers:
                assert await writer.check(line, token) == [], f"seed {SEED}"
    kept, lost = sum(w.acknowledged for w in writers), sum(w.unknown for w in writers)
    note(
        f"kill -9, SQLite: {times} times, {kept} answered writes, all kept; {lost} with a lost "
        f"response, each complete or absent; serves again after {spread(starts)}"
    )


def check_database(folder: Path) -> None:
    """A copy of the database as the kill left it; the service must recover it itself."""
    file, copy = folder / "phoneprov.db", folder / "copy.db"
    for ending in ("", "-wal"):
        shutil.copy(f"{file}{ending}", f"{copy}{ending}")
    connection = sqlite3.connect(copy)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for what, count in HALF_THERE.items():
            assert connection.execute(count).fetchone() == (0,), what
    finally:
        connection.close()
        for ending in ("", "-wal", "-shm"):
            Path(f"{copy}{ending}").unlink(missing_ok=True)
