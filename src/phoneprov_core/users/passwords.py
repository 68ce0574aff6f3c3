"""The rules for usernames and passwords, and the port that hashes passwords."""

import unicodedata
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Rules, wrong
from phoneprov_core.kernel.errors import AlreadyExists, Problem
from phoneprov_core.users.model import folded

SERVICE = "phoneprov"
LEAST_LEFT = 4
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def check_new_username(name: str) -> str:
    """The name; raises ``ValueError`` with the reason why no new account can have it."""
    if values.INVISIBLE.search(name) or any(
        unicodedata.category(character) in _INVISIBLE for character in name
    ):
        raise ValueError("must not contain invisible characters")
    if name != unicodedata.normalize("NFKC", name):
        raise ValueError("must not contain compatibility characters, such as full-width letters")
    if any(character.isspace() and character != " " for character in name):
        raise ValueError("must not contain blanks other than spaces")
    if name != name.strip(" ") or "  " in name:
        raise ValueError("must not begin or end with a space, or contain two in a row")
    return name


def looks_alike() -> AlreadyExists:
    """The conflict of a username that looks like another account's."""
    problem = Problem("username", "looks like one that is already in use")
    return AlreadyExists(
        "This username looks like one that is already in use.", problems=(problem,)
    )


def plain_looks(name: str) -> frozenset[str]:
    """The form of a name for comparing looks, regarding case and compatibility forms."""
    return frozenset({folded(unicodedata.normalize("NFKC", name))})


class AccountPolicy(Struct, frozen=True):
    """The usernames and passwords that an account may have. ``is_common`` returns whether a
    password is commonly used. ``looks`` returns the keys of a name: two names look the same if they
    share one."""

    is_common: Callable[[str], bool]
    shortest: int = 8
    longest: int = 256
    looks: Callable[[str], frozenset[str]] = plain_looks

    @property
    def rules(self) -> Rules:
        """The rules of an account that exists."""
        return {"password": self.rule}

    @property
    def rules_of_new(self) -> Rules:
        """The rules of a new account."""
        return {"password": self.rule, "username": check_new_username}

    def rule(self, password: str) -> str:
        """The password; raises ``ValueError`` with a reason that never quotes it."""
        if len(password) < self.shortest:
            raise ValueError(f"must be at least {self.shortest} characters long")
        if len(password) > self.longest:
            raise ValueError(f"must be at most {self.longest} characters long")
        if any(unicodedata.category(character) in {"Cc", "Cs"} for character in password):
            raise ValueError("must not contain control characters")
        if not password.strip():
            raise ValueError("must not be blank")
        if len(set(unicodedata.normalize("NFC", password))) == 1:
            raise ValueError("must not repeat one character")
        if self.is_common(password):
            raise ValueError("is among the most commonly used passwords; choose another")
        return password

    def require_own(self, password: str, username: str, email: str) -> None:
        """Raises ``Invalid`` for a password of little more than the account's or service's name."""
        left = _caseless(password)
        names = {_caseless(name) for name in (username, email.rpartition("@")[0], SERVICE)}
        for name in sorted(names - {""}, key=len, reverse=True):
            left = left.replace(name, "")
        if len(left) < LEAST_LEFT:
            message = "must not consist of the username, the e-mail address or the service name"
            raise wrong("password", message)


def _caseless(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


class PasswordHasher(Protocol):
    """Slow hashes of passwords. The whole password counts, in Unicode form NFC.

    All methods run in threads, a bounded number at a time, and raise ``Unavailable`` if too many
    calls wait, or if a verification waited for more than 4 seconds. Calls with ``first`` wait in a
    separate queue that is served first, so that unknown callers cannot fill it. Both queues are
    served before that of PINs.
    """

    async def hash(self, password: str, *, first: bool = True) -> str:
        """A salted hash that contains its parameters."""

    async def verify(self, password: str, hash_: str | None, *, first: bool = True) -> bool:
        """Whether the password matches this hash. None stands for an account that does not exist:
        the result is False and takes the same time."""

    def is_outdated(self, hash_: str) -> bool:
        """Whether the hash was made with other parameters than the current ones."""
