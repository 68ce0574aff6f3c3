"""Learning templates from configurations: the text that they have in common, the texts in which
they differ, and the parts that only some of them have. Nothing is guessed: what cannot be a value
stays part of the text, so that each configuration is rendered back byte for byte.

The shape of a configuration is its text as tokens, without the texts that may be values.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from phoneprov_core.features.templates.model import as_literal, as_mac
from phoneprov_core.inventory.profiles.model import LONGEST_VALUE, MOST_VALUES
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
    """A text in parts: name, text, whether it is a slot. White space alone in a leaf is a slot."""
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


_MOST_GROUPS = 40
"""Maximum number of groups of different shapes; others have a template for each shape, so that the
cost grows with the number of configurations."""
_MOST_DIFFERENT = 0.25
"""Maximum share of tokens that differ, for shapes of one template."""


class Learned(Struct, frozen=True):
    """A template, and for each configuration, by its name, the values from which the template
    renders it."""

    body: str
    values: Mapping[str, Mapping[str, str]]


class _Files(NamedTuple):
    """The configurations of one shape: names, and the texts of the slots of each."""

    shape: tuple[int, ...]
    elements: set[tuple[str, str | None]]
    names: list[str]
    cells: list[tuple[str, ...]]


class _TooMany(Exception):
    """More values than a profile may have."""


def learn(texts: Mapping[str, str], macs: Mapping[str, str]) -> list[Learned]:
    """The templates of well-formed configurations, by name; ``macs`` has the 12 digits of the phone
    of each name where they are known. The template of most configurations comes first."""
    reader = Reader()
    shapes: dict[tuple[int, ...], _Files] = {}
    known: dict[str, str] = {}
    for name, text in texts.items():
        shape, cells = reader.read(text)
        if shape not in shapes:
            tokens = (reader.tokens[number] for number in shape)
            elements = {(one.trail[-1][0] if one.trail else "", one.literal) for one in tokens}
            shapes[shape] = _Files(shape, elements, [], [])
        shapes[shape].names.append(name)
        shapes[shape].cells.append(tuple(known.setdefault(cell, cell) for cell in cells))
    learned: list[Learned] = []
    waiting = sorted(shapes.values(), key=lambda one: -len(one.names))
    for tried in itertools.count():
        if not waiting:
            break
        group = waiting[:1]
        others: list[_Files] = []
        for one in waiting[1:]:
            different, both = group[0].elements ^ one.elements, group[0].elements | one.elements
            is_alike = len(different) <= max(4, _MOST_DIFFERENT * len(both))
            (group if is_alike and tried < _MOST_GROUPS else others).append(one)
        more, misfits = _of_alike(group, reader.tokens, macs)
        learned += more
        waiting = misfits + others
    return sorted(learned, key=lambda one: -len(one.values))


def _of_alike(
    group: Sequence[_Files], tokens: Sequence[Token], macs: Mapping[str, str]
) -> tuple[list[Learned], list[_Files]]:
    """Templates of similar shapes, and the shapes with another order of elements."""
    order: Sequence[int] = ()
    fit: list[_Files] = []
    misfits: list[_Files] = []
    for files in sorted(group, key=lambda one: (-len(one.shape), -len(one.names))):
        longer = _merged(order, files.shape, tokens) if order else files.shape
        if longer is None or len(longer) > 4 * len(files.shape) + 256:
            misfits.append(files)
        else:
            order = longer
            fit.append(files)
    with suppress(_TooMany):
        return [_Writing(fit, tokens, macs).template(order)], misfits
    # A single configuration has no values. Longer configurations (more lines) have more values.
    parts = [fit[: len(fit) // 2], fit[len(fit) // 2 :]]
    if len(fit) == 1:
        shape, elements, names, cells = fit[0]
        each = zip(names, cells, strict=True)
        parts = [[_Files(shape, elements, [name], [texts])] for name, texts in each]
    learned: list[Learned] = []
    for part in parts:
        more, others = _of_alike(part, tokens, macs)
        learned += more
        misfits += others
    return learned, misfits


def _merged(
    order: Sequence[int], shape: Sequence[int], tokens: Sequence[Token]
) -> list[int] | None:
    """The order of tokens merged with the tokens of one shape; None if the shape has another
    order."""
    places = {number: at for at, number in enumerate(order)}
    longer: list[int] = []
    done = 0
    for number in shape:
        at = places.get(number)
        if at is None:
            while done < len(order) and _is_before(tokens[order[done]], tokens[number]):
                longer.append(order[done])
                done += 1
            longer.append(number)
        elif at < done:
            return None
        else:
            longer += order[done : at + 1]
            done = at + 1
    return [*longer, *order[done:]]


def _is_before(one: Token, other: Token) -> bool:
    """Whether a token that this shape does not have precedes a new token, as line 2 precedes line
    3."""
    for (name, number), (other_name, other_number) in zip(one.trail, other.trail, strict=False):
        if (name, number) != (other_name, other_number):
            return name == other_name and number < other_number
    return False


class _Writing:
    """Writes the text of a template, and collects the values."""

    def __init__(
        self, group: Sequence[_Files], tokens: Sequence[Token], macs: Mapping[str, str]
    ) -> None:
        self._group = group
        self._tokens = tokens
        self._macs = macs
        self._keys: dict[object, str] = {}
        self._values: dict[str, dict[str, str]] = {name: {} for one in group for name in one.names}

    def template(self, order: Sequence[int]) -> Learned:
        """Raises ``_TooMany``."""
        present: dict[int, dict[int, int]] = {number: {} for number in order}
        for one, files in enumerate(self._group):
            slot = 0
            for number in files.shape:
                present[number][one] = slot
                slot += self._tokens[number].literal is None
        pieces: list[str] = []
        # A condition stays open while it covers every shape that has the next token.
        around = [frozenset(range(len(self._group)))]
        for number in order:
            token, shapes = self._tokens[number], frozenset(present[number])
            while not shapes <= around[-1]:
                around.pop()
                pieces.append("{% endif %}")
            if shapes != around[-1]:
                around.append(shapes)
                name = f"with_{token.trail[-1][0] if token.trail else 'text'}"
                given = dict.fromkeys(self._names(sorted(shapes)), "yes")
                pieces.append(f"{{% if values.{self._key(shapes, name, given)} %}}")
            literal = token.literal
            pieces.append(self._slot(token.name, present[number]) if literal is None
                          else as_literal(literal))  # fmt: skip
        body = "".join([*pieces, "{% endif %}" * (len(around) - 1)])
        empty = dict.fromkeys(self._keys.values(), "")
        return Learned(body, {name: {**empty, **one} for name, one in self._values.items()})

    def _slot(self, name: str, columns: Mapping[int, int]) -> str:
        texts = tuple(cells[at] for one, at in columns.items() for cells in self._group[one].cells)
        names = self._names(columns)
        by_mac = as_mac(texts, [self._macs.get(one, "") for one in names])
        if by_mac is not None:
            return by_mac
        if len(set(texts)) == 1:
            return as_literal(texts[0])
        given = {one: plain(text) or "" for one, text in zip(names, texts, strict=True)}
        return f"{{{{ values.{self._key((tuple(columns), texts), name, given)} }}}}"

    def _names(self, shapes: Iterable[int]) -> list[str]:
        return [name for one in shapes for name in self._group[one].names]

    def _key(self, what: object, name: str, given: Mapping[str, str]) -> str:
        """The key of a value; equal values share one key."""
        if what not in self._keys:
            if len(self._keys) == MOST_VALUES:
                raise _TooMany
            plain_name = re.sub("[^A-Za-z0-9_]", "_", name)[:50]
            names = [plain_name if plain_name[:1].isalpha() else "value"]
            names += [f"{names[0]}_{number}" for number in range(2, MOST_VALUES + 2)]
            taken = set(self._keys.values())
            key = self._keys[what] = next(one for one in names if one not in taken)
            for one, text in given.items():
                self._values[one][key] = text
        return self._keys[what]
