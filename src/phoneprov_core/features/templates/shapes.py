"""The shape of a configuration: its text as tokens, without the texts that may be values."""

import re
from collections import Counter
from contextlib import suppress
from typing import NamedTuple

from phoneprov_core.inventory.profiles.model import LONGEST_VALUE
from phoneprov_core.kernel import values

_PIECE = re.compile(
    r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+""", re.DOTALL
)
_ATTRIBUTE = re.compile(r"""(\s([\w:.-]+)\s*=\s*)(?:"([^"]*)"|'([^']*)')""")
_POSITION = re.compile(r"(?:button|lineindex|index|idx|position|priority)", re.IGNORECASE)
_SMALL = re.compile(r"[0-9]{1,3}", re.ASCII)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_SPECIAL = re.compile(
    r"""((?:(?:&(?!(?:amp|lt|gt|\#34|\#39);)(?:\#?\w+;)?|[<>"'\x00-\x1f\x7f-\x9f\ud800-\udfff"""
    r"\ufffe\uffff])\s*+)+)"
)
_MOST_PARTS = 17
"""Maximum number of parts of a text that is divided where it cannot be part of a value."""
_MARKS = {"<!-": ("comment", 4, -3), "<![": ("cdata", 9, -3)}


class Token(NamedTuple):
    """A literal, or a slot: a place that may hold a value, with the ``name`` of its element or
    attribute. ``trail`` are the names and positions of the elements around it."""

    name: str
    literal: str | None
    trail: tuple[tuple[str, int], ...]


class _Open(NamedTuple):
    """An element while it is read, and its children by identity."""

    place: int
    name: str
    seen: Counter[object]


class Reader:
    """Reads well-formed configurations. Equal tokens at the same place have the same number."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._places: dict[tuple[object, ...], int] = {}
        self._trails: list[tuple[tuple[str, int], ...]] = [()]
        self._shape: list[int] = []
        self._cells: list[str] = []

    def read(self, text: str) -> tuple[tuple[int, ...], list[str]]:
        """The numbers of the tokens, and the texts of the slots."""
        self._shape, self._cells = [], []
        mark = text[: text.startswith("\ufeff")]
        self._put(0, "mark", [("", mark, False)])
        stack = [_Open(0, "", Counter())]
        before = ""
        for piece in _PIECE.findall(text[len(mark) :]):
            if not piece.startswith("<"):
                before = piece
                continue
            parent = stack[-1]
            if piece.startswith("</"):
                stack.pop()
                is_leaf = not parent.seen and bool(before.strip() or "\n" not in before)
                self._put(parent.place, "text", _parts(before, parent.name, is_leaf))
                self._put(parent.place, "end", [("", piece, False)])
            else:
                name, parts, number = _begin(piece, parent.name)
                what = (name, *(None if is_slot else part for _, part, is_slot in parts))
                parent.seen[what] += 1
                place = self._place(parent, what, name, number)
                self._put(place, "before", _parts(before, parent.name))
                self._put(place, "begin", parts)
                if not piece.endswith("/>") and piece[1] not in "!?":
                    stack.append(_Open(place, name, Counter()))
            before = ""
        self._put(0, "end", _parts(before, ""))
        return tuple(self._shape), self._cells

    def _place(self, parent: _Open, what: tuple[object, ...], name: str, number: int) -> int:
        count = parent.seen[what]
        place = self._places.setdefault((parent.place, what, count), len(self._trails))
        if place == len(self._trails):
            self._trails.append((*self._trails[parent.place], (name, number or count)))
        return place

    def _put(self, place: int, kind: str, parts: list[tuple[str, str, bool]]) -> None:
        for index, (name, text, is_slot) in enumerate(parts):
            if not (text or is_slot):
                continue
            literal = None if is_slot else text
            number = self._numbers.setdefault((place, kind, index, literal), len(self.tokens))
            if number == len(self.tokens):
                self.tokens.append(Token(name, literal, self._trails[place]))
            self._shape.append(number)
            if is_slot:
                self._cells.append(text)


def _begin(piece: str, around: str) -> tuple[str, list[tuple[str, str, bool]], int]:
    """The name of an element, the parts of its begin, and its position, or 0."""
    if piece[1] in "!?":
        name, begin, end = _MARKS.get(piece[:3], ("declaration", len(piece), len(piece)))
        inside = _parts(piece[begin:end], around if name == "cdata" else name)
        return name, [("", piece[:begin], False), *inside, ("", piece[end:], False)], 0
    parts: list[tuple[str, str, bool]] = []
    done = number = 0
    for attribute in _ATTRIBUTE.finditer(piece):
        text = attribute[3] or attribute[4] or ""
        start = attribute.end() - len(text) - 1
        if _POSITION.fullmatch(attribute[2]) and _SMALL.fullmatch(text):
            number = number or int(text)
            continue
        parts += ("", piece[done:start], False), *_parts(text, attribute[2])
        done = start + len(text)
    name = piece[1:].split(None, 1)[0].rstrip("/>")
    return name, [*parts, ("", piece[done:], False)], number


def _parts(text: str, name: str, is_leaf: bool = False) -> list[tuple[str, str, bool]]:
    """A text in parts: name, text, whether it is a slot. White space alone in a leaf is one."""
    if not (is_leaf or text.strip()):
        return [("", text, False)]
    parts = _SPECIAL.split(text)
    if len(parts) > _MOST_PARTS:
        parts = [text]
    return [
        (name or "text", part, number % 2 == 0 and plain(part) is not None)
        for number, part in enumerate(parts)
    ]


def plain(text: str) -> str | None:
    """The value that is escaped as this text, or None."""
    if _SPECIAL.search(text):
        return None
    value = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    with suppress(ValueError):
        return value if values.text(value, longest=LONGEST_VALUE) == value else None
    return None
