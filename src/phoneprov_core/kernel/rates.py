"""Rate limits: a number of events within a window of time, counted in the database."""

from typing import Protocol

from msgspec import Struct


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
