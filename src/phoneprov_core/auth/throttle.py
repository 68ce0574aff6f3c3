"""How often a password may be guessed: pure counting, by account.

A guess is counted as a failure before the password is looked at, so that guesses made side by
side count too, and it is undecided until it is known to be wrong. A right one clears the count.
"""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from phoneprov_core.users.model import folded

GUESSES = 5
WINDOW = 15 * 60 * 1000
FIRST_WAIT = 30 * 1000
LONGEST_WAIT = 15 * 60 * 1000

LARGEST_SKEW = 60 * 1000
"""A last guess further in the future than this shows that the clock was set back. Clocks of
hosts differ by less."""

LONGEST_LOOK = 5 * 1000
"""How long looking at a guess may take. One that is undecided for longer was cut off."""


class Attempts(Struct, frozen=True):
    """The guesses counted for one account; so many of the failures are ``undecided``. Times
    are milliseconds since 1970."""

    failures: int = 0
    first_at: int = 0
    last_at: int = 0
    locked_until: int = 0
    undecided: int = 0

    def wait(self, now: int) -> int:
        """Whole seconds until the next guess is allowed; 0 when it is allowed now, and when
        the clock was set back since."""
        if now < self.last_at - LARGEST_SKEW:
            return 0
        return -((now - self.locked_until) // 1000) if now < self.locked_until else 0

    def counted(self, now: int) -> Attempts:
        """The count after one more guess, which was allowed.

        Five within a quarter of an hour close the account's login for 30 seconds, every
        further one for twice as long as the one before, up to a quarter of an hour. A
        quarter of an hour without any guess forgets them all.
        """
        forgotten = now > max(self.last_at, self.locked_until) + WINDOW
        window_over = self.failures < GUESSES and now > self.first_at + WINDOW
        if forgotten or window_over:
            return Attempts(1, now, now, 0, 1)
        failures = self.failures + 1
        locked_until = 0
        if failures >= GUESSES:
            doublings = min(failures - GUESSES, 16)
            locked_until = now + min(FIRST_WAIT << doublings, LONGEST_WAIT)
        return Attempts(failures, self.first_at, now, locked_until, self.undecided + 1)

    def is_undecided(self, now: int) -> bool:
        """Whether a guess is still being looked at, and may yet turn out to be right."""
        age = now - self.last_at
        return self.undecided > 0 and -LARGEST_SKEW <= age < LONGEST_LOOK

    def decided(self) -> Attempts:
        """The count when one more guess is known to be wrong."""
        return msgspec.structs.replace(self, undecided=max(0, self.undecided - 1))

    def taken_back(self) -> Attempts:
        """The count without one guess, which was not looked at after all. Had it closed the
        login, the login is open again."""
        return msgspec.structs.replace(
            self.decided(), failures=max(0, self.failures - 1), locked_until=0
        )


def account_key(username: str) -> str:
    """What guesses are counted by. Unknown names count like known ones, and are kept as a
    digest, for people type passwords into the wrong field."""
    return hashlib.sha256(folded(username).encode("utf-8", "surrogatepass")).hexdigest()
