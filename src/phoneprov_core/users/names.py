"""Usernames: the characters a new one may have, and when two look the same."""

import unicodedata

from phoneprov_core.kernel import values
from phoneprov_core.kernel.errors import AlreadyExists, Problem
from phoneprov_core.users.model import folded

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
