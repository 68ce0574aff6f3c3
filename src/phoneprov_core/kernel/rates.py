"""Rate limits: a number of events within a window of time, counted in the database."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class Rate(Struct, frozen=True):
    """At most ``most`` events within ``window`` milliseconds, counted from the first of them;
    0 for no limit."""

    most: int
    window: int


class RateStore(Protocol):
    """Counted events, by subject."""

    async def add(
        self, subject: str, rate: Rate, now: int, *, item: str = "", force: bool = False
    ) -> int:
        """Count one more event: 0 if it was counted, else the milliseconds until the next one
        can be.

        Checked and counted in one statement: of any number of concurrent callers, in any number
        of processes, exactly those that the rate allows are counted. The window begins with the
        first event; the first one after its end begins another. An ``item`` counts once a
        window; no item may be a part of another. With ``force`` the event is counted whatever
        the rate says. A window that begins in the future, for the clock was set back, is over.
        """
        ...

    async def take_back(self, subject: str) -> None:
        """Count one event of the subject less, if there is one."""
        ...
