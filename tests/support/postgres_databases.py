"""PostgreSQL databases of the tests, with wide deadlines or short ones."""

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.postgres import Deadlines, PostgresDatabase
from phoneprov_adapters.sql.engines.revisions import Timelines
from support.postgres import WIDE
from support.stores import KEY

SHORT = Deadlines(connect=0.8, wait=0.8, statement=0.6, answer=1.2, total=2.4, rollback=0.6)
"""For tests that wait for a timeout. Successful calls must finish within them on a busy machine."""


def database_at(
    url: str, deadlines: Deadlines = WIDE, timelines: Timelines | None = None
) -> PostgresDatabase:
    """The database at this URL, with the key of the tests."""
    return PostgresDatabase(url, SecretBox(SecretKeys.parse(KEY)), deadlines, timelines)
