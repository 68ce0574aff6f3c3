"""Data folders of an installation, with an empty database and a key."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from phoneprov_adapters.composition.lifecycle import prepare
from phoneprov_adapters.composition.reading import read_settings
from phoneprov_adapters.sql.engines.choice import embedded_url
from phoneprov_adapters.sql.maintenance import migrate


def populate(folder: Path) -> None:
    """Create the folder. The schema is created once a process."""
    prepare(read_settings({"PHONEPROV_DATA_DIR": str(folder)}))
    database = folder / "phoneprov.db"
    database.write_bytes(_migrated())
    database.chmod(0o600)


@cache
def _migrated() -> bytes:
    with TemporaryDirectory() as folder:
        database = Path(folder) / "phoneprov.db"
        asyncio.run(migrate.upgrade(embedded_url(database)))
        return database.read_bytes()
