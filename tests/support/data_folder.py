"""Data folders of an installation, with an empty database and a key."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from phoneprov_adapters.composition.lifecycle import prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.sql.engines.address import embedded_url
from phoneprov_adapters.sql.maintenance import migrate


def populate(folder: Path) -> None:
    """Create the folder, with a key and an empty database."""
    prepare(read_settings({"PHONEPROV_DATA_DIR": str(folder)}))
    create_database(folder)


def create_database(folder: Path) -> Path:
    """Create an empty database in the folder. The migrations run once a process."""
    database = folder / "phoneprov.db"
    database.write_bytes(_migrated())
    database.chmod(0o600)
    return database


@cache
def _migrated() -> bytes:
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        database = Path(folder) / "phoneprov.db"
        # In a thread, since the caller may run in an event loop.
        thread.submit(asyncio.run, migrate.upgrade(embedded_url(database))).result()
        return database.read_bytes()
