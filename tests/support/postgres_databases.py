"""PostgreSQL databases that do not let a test wait."""

from __future__ import annotations

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.deadlines import Deadlines
from phoneprov_adapters.sql.postgres import PostgresDatabase
from support.stores import KEY

SHORT = Deadlines(connect=0.4, wait=0.4, statement=0.3, answer=0.6, total=1.2, rollback=0.3)


def database_at(url: str, deadlines: Deadlines = SHORT) -> PostgresDatabase:
    """The database at this address, with the key of the tests."""
    return PostgresDatabase(url, SecretBox(SecretKeys.parse(KEY)), deadlines)
