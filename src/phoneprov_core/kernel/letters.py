"""Letters in plain ASCII, for an index and for screens that lack them. A table of the three
alphabets that the character sets of phones cover: other scripts have no reading without a
dictionary, and a phone that lacks them cannot show them."""

# ruff: noqa: RUF001 - letters of other alphabets look like Latin ones

import unicodedata

LATIN = {
    "\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00f0": "d", "\u00fe": "th", "\u00e6": "ae",
    "\u0153": "oe", "\u0131": "i", "\u0127": "h",
}  # fmt: skip
"""Small letters that Unicode does not decompose. The search index of contacts holds their plain
form: a change needs a migration."""

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


def plain(character: str) -> str:
    """A character in ASCII: its reading in Latin letters, without accents, else ``?``."""
    small = character.lower()
    if (reading := _PLAIN.get(small)) is not None:
        return reading if small == character else reading.capitalize()
    parts = unicodedata.normalize("NFKD", character)
    if parts == character:
        return character if character.isascii() else "?"
    return "".join(plain(part) for part in parts if not unicodedata.combining(part)) or "?"
