"""Which database an address means."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.sqlite import SqliteDatabase

Database: TypeAlias = SqliteDatabase

_SQLITE = "sqlite+aiosqlite:///"


def is_embedded(url: str) -> bool:
    """Whether the database is a file of our own, which no other host shares."""
    return url.startswith(_SQLITE)


def database_at(url: str, box: SecretBox) -> Database:
    """The database at this address, not yet open."""
    if not is_embedded(url):
        raise ValueError("This address is of no database that is supported.")
    return SqliteDatabase(Path(url.removeprefix(_SQLITE)), box)
