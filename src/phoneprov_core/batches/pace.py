"""So many a minute."""

from __future__ import annotations

from datetime import datetime, timedelta

from phoneprov_core.kernel.times import Clock

_LAG = timedelta(seconds=0.1)
"""Whoever looks a little late may make up for it, so that looking costs no speed."""


class Pace:
    """When the next phone may be begun: they follow each other at an even distance, so that
    never more than ``per_minute`` are begun in a minute; None is no limit."""

    def __init__(self, per_minute: int | None, clock: Clock) -> None:
        self._distance = None if per_minute is None else timedelta(minutes=1) / per_minute
        self._clock = clock
        self._next: datetime = clock()

    def allowed(self, most: int) -> int:
        """How many may be begun now, at most ``most``."""
        if self._distance is None:
            return most
        self._next = max(self._next, self._clock() - _LAG)
        late = self._clock() - self._next
        return 0 if late < timedelta() else min(most, late // self._distance + 1)

    def began(self, count: int) -> None:
        """So many were begun."""
        if self._distance is not None:
            self._next += count * self._distance

    def seconds(self, most: float) -> float:
        """How long until another may be begun, at most ``most``."""
        if self._distance is None:
            return most
        return min(most, max(0.0, (self._next - self._clock()).total_seconds()))
