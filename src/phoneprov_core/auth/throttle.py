"""How often a password may be guessed: pure counting, by account.

A guess is counted before the password is looked at, so that guesses made side by side count
too; a right one clears the count.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from phoneprov_core.users.model import folded

GUESSES = 5
WINDOW = 15 * 60 * 1000
FIRST_WAIT = 30 * 1000
LONGEST_WAIT = 15 * 60 * 1000


class Attempts(Struct, frozen=True):
    """The guesses counted for one account. Times are milliseconds since 1970."""

    failures: int = 0
    first_at: int = 0
    last_at: int = 0
    locked_until: int = 0

    def wait(self, now: int) -> int:
        """Whole seconds until the next guess is allowed; 0 when it is allowed now."""
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
            return Attempts(1, now, now, 0)
        failures = self.failures + 1
        locked_until = 0
        if failures >= GUESSES:
            doublings = min(failures - GUESSES, 16)
            locked_until = now + min(FIRST_WAIT << doublings, LONGEST_WAIT)
        return Attempts(failures, self.first_at, now, locked_until)


def account_key(username: str) -> str:
    """What guesses are counted by. Unknown names count like known ones, and are kept as a
    digest, for people type passwords into the wrong field."""
    return hashlib.sha256(folded(username).encode("utf-8", "surrogatepass")).hexdigest()
