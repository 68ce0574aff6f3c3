"""Usernames: the characters a new one may have, and when two look the same."""

import unicodedata

from phoneprov_core.kernel.errors import AlreadyExists, Problem
from phoneprov_core.users.model import folded

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})

# Rendered as nothing or as a blank, although Unicode classes them as letters, marks or symbols.
_INVISIBLE = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)


def check_new_username(name: str) -> str:
    """The name; raises ``ValueError`` with the reason why no new account can have it."""
    if any(
        character in _INVISIBLE or unicodedata.category(character) in _INVISIBLE_CATEGORIES
        for character in name
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
