"""Kinds of records that expire, and how long each is kept."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated

from msgspec import Struct

from phoneprov_core.auth.throttle import KEPT_UNKNOWN
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.system import millis, shown


class Kept(Enum):
    """A kind of record that expires. They are removed in this order: a revision is needed as long
    as a deployment names it."""

    DEPLOYMENTS = "deployments"
    BATCHES = "batches"
    FETCHES = "fetches"
    AUDIT = "audit"
    REVISIONS = "revisions"
    SESSIONS = "sessions"
    ATTEMPTS = "attempts"


class KeepDays(Struct, frozen=True, kw_only=True):
    """Days that records are kept; 0 for ever."""

    deployments: int = 365
    fetches: int = 30
    audit: int = 365
    revisions: int = 365


Moment = str | int
"""A shown moment, or milliseconds since 1970 where the record has those."""
Place = tuple[str | int, ...]
"""A position in the order of the records of a kind."""


class Piece(Struct, frozen=True):
    """A piece of the records of a kind, in their order: the position of its last record, the
    number of its records that can be removed, and the keys of those that ``remove`` must keep
    though its own condition would remove them."""

    last: Place
    removable: int
    keep: tuple[str, ...] = ()


class Pruned(Struct, frozen=True):
    """The result for one kind of record."""

    kind: Kept
    count: Annotated[int, schema("Number of records removed", minimum=0)]
    message: str | None = None
    """The reason why no more could be removed."""


def limits(keep: KeepDays, now: datetime) -> Mapping[Kept, Moment]:
    """The moment before which records of each kind may be removed; without the kinds that are
    kept for ever."""
    days = {
        Kept.DEPLOYMENTS: keep.deployments,
        Kept.BATCHES: keep.deployments,
        Kept.FETCHES: keep.fetches,
        Kept.AUDIT: keep.audit,
        Kept.REVISIONS: keep.revisions,
    }
    found: dict[Kept, Moment] = {
        kind: shown(_before(now, number)) for kind, number in days.items() if number
    }
    found[Kept.SESSIONS] = millis(now)
    found[Kept.ATTEMPTS] = millis(now) - KEPT_UNKNOWN
    return found


def _before(now: datetime, days: int) -> datetime:
    # No date precedes year 1.
    return now - timedelta(days=min(days, (now - datetime.min.replace(tzinfo=now.tzinfo)).days))
