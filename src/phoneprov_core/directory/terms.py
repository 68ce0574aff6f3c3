"""Searching contacts: by the beginning of a word of the name, or by digits of a number.

Each contact has terms: its whole name, the words of its name, and every end of the digits of
its numbers. A search is a range of terms, so that its cost follows what it finds, not the size
of the directory.
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from phoneprov_core.directory.model import CompanyContact

PAGE = 32
"""Contacts that a search reads at a time, and one more to know whether there are others."""

LONGEST_TERM = 64
_MOST_WORDS = 3
_LONGEST_DIGITS = 24

# The letter before a term keeps the kinds apart.
_NAME, _WORD, _DIGITS = "n", "w", "d"

_WORDS = re.compile(r"[^\W_]+")
# Letters that Unicode does not decompose.
_LETTERS = str.maketrans(
    {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00f0": "d", "\u00fe": "th", "\u00e6": "ae",
     "\u0153": "oe", "\u0131": "i", "\u0127": "h"}
)  # fmt: skip
_DIGIT_VALUES = re.compile(r"[0-9]")

LAST = "\U0010ffff"
"""Sorts after every text that begins like a term."""


class TermSearch(Struct, frozen=True):
    """What is searched for, as beginnings of terms: a contact matches if it has a term for each
    of them. The first says the order."""

    prefixes: tuple[str, ...]

    @property
    def is_everyone(self) -> bool:
        """Whether every active contact matches, by its one term for the whole name."""
        return self.prefixes == (_NAME,)


def searched(name: str = "", number: str = "") -> TermSearch | None:
    """The search for words of a name and digits of a number; both empty finds every contact, by
    name. None if what was typed can match no contact."""
    digits = "".join(_DIGIT_VALUES.findall(number))[:_LONGEST_DIGITS]
    words = _words(name)
    if (name.strip() and not words) or (number.strip() and not digits):
        return None
    by_length = sorted(dict.fromkeys(words), key=len, reverse=True)[:_MOST_WORDS]
    prefixes = [_DIGITS + digits] if digits else []
    prefixes += [_WORD + word for word in by_length]
    return TermSearch(tuple(prefixes) or (_NAME,))


class FoundContact(Struct, frozen=True):
    """What a search tells of a contact."""

    uuid: str
    name: str
    work: str | None
    mobile: str | None
    home: str | None


def terms_of(contact: CompanyContact) -> frozenset[str]:
    """The terms of a contact; none while it is not active."""
    if not contact.is_active:
        return frozenset()
    words = _words(contact.name)
    terms = {_WORD + word for word in words}
    terms.add((_NAME + (" ".join(words) or folded(contact.name)))[:LONGEST_TERM])
    for number in (contact.work, contact.mobile, contact.home):
        digits = "".join(_DIGIT_VALUES.findall(number or ""))[:_LONGEST_DIGITS]
        terms.update(_DIGITS + digits[start:] for start in range(len(digits)))
    return frozenset(terms)


def first_match(terms: frozenset[str], prefix: str) -> str | None:
    """The smallest of the terms that begins like this, in the order of code points."""
    return min((term for term in terms if term.startswith(prefix)), default=None)


def folded(text: str) -> str:
    """The text without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold()).casefold().translate(_LETTERS)
    return "".join(c for c in plain if not unicodedata.combining(c))


def _words(text: str) -> list[str]:
    # What is typed on a phone is short; the names of contacts are at most 255 characters.
    return [word[: LONGEST_TERM - 1] for word in _WORDS.findall(folded(text[:255]))]
