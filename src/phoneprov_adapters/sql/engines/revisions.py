"""Revisions of the database schema, and timelines of PostgreSQL clusters with standbys."""

import contextlib
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
from sqlalchemy import Column, MetaData, String, Table, null, select, update

from phoneprov_core.kernel.errors import Unavailable

STEPS = Path(__file__).parents[1] / "migrations" / "versions"

UNFIT = (
    "The database's schema is not the one this version needs. Run phoneprov db upgrade, or start "
    "the version that upgraded it."
)

revision_table = Table(
    "alembic_version", MetaData(), Column("version_num", String(32), primary_key=True)
)
_revision = revision_table.c.version_num
REVISION = select(_revision)
REVISION_COLUMN = f"{revision_table.name}.{_revision.name}"


class UnfitSchema(Unavailable):
    """The database has another schema than this version needs. The message has the next step."""


@cache
def known() -> tuple[str, ...]:
    """The revisions of this version, oldest first. A file is named by its revision and its content:
    ``0100_first_release.py``."""
    return tuple(sorted(file.name.partition("_")[0] for file in STEPS.glob("[0-9]*_*.py")))


def newest() -> str:
    """The revision that this version needs."""
    return known()[-1]


REQUIRE_REVISION = update(revision_table).where(_revision != newest()).values(version_num=null())
"""Changes nothing, or fails if the database has another revision: the column is not nullable. Each
writing transaction contains it. On PostgreSQL it also locks the table, so that an upgrade waits
for the transaction, or the transaction for the upgrade."""

TOUCH_REVISION = update(revision_table).values(version_num=_revision)
"""Sets the revision to its present value: proves that PostgreSQL can store changes."""

LOCK_REVISION = REVISION.with_for_update()
"""Locks the revision until the end of the transaction; waits until other transactions have released
this lock. On SQLite it only reads: SQLite has one writing transaction at a time."""


def obstacle(revision: str | None) -> str | None:
    """The reason why a database with this revision cannot be used, and the next step; None if it
    can be used."""
    if revision == newest():
        return None
    if revision is None:
        return "The database has no schema yet. Run phoneprov db upgrade."
    if revision in known():
        return (
            f"The database's schema {revision} is older than {newest()}, which this version needs. "
            "Run phoneprov db upgrade."
        )
    return foreign(revision)


def foreign(revision: str) -> str:
    """The reason why a database with a revision unknown to this version cannot be upgraded."""
    if revision > newest():
        return (
            f"The database's schema {revision} is newer than {newest()}, which this version needs. "
            "Start the newer version, or restore the backup from before the upgrade."
        )
    return (
        f"The database's schema {revision} is of a version before 0.2.0 and cannot be upgraded. "
        "Export the records with the version that made it (phoneprov export) and import them into "
        "a new database, or start with a new database."
    )


class Timelines:
    """Stores the newest timeline of each cluster in ``file``, also for later processes.

    Every promotion of a standby begins a new timeline with a larger number. A primary on an older
    timeline was replaced: its changes are lost.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._newest: dict[str, int] = {}

    def newest(self, cluster: str) -> int:
        """The newest known timeline of a cluster; 0 if none is known. Reads the file each time,
        because other processes of this host write it, too."""
        for name, timeline in self._kept().items():
            self._newest[name] = max(timeline, self._newest.get(name, 0))
        return self._newest.get(cluster, 0)

    def saw(self, cluster: str, timeline: int) -> None:
        """Store a timeline that is newer than the earlier ones."""
        if timeline <= self.newest(cluster):
            return
        self._newest[cluster] = timeline
        if self._file is None:
            return
        # If the file cannot be written, this process still has the timeline in memory.
        with contextlib.suppress(OSError):
            with NamedTemporaryFile(dir=self._file.parent, delete=False) as written:
                written.write(msgspec.json.encode(self._newest))
            Path(written.name).replace(self._file)

    def _kept(self) -> dict[str, int]:
        if self._file is None:
            return {}
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, int])
        except (OSError, msgspec.DecodeError):
            return {}
