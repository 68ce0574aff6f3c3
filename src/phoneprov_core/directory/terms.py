"""Searching contacts: by the beginning of a word of the name, or by digits of a number.

Each contact has terms: its whole name, the words of its name, the pairs of its words, and every
end of the digits of its numbers. A search is a range of terms, so that its cost follows what it
finds, not the size of the directory. A search for two words is a range of pairs: many contacts can
have each of the words, and few of them both.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable

from msgspec import Struct

from phoneprov_core.directory.model import CompanyContact
from phoneprov_core.kernel.letters import LATIN

PAGE = 32
"""Contacts that a search reads at a time, and one more to know whether there are others."""

LONGEST_TERM = 64
_MOST_WORDS = 3
_LONGEST_DIGITS = 24

# The letter before a term keeps the kinds apart.
NAME, _WORD, _PAIR, _DIGITS = "n", "w", "p", "d"

# A pair begins with 1 to 4 letters of the first word, so that a beginning of both is a range.
_PAIR_LETTERS = 4
_MOST_PAIRED = 8

_WORDS = re.compile(r"[^\W_]+")
_LETTERS = str.maketrans(LATIN)
_DIGIT_VALUES = re.compile(r"[0-9]")

LAST = "\U0010ffff"
"""Sorts after every text that begins like a term."""


class TermSearch(Struct, frozen=True):
    """What is searched for, as beginnings of terms: a contact matches if it has a term for each
    of them. Few contacts match the first."""

    prefixes: tuple[str, ...]

    @property
    def is_everyone(self) -> bool:
        """Whether every active contact matches, by its one term for the whole name."""
        return self.prefixes == (NAME,)


def searched(name: str = "", number: str = "") -> TermSearch | None:
    """The search for words of a name and digits of a number; both empty finds every contact, by
    name. None if what was typed can match no contact."""
    digits = "".join(_DIGIT_VALUES.findall(number))[:_LONGEST_DIGITS]
    words = _words(name)
    if (name.strip() and not words) or (number.strip() and not digits):
        return None
    # A word that another one begins with says nothing more.
    words = [one for one in dict.fromkeys(words) if not _is_beginning(one, words)]
    by_length = sorted(words, key=len, reverse=True)[:_MOST_WORDS]
    prefixes = [_DIGITS + digits] if digits else []
    if len(by_length) < 2:
        prefixes += [_WORD + word for word in by_length]
    else:
        second, first, *others = by_length
        letters = min(len(first), _PAIR_LETTERS)
        pair = [_pair(first, second, letters)]
        pair += [_WORD + word for word in ((first, *others) if letters < len(first) else others)]
        # A few digits are in more numbers than a pair is in names.
        prefixes = prefixes + pair if len(digits) >= _PAIR_LETTERS else pair + prefixes
    return TermSearch(tuple(prefixes) or (NAME,))


class FoundContact(Struct, frozen=True):
    """The fields of a contact that a search returns."""

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
    terms.add((NAME + (" ".join(words) or folded(contact.name)))[:LONGEST_TERM])
    paired = list(dict.fromkeys(words))[:_MOST_PAIRED]
    terms.update(
        _pair(first, second, letters)
        for first, second in itertools.permutations(paired, 2)
        for letters in range(1, min(len(first), _PAIR_LETTERS) + 1)
    )
    for number in (contact.work, contact.mobile, contact.home):
        digits = "".join(_DIGIT_VALUES.findall(number or ""))[:_LONGEST_DIGITS]
        terms.update(_DIGITS + digits[start:] for start in range(len(digits)))
    return frozenset(terms)


def _pair(first: str, second: str, letters: int) -> str:
    return f"{_PAIR}{letters}{first[:letters]} {second}"[:LONGEST_TERM]


def _is_beginning(word: str, words: Iterable[str]) -> bool:
    return any(other.startswith(word) for other in words if other != word)


def folded(text: str) -> str:
    """The text without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold()).casefold().translate(_LETTERS)
    return "".join(c for c in plain if not unicodedata.combining(c))


def _words(text: str) -> list[str]:
    # What is typed on a phone is short; the names of contacts are at most 255 characters.
    return [word[: LONGEST_TERM - 1] for word in _WORDS.findall(folded(text[:255]))]
