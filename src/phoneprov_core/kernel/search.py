"""Search in lists: words in the identifying fields of a record, and fields that equal a value."""

import re
from typing import Annotated, Any

from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.fields import AnyLine, Check, schema
from phoneprov_core.kernel.letters import digits_as_ascii, folded, spellings

MOST_WORDS = 16

_SEPARATORS = str.maketrans("", "", " :-.()/")
_MAC = re.compile(
    r"(?<![0-9a-f])(?:[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){5})"
    r"|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})(?![0-9a-f])"
)
# A word in which separators are taken for the notation of a MAC address or a telephone number.
_NUMBER = re.compile(r"[0-9a-f:.()/+-]+")
_LEAST_NUMBER = 4
_DIGITS = re.compile(r"[0-9]+")
_DEVICE_NAME = re.compile(r"sep([0-9a-f]{12})")


def normalised(text: str) -> str:
    """Text without case and accents, MAC addresses as bare digits."""
    return _bare_macs(folded(digits_as_ascii(text)))


def _bare_macs(text: str) -> str:
    return _MAC.sub(lambda mac: mac[0].translate(_SEPARATORS), text)


class SearchFields(Struct, frozen=True):
    """The fields of a record in which words are found. ``numbers`` are MAC addresses and telephone
    numbers, which are found in any notation. If there are ``labels``, a number of up to three
    digits is found only as a whole number in one of them: "42" in "Desk 42", not in a MAC."""

    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def text(self, record: object) -> str:
        """What is searched of a record, one line for each value."""
        lines = [
            _bare_macs(form)
            for value in self._values(record, self.texts)
            for form in spellings(value)
        ]
        short = [
            number
            for value in self._values(record, self.labels)
            for digits in _DIGITS.findall(value)
            if len(digits) < _LEAST_NUMBER
            for number in dict.fromkeys((digits, digits.lstrip("0")))
        ]
        if short:
            lines.append("".join(f"#{number} " for number in short))
        for value in self._values(record, self.numbers):
            line = normalised(value)
            bare = line.translate(_SEPARATORS)
            lines += [line] if bare == line else [line, bare]
        return "\n".join(lines)

    def notations(self, word: "Word") -> "Word":
        """What is looked for in that text to find a word."""
        is_short = self.labels and len(word[0]) < _LEAST_NUMBER and word[0].isdecimal()
        return (f"#{word[0]} ",) if is_short else word

    def _values(self, record: object, names: tuple[str, ...]) -> list[str]:
        return [value for name in names if (value := getattr(record, name))]


Word = tuple[str, ...]
"""The notations of one word, normalised; one of them is to be found."""


class Search(Struct, frozen=True):
    """The records in which every word is found, in any of the searched fields, and whose fields
    equal those of ``filters``, in the order of their names; a tuple stands for each of its values.

    They are listed in the order of the field ``sort``, backwards with a ``-`` before it. Without
    one, records with words are listed by ``rank``. With ``people``, a phone is also found by a user
    who is logged in there or whose profile it has, and by the extensions of such a user, by a name
    or number that begins with the word.
    """

    words: tuple[Word, ...] = ()
    filters: tuple[tuple[str, Any], ...] = ()
    sort: str | None = None
    people: bool = False

    @property
    def phrases(self) -> tuple[str, ...]:
        """The words together, in the notations of a single word."""
        return self.words[0] if len(self.words) == 1 else (" ".join(w[0] for w in self.words),)

    def rank(self, text: str) -> int:
        """0 for a searched text with a line that is the phrase, 1 if a line begins with it, else
        2. One word with ``people`` may be a user's number, which is inside many MAC addresses: then
        3 for a text that has it elsewhere."""
        lines = f"\n{text}\n"
        if any(f"\n{phrase}\n" in lines for phrase in self.phrases):
            return 0
        if any(f"\n{phrase}" in lines for phrase in self.phrases):
            return 1
        finds_users = self.people and len(self.words) == 1
        return 3 if finds_users and any(phrase in text for phrase in self.phrases) else 2


def _query(value: str) -> str:
    value = values.text(value)
    if len(value.split()) > MOST_WORDS:
        raise ValueError(f"must have at most {MOST_WORDS} words")
    return value


Query = Annotated[
    AnyLine,
    Check(_query),
    schema(
        "Words that a row contains, in any of its identifying fields, as parts of longer words "
        f"too, at most {MOST_WORDS}. Case and accents are ignored, and Müller is found as "
        "mueller, too; MAC addresses and telephone "
        "numbers are found in any notation. Rows with a value that is the text come first, then "
        "those with a value that begins with it"
    ),
]
Filter = Annotated[AnyLine, schema("Only rows with exactly this value")]
Whether = Annotated[bool, schema("Only rows with this value")]
ORDER = schema(
    "Order by this field, with a `-` backwards; otherwise the oldest first, or the best match"
)
"""Of a command's field ``sort``. Sorting ignores case."""


def search_for(wanted: Struct | None) -> Search | None:
    """The search that a command asks for: ``q`` is its words, every other field that is not None
    is a filter. None for all records."""
    if wanted is None:
        return None
    given = {
        name: value
        for name in sorted(wanted.__struct_fields__)
        if (value := getattr(wanted, name)) is not None
    }
    words = dict.fromkeys(normalised(given.pop("q", "")).split())
    sort = given.pop("sort", None)
    if not words and not given and sort is None:
        return None
    return Search(tuple(_notations(word) for word in words), tuple(given.items()), sort)


def _notations(word: str) -> Word:
    device = _DEVICE_NAME.fullmatch(word)
    if device:
        return word, device[1]
    bare = word.translate(_SEPARATORS)
    if bare in {"", word} or not _NUMBER.fullmatch(word):
        return (word,)
    if ":" in word or len(bare) >= _LEAST_NUMBER:
        return word, bare
    return (word,)
