"""Letters in plain ASCII, for searches and for screens that lack them. A table of the three
alphabets that the character sets of phones cover: other scripts have no reading without a
dictionary, and a phone that lacks them cannot show them."""

# ruff: noqa: RUF001 - letters of other alphabets look like Latin ones

import re
import unicodedata

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


# A character has at most four code points in decomposed form.
_LONGEST_TYPED = 4 * 255


def caseless(text: str) -> str:
    """The form in which names are compared: Unicode's canonical caseless matching (D145). A text
    that is too long is returned as it is: it could take minutes."""
    if len(text) > _LONGEST_TYPED:
        return text
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


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
