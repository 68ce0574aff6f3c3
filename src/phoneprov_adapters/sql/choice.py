"""Which database an address means."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.address import POSTGRES, PostgresAddress
from phoneprov_adapters.sql.postgres import PostgresDatabase
from phoneprov_adapters.sql.presence import Presence
from phoneprov_adapters.sql.sqlite import SqliteDatabase

Database: TypeAlias = SqliteDatabase | PostgresDatabase

_SQLITE = "sqlite+aiosqlite:///"


def check_address(url: str) -> None:
    """Raises ``ValueError`` when no database can have this address. The message does not quote
    it: there may be a password in it."""
    if url.startswith(POSTGRES):
        PostgresAddress.parse(url)
    elif not is_embedded(url):
        raise ValueError(f"it must begin with {_SQLITE} or {POSTGRES}")


def is_embedded(url: str) -> bool:
    """Whether the database is a file of our own, which no other host shares."""
    return url.startswith(_SQLITE)


def database_at(url: str, box: SecretBox) -> Database:
    """The database at this address, not yet open. Raises ``ValueError``."""
    check_address(url)
    if is_embedded(url):
        return SqliteDatabase(Path(url.removeprefix(_SQLITE)), box)
    return PostgresDatabase(url, box)


def presence_at(url: str) -> AbstractAsyncContextManager[Presence | None]:
    """Working with the database at this address; None where others may from other hosts."""
    if is_embedded(url):
        return Presence(Path(url.removeprefix(_SQLITE)))
    return nullcontext()
