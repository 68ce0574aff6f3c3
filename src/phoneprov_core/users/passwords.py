"""Passwords: what makes one good enough, and the port that hashes them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class PasswordPolicy(Struct, frozen=True):
    """How long a password is, and which are too common to be one.

    ``is_common`` answers whether a password is among those that are tried first.
    """

    is_common: Callable[[str], bool]
    shortest: int = 8
    longest: int = 256

    def rule(self, password: str) -> str:
        """The password; raises ``ValueError`` with a reason that never quotes it."""
        if len(password) < self.shortest:
            raise ValueError(f"must be at least {self.shortest} characters long")
        if len(password) > self.longest:
            raise ValueError(f"must be at most {self.longest} characters long")
        if any(unicodedata.category(character) in {"Cc", "Cs"} for character in password):
            raise ValueError("must not contain control characters")
        if self.is_common(password):
            raise ValueError("is among the most commonly used passwords; choose another")
        return password


class PasswordHasher(Protocol):
    """Slow hashes of passwords. The whole password counts, in Unicode form NFC.

    All methods run beside the event loop, a bounded number at a time, and raise
    ``Unavailable`` when too many wait already. Calls with ``first`` wait in a queue of their
    own, which is served before the other: strangers do not fill it.
    """

    async def hash(self, password: str, *, first: bool = True) -> str:
        """A salted hash that names its own parameters."""
        ...

    async def verify(self, password: str, hash_: str | None, *, first: bool = True) -> bool:
        """Whether the password made this hash. None stands for an account that does not
        exist: the answer is False and takes the same time."""
        ...

    def is_outdated(self, hash_: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        ...
