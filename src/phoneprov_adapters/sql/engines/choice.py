"""Selection of the database by its URL."""

from pathlib import Path
from typing import TypeAlias

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.sql.engines.address import check_address, embedded_file
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.processes import Processes
from phoneprov_adapters.sql.engines.revisions import Timelines
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.sqlite_file import PROCESSES

OwnDatabase: TypeAlias = SqliteDatabase | PostgresDatabase


def database_at(url: str, box: SecretBox, data_dir: Path | None = None) -> OwnDatabase:
    """The database of this URL, not yet open. The timeline of a shared one is stored in
    ``data_dir`` (see ``Timelines``). Raises ``ValueError``."""
    check_address(url)
    file = embedded_file(url)
    if file is not None:
        return SqliteDatabase(file, box)
    timelines = Timelines(data_dir and data_dir / "timelines.json")
    return PostgresDatabase(url, box, timelines=timelines)


def processes_at(url: str, data_dir: Path) -> Processes:
    """The processes of this host that use the database of this URL: registered beside the file of
    an embedded database, and in ``data_dir`` for a database that other hosts may use."""
    file = embedded_file(url)
    if file is not None:
        return Processes(file.with_name(f"{file.name}{PROCESSES}"), several_hosts=False)
    return Processes(data_dir / "processes", several_hosts=True)
