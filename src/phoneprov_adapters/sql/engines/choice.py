"""Selection of the database by its URL."""

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.sqlite_file import Presence, present
from phoneprov_adapters.sql.engines.timelines import Timelines
from phoneprov_adapters.sql.engines.urls import check_address, embedded_file

Database: TypeAlias = SqliteDatabase | PostgresDatabase


def database_at(url: str, box: SecretBox, data_dir: Path | None = None) -> Database:
    """The database of this URL, not yet open. The timeline of a shared one is stored in
    ``data_dir`` (see ``Timelines``). Raises ``ValueError``."""
    check_address(url)
    file = embedded_file(url)
    if file is not None:
        return SqliteDatabase(file, box)
    timelines = Timelines(data_dir and data_dir / "timelines.json")
    return PostgresDatabase(url, box, timelines=timelines)


def presence_at(url: str) -> AbstractAsyncContextManager[Presence | None]:
    """The lock of an embedded database; None for a database that other hosts may use."""
    file = embedded_file(url)
    return nullcontext() if file is None else present(file)
