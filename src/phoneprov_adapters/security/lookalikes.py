"""Names that look the same: the skeletons of Unicode Technical Standard 39."""

import unicodedata
from functools import cache
from importlib.resources import files

import msgspec

# The data wraps characters of right-to-left scripts in this mark.
_LEFT_TO_RIGHT_MARK = "\u200e"


def looks(name: str) -> frozenset[str]:
    """The keys of a name: two names look the same if they share one.

    A skeleton maps each character to its prototype. Case is folded before it in one key and
    after it in the other: ``PaypaI`` with a capital i looks like ``paypal``, and ``ADMIN`` in
    Cyrillic letters like ``admin``.
    """
    name = unicodedata.normalize("NFKC", name)
    return frozenset({_skeleton(name.casefold()), _skeleton(_skeleton(name).casefold())})


def _skeleton(text: str) -> str:
    prototypes = load()
    plain = unicodedata.normalize("NFD", text)
    mapped = "".join(prototypes.get(character, character) for character in plain)
    return unicodedata.normalize("NFD", mapped)


@cache
def load() -> dict[str, str]:
    """The prototype of each confusable character; read once, and cached (1 MB).

    The package lists each pair in both directions. A character with one partner is mapped to
    it; of two that have only each other, one is the prototype of both.

    """
    data = files("confusable_homoglyphs").joinpath("confusables.json").read_bytes()
    pairs = {
        _bare(one): [_bare(partner["c"]) for partner in partners]
        for one, partners in msgspec.json.decode(data, type=dict[str, list[dict[str, str]]]).items()
    }
    prototypes = {}
    for one, partners in pairs.items():
        if len(one) == 1 and len(partners) == 1:
            (partner,) = partners
            mutual = len(partner) == 1 and pairs.get(partner) == [one]
            prototypes[one] = min(one, partner) if mutual else partner
    return prototypes


def _bare(text: str) -> str:
    return text.replace(_LEFT_TO_RIGHT_MARK, "") or text
