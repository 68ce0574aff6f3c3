"""Limits on guessing passwords: pure counting, by account and by client address.

A guess is counted as a failure before the password is checked, so that concurrent guesses
count too, and it is undecided until the password is known to be wrong. A right password clears
the count.
"""

import ipaddress
from typing import Self

import msgspec
from msgspec import Struct

GUESSES = 5
WINDOW = 15 * 60 * 1000
FIRST_WAIT = 30 * 1000
LONGEST_WAIT = 15 * 60 * 1000

GUESSES_PER_ADDRESS = 200
"""Failures from one client address within ``WINDOW``."""

MOST_IN_A_ROW = 100
"""Number of failures in a row that lock an account."""

RECENT = 30 * 24 * 3600 * 1000
"""How long an address counts as known to an account after a login from it."""

KEPT_UNKNOWN = 24 * 3600 * 1000
"""How long guesses at a name without an account are kept."""

LONGEST_LOOK = 5 * 1000
"""Maximum duration of checking a guess. One that is undecided for longer was interrupted."""

SKEW = 60 * 1000
"""Maximum difference between clocks of hosts. A time further in the future was written before the
clock was set back."""


class Attempts(Struct, frozen=True):
    """The guesses counted for one account name; ``undecided`` of the failures may still be right.
    Only a right or a new password resets ``in_a_row``. ``known`` is 1 if an account of this name
    exists. Times are milliseconds since 1970."""

    failures: int = 0
    first_at: int = 0
    last_at: int = 0
    locked_until: int = 0
    undecided: int = 0
    in_a_row: int = 0
    known: int = 0

    def wait(self, now: int) -> int:
        """Whole seconds until the next guess is allowed; 0 when it is allowed now."""
        if not now < self.locked_until <= now + LONGEST_WAIT + SKEW:
            return 0
        return -((now - self.locked_until) // 1000)

    @property
    def is_locked(self) -> bool:
        """Whether only a known address may guess, until a right or a new password."""
        return self.in_a_row >= MOST_IN_A_ROW

    def counted(self, now: int) -> Self:
        """The count after one more guess that was allowed.

        Five failures within 15 minutes close the account's login for 30 seconds, every further one
        for twice as long as the one before, up to 15 minutes. 15 minutes without a guess reset
        this, but not the count of failures in a row.
        """
        forgotten = now > max(self.last_at, self.locked_until) + WINDOW
        window_over = self.failures < GUESSES and now > self.first_at + WINDOW
        if forgotten or window_over or self.last_at > now + SKEW:
            return type(self)(1, now, now, 0, 1, self.in_a_row + 1, self.known)
        failures = self.failures + 1
        locked_until = 0
        if failures >= GUESSES:
            doublings = min(failures - GUESSES, 16)
            locked_until = now + min(FIRST_WAIT << doublings, LONGEST_WAIT)
        return msgspec.structs.replace(
            self,
            failures=failures,
            last_at=now,
            locked_until=locked_until,
            undecided=self.undecided + 1,
            in_a_row=self.in_a_row + 1,
        )

    def is_undecided(self, now: int) -> bool:
        """Whether a guess is still being checked, and may be right."""
        return self.undecided > 0 and now < self.last_at + LONGEST_LOOK

    def decided(self, *, known: bool = False) -> Self:
        """The count after one more guess was found wrong; ``known``: for an existing account."""
        return msgspec.structs.replace(
            self, undecided=max(0, self.undecided - 1), known=max(self.known, int(known))
        )

    def taken_back(self) -> Self:
        """The count without one guess that was not checked. If it closed the login, the login is
        open again."""
        return msgspec.structs.replace(
            self.decided(),
            failures=max(0, self.failures - 1),
            in_a_row=max(0, self.in_a_row - 1),
            locked_until=0,
        )


def address_key(ip: str) -> str:
    """The key that guesses from a client address are counted under: an IPv4 address, or the /64
    network of an IPv6 address, all of which one client can use."""
    address = ipaddress.ip_address(ip)
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address.packed, 64), strict=False))
