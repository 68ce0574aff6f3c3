"""Limits on guessing passwords and PINs: counting by account, by phone and by client address.

A guess is counted as a failure before the password is checked, so that concurrent guesses
count too, and it is undecided until the password is known to be wrong. A right password clears
the count. A guess whose check was interrupted is not counted.
"""

import asyncio
import hashlib
import math
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.errors import TooManyAttempts
from phoneprov_core.kernel.ports import Clock, Rate, RateStore
from phoneprov_core.kernel.values import (
    address_key,
    caseless,
    millis,
)

GUESSES = 5
WINDOW = 15 * 60 * 1000
FIRST_WAIT = 30 * 1000
LONGEST_WAIT = 15 * 60 * 1000

GUESSES_PER_ADDRESS = 200
"""Failures from one client address within ``WINDOW``."""

MOST_IN_A_ROW = 100
"""Number of failures in a row that lock an account."""

REST = 6 * 3600 * 1000

RECENT = 30 * 24 * 3600 * 1000
"""How long an address counts as known to an account after a login from it."""

KEPT_UNKNOWN = 24 * 3600 * 1000
"""How long guesses at a name without an account are kept."""

LONGEST_LOOK = 5 * 1000
"""Maximum duration of checking a guess. A guess that is undecided for longer was interrupted; its
client did not get a result."""

SKEW = 60 * 1000
"""Maximum difference of clocks. A time further in the future was stored before a clock was set
back."""

REFUSAL_PAUSE = 0.5
"""Seconds before the refusal of an address is sent: a flood that waits for its responses is slowed
down, and leaves the processor to other logins."""

_MOST_REFUSED = 10_000
"""Maximum number of refused addresses that are kept."""


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
        for twice as long as the failure before, up to 15 minutes. 15 minutes without a guess reset
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
        return replace(
            self,
            failures=failures,
            last_at=now,
            locked_until=locked_until,
            undecided=self.undecided + 1,
            in_a_row=self.in_a_row + 1,
        )

    def rested(self, now: int) -> Self:
        """The count of a phone before another guess. A right PIN does not clear this count.
        Instead, it is reduced by one failure in a row for each ``REST`` without a guess; otherwise
        the mistakes of years would lock a phone that is used every day."""
        rests = max(0, now - self.last_at) // REST
        return replace(self, in_a_row=max(0, self.in_a_row - rests))

    def is_undecided(self, now: int) -> bool:
        """Whether a guess is still being checked, and may be right."""
        return self.undecided > 0 and now < self.last_at + LONGEST_LOOK

    def settled(self, now: int) -> Self:
        """The count without guesses that were interrupted, as by a crash of the service."""
        if not self.undecided or self.is_undecided(now):
            return self
        return self._without(self.undecided)

    def decided(self, now: int, *, known: bool = False) -> Self:
        """The count after one more guess was found wrong; ``known``: for an existing account. The
        guess is counted again if it was taken for interrupted, or was cleared by a right guess."""
        count = self if self.undecided else self.counted(now)
        return replace(count, undecided=count.undecided - 1, known=max(count.known, int(known)))

    def taken_back(self) -> Self:
        """The count without one guess that was right or was not checked."""
        return self._without(min(1, self.undecided))

    def _without(self, guesses: int) -> Self:
        """The count without some undecided guesses. The login is open, as it was before them."""
        return replace(
            self,
            failures=max(0, self.failures - guesses),
            locked_until=0 if guesses else self.locked_until,
            undecided=self.undecided - guesses,
            in_a_row=max(0, self.in_a_row - guesses),
        )


WRONG_TOKENS = 20
"""Wrong service tokens from one client address within ``WINDOW``."""


class TokenLimit:
    """Counts wrong service tokens by client address, in this process. After ``WRONG_TOKENS`` none
    is compared until the window of the address is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: dict[str, tuple[int, int]] = {}

    def is_closed(self, ip: str) -> bool:
        """Whether no token of this address is compared now."""
        return bool(self._wrong) and self._count(address_key(ip))[1] >= WRONG_TOKENS

    def count(self, ip: str) -> None:
        """Count a wrong token. At most 10,000 addresses are kept; the oldest is removed."""
        key = address_key(ip)
        since, wrong = self._count(key)
        if key not in self._wrong and len(self._wrong) >= _MOST_REFUSED:
            del self._wrong[next(iter(self._wrong))]
        self._wrong[key] = since, wrong + 1

    def _count(self, key: str) -> tuple[int, int]:
        now = millis(self._clock())
        since, wrong = self._wrong.get(key, (now, 0))
        return (since, wrong) if 0 <= now - since < WINDOW else (now, 0)


class AddressLimit:
    """At most ``most`` failures of one ``kind`` from a client address in 15 minutes, 0 for no
    limit.

    A guess is counted before it is checked, and subtracted if it was right. An address that was
    refused is refused again for up to ``again`` milliseconds without a write: writes wait for each
    other, and a flood from one address would delay the logins of all others by seconds.
    """

    def __init__(self, kind: str, most: int, clock: Clock, *, again: int = 1000) -> None:
        self._kind = kind
        self._rate = Rate(most, WINDOW)
        self._clock = clock
        self._again = again
        self._refused: dict[str, tuple[int, int]] = {}

    async def wait(self, ip: str) -> int:
        """0, or milliseconds until the next guess if the address was just refused; pauses then."""
        key = address_key(ip)
        if key not in self._refused:
            return 0
        since, wait = self._refused[key]
        passed = millis(self._clock()) - since
        if 0 <= passed < min(self._again, wait):
            await asyncio.sleep(REFUSAL_PAUSE)
            return wait - passed
        self._refused.pop(key, None)
        return 0

    async def count(self, rates: RateStore, ip: str, *, force: bool = False) -> int:
        """Count a guess: 0, or the milliseconds until the next if refused (not with ``force``)."""
        now = millis(self._clock())
        wait = await rates.add(self._subject(ip), self._rate, now, force=force)
        if wait:
            if len(self._refused) >= _MOST_REFUSED:
                self._refused.clear()
            self._refused[address_key(ip)] = now, wait
        return wait

    async def take_back(self, rates: RateStore, ip: str) -> None:
        """Do not count a guess that was right or was not checked."""
        await rates.take_back(self._subject(ip))

    def _subject(self, ip: str) -> str:
        return f"{self._kind} {address_key(ip)}"


def account_key(username: str, address: str = "") -> str:
    """The key that guesses at a name are counted under; guesses from an ``address`` that the
    account recently logged in from count apart. It is a digest, and unknown names count like known
    ones: users enter passwords into the wrong field."""
    counted = f"{caseless(username)}\n{address}" if address else caseless(username)
    return hashlib.sha256(counted.encode("utf-8", "surrogatepass")).hexdigest()


def login_closed(seconds: int) -> TooManyAttempts:
    """The login of an account is closed."""
    return TooManyAttempts(
        f"Too many failed logins; try again in {seconds} seconds.", retry_after=seconds
    )


def address_closed(wait: int) -> TooManyAttempts:
    """Logins from a client address are closed for ``wait`` milliseconds."""
    seconds = math.ceil(wait / 1000)
    return TooManyAttempts(
        f"Too many failed logins from this address; try again in {seconds} seconds.",
        retry_after=seconds,
    )
