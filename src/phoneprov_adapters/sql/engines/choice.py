"""Selection of the database by its URL."""

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.address import POSTGRES, PostgresAddress
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.sqlite_file import Presence, present
from phoneprov_adapters.sql.engines.timelines import Timelines

Database: TypeAlias = SqliteDatabase | PostgresDatabase

_SQLITE = "sqlite+aiosqlite:///"


def check_address(url: str) -> None:
    """Raises ``ValueError`` if the URL is not that of a database. The message does not quote it: it
    may contain a password."""
    if url.startswith(POSTGRES):
        PostgresAddress.parse(url)
    elif not is_embedded(url):
        raise ValueError(f"it must begin with {_SQLITE} or {POSTGRES}")


def is_embedded(url: str) -> bool:
    """Whether the database is an embedded file, which other hosts do not share."""
    return url.startswith(_SQLITE)


def embedded_file(url: str) -> Path | None:
    """The file of an embedded database; None for a shared one."""
    return Path(url.removeprefix(_SQLITE)) if is_embedded(url) else None


def embedded_url(file: Path) -> str:
    """The URL of an embedded database in this file."""
    return f"{_SQLITE}{file}"


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
