"""Search in lists, by words in the identifying fields of a record and by fields that equal a value,
and the letters of all scripts in plain ASCII, for searches and for screens that lack them.

A table has the three alphabets that the character sets of phones cover: other scripts have no
reading without a dictionary, and a phone that lacks them cannot show them.
"""

# ruff: noqa: RUF001 - letters of other alphabets look like Latin ones

import re
import unicodedata
from typing import Annotated, Any

from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.fields import AnyLine, Check, schema

LATIN = {
    "\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00f0": "d", "\u00fe": "th", "\u00e6": "ae",
    "\u0153": "oe", "\u0131": "i", "\u0127": "h",
}  # fmt: skip
"""Small letters that Unicode does not decompose. What is searched holds their plain form: a change
needs a migration."""

_CYRILLIC = (
    "а a б b в v г g д d е e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts"
    " ч ch ш sh щ shch ъ  ы y ь  э e ю yu я ya є ye і i ї yi ђ dj ј j љ lj њ nj ћ c џ dz ґ g"
)
_GREEK = (
    "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch"
    " ψ ps ω o"
)
_OTHERS = "ß ss ŋ n ŧ t ĸ k ə e ‘ ' ’ ' ‚ ' “ \" ” \" „ \" – - — - ‐ - ‑ - € EUR ⁄ /"
_PAIRS = f"{_CYRILLIC} {_GREEK} {_OTHERS}"
_KEYS, _VALUES = _PAIRS.split(" ")[::2], _PAIRS.split(" ")[1::2]
_PLAIN = LATIN | dict(zip(_KEYS, _VALUES, strict=True))

_LETTERS = str.maketrans(LATIN)
_SPELLED = str.maketrans(
    {letter: reading for letter, reading in _PLAIN.items() if letter.isalpha()}
    | {
        "\u00e4": "ae",
        "\u00f6": "oe",
        "\u00fc": "ue",
        "\u00f8": "oe",
        "\u00e5": "aa",
        "\u0111": "dj",
    }
)
# A word of letters only: the digits of a MAC in a host name are no readings.
_OF_LETTERS = re.compile(r"(?<![^\W_])[^\W\d_]+(?![^\W_])")
# The readings of two letters that a plain form has as one.
_TWO_LETTERS = re.compile("a[ae]|oe|ue|dj")


def digits_as_ascii(text: str) -> str:
    """The text with the digits of every script as ``0`` to ``9``."""
    if text.isascii():
        return text
    values = (unicodedata.decimal(character, None) for character in text)
    return "".join(
        character if value is None else str(value)
        for character, value in zip(text, values, strict=True)
    )


def folded(text: str) -> str:
    """The text without case and accents: Unicode NFKD, case folding, plain Latin letters."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    text = text.translate(_LETTERS)
    return "".join(character for character in text if not unicodedata.combining(character))


def one_letter(plain_text: str) -> str:
    """A plain form in which each reading of two letters is one letter: ``mueller`` is ``muller``,
    the plain form of ``m\u00fcller``. The form of a beginning is a beginning of the form."""
    return _TWO_LETTERS.sub(lambda reading: reading[0][0], plain_text)


def spellings(text: str) -> tuple[str, ...]:
    """The plain forms by which a text is found, the first without accents only: ``M\u00fcller`` is
    ``muller`` and ``mueller``, and ``Mueller`` is ``mueller`` and ``muller``. Cyrillic and Greek
    letters are found by their Latin reading."""
    forms = [folded(text)]
    if not text.isascii():
        forms.append(folded(unicodedata.normalize("NFC", text).casefold().translate(_SPELLED)))
    forms += [_OF_LETTERS.sub(lambda word: one_letter(word[0]), form) for form in forms]
    return tuple(dict.fromkeys(forms))


def plain(character: str) -> str:
    """A character in ASCII: its reading in Latin letters, without accents, else ``?``."""
    small = character.lower()
    if (reading := _PLAIN.get(small)) is not None:
        return reading if small == character else reading.capitalize()
    parts = unicodedata.normalize("NFKD", character)
    if parts == character:
        return character if character.isascii() else "?"
    return "".join(plain(part) for part in parts if not unicodedata.combining(part)) or "?"


MOST_WORDS = 16

_SEPARATORS = str.maketrans("", "", " :-.()/")
_MAC = re.compile(
    r"(?<![0-9a-f])(?:[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){5})"
    r"|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})(?![0-9a-f])"
)
# A word in which separators are taken for the notation of a MAC address or a telephone number.
_NUMBER = re.compile(r"[0-9a-f:.()/+-]+")
_IN_GROUPS = re.compile(r"\+?[0-9a-f:.()/-]+(?: +[0-9a-f:.()/-]+)+")
_SPACED_MAC = re.compile(r"(?<![0-9a-f])[0-9a-f]{2}(?: [0-9a-f]{2}){5}(?![0-9a-f])")
_LEAST_NUMBER = 4
_DIGITS = re.compile(r"[0-9]+")
_DEVICE_NAME = re.compile(r"sep([0-9a-f]{12})")


def normalised(text: str) -> str:
    """Text without case and accents, MAC addresses as bare digits."""
    return _bare_macs(folded(digits_as_ascii(text)))


def joined(text: str) -> str:
    """A number that is written in groups, such as ``20 08``, without spaces; else an empty text."""
    return text.replace(" ", "") if _IN_GROUPS.fullmatch(normalised(text)) else ""


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
    equal the fields of ``filters``, in the order of their names; a tuple matches any of its values.

    They are listed in the order of the field ``sort``, backwards with a ``-`` before it. Without
    one, records with words are listed by ``rank``. With ``people``, a word is also found at the
    begin of a name or number that belongs to the record: the extensions of a user; the names and
    extensions of the owner of a profile; the names of the users of an extension; of a phone the
    names and numbers of its user, or of the owner of its profile, and the number of its desk.
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
        "rows with a value that begins with it"
    ),
]
Filter = Annotated[AnyLine, schema("Only rows with exactly this value")]
HasNumber = Annotated[AnyLine, schema("Only rows with this number, an active extension")]
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
    text = _SPACED_MAC.sub(lambda mac: joined(mac[0]), normalised(given.pop("q", "")))
    words = dict.fromkeys(text.split())
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
