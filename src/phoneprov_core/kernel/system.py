"""Ports for the clock, identifiers, pauses and counted rates."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

Timestamp = Annotated[
    str,
    Meta(
        description="A moment in UTC, with milliseconds",
        examples=["2026-01-31T08:15:30.250Z"],
        extra_json_schema={"format": "date-time"},
    ),
]
"""A shown moment, such as ``2026-01-31T08:15:30.250Z``."""

Clock = Callable[[], datetime]
"""Port: the current moment, aware and in UTC. Never goes back within one process."""

Pause = Callable[[float], Awaitable[None]]
"""Port: wait for a number of seconds."""


def timestamp(moment: datetime) -> str:
    """``2026-01-31T08:15:30.250Z``; fractions of a millisecond are cut off."""
    # A conversion takes longer than all else, and the clock is in UTC.
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds")[:23] + "Z"


def millis(moment: datetime) -> int:
    """Whole milliseconds since 1970, for deadlines."""
    return int(moment.timestamp() * 1000)


def timestamp_of_millis(moment: int) -> str:
    """Milliseconds since 1970 as a shown moment."""
    seconds = datetime.fromtimestamp(moment // 1000, UTC)
    return timestamp(seconds + timedelta(milliseconds=moment % 1000))


NewId = Callable[[], str]
"""Port: a new identifier, UUID text in lower case, never returned twice."""

UUID = r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
"""A UUID, as a pattern."""

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def known_id(text: str | None) -> str:
    """The canonical form of a UUID; else empty text, which is the key of no record."""
    canonical = text.lower() if isinstance(text, str) else ""
    return canonical if _UUID.fullmatch(canonical) else ""


def uuid(value: str) -> str:
    """A UUID in lower case with hyphens. Raises ``ValueError``, as the functions of ``values``."""
    known = known_id(value)
    if not known:
        raise ValueError("must be a UUID")
    return known


class Rate(Struct, frozen=True):
    """A rate limit: at most ``most`` events within ``window`` milliseconds, which begins with the
    first event; 0 for no limit."""

    most: int
    window: int


class RateStore(Protocol):
    """Counted events, by subject."""

    async def add(
        self, subject: str, rate: Rate, now: int, *, item: str = "", force: bool = False
    ) -> int:
        """Count one more event. Returns 0 if it was counted, else the milliseconds until the next
        one is allowed.

        Checks and counts in one statement: of concurrent callers in all processes, exactly the
        number that the rate allows is counted. The window begins with the first event; the first
        one after its end begins another. An ``item`` counts once in a window; no item may be a
        substring of another. With ``force`` the event is counted regardless of the rate. A window
        that begins in the future, because the clock was set back, has ended.
        """

    async def take_back(self, subject: str) -> None:
        """Subtract one event of the subject, if there is one."""


def retrieved(work: "asyncio.Future[Any]") -> None:
    """Take note of a failure that no other task awaits, also one in the moment of a cancellation:
    asyncio reports it otherwise. Does nothing for work that has not ended."""
    if work.done() and not work.cancelled():
        work.exception()
