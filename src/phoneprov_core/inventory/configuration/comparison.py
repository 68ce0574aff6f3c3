"""A configuration with its secrets masked, the difference of two, and what a phone needs to apply
it."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Annotated, NamedTuple

from msgspec import Struct

from phoneprov_core.inventory.configuration.findings import Finding, needing_reset
from phoneprov_core.inventory.configuration.lint import lint
from phoneprov_core.inventory.configuration.well_formed import Element, fault_in, walk
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.secrets import Mask, masked_urls, names_secret, stars

CONTEXT = 3
MOST_LINES = 2000
MOST_STEPS = 10_000_000
"""Bounds of the search for equal lines: the number of lines between the first and the last change,
and that number times the pairs of equal lines among them, which is what ``SequenceMatcher`` may
need (half a second). Beyond them all of these lines are shown as removed and added."""

_LINE_END = re.compile("\r\n|\n|\r")
Places = tuple[tuple[int, int], ...]
"""Begin and end of places in a text, as byte offsets."""


class _Piece(NamedTuple):
    equal: bool
    old: range
    new: range


def unified_diff(old: str, new: str, *, old_label: str, new_label: str) -> str:
    """A unified diff, empty if the texts are equal; its lines end in a line feed. Lines are
    compared without their line ends. If only the line ends differ, the diff says so."""
    if old == new:
        return ""
    old_lines, new_lines = _lines(old), _lines(new)
    lines = [f"--- {old_label}", f"+++ {new_label}"]
    for hunk in _hunks(_pieces(old_lines, new_lines)):
        lines += _shown(hunk, old_lines, new_lines)
    if len(lines) == 2:
        lines.append("\\ The lines are the same; their ends (CR, LF) differ.")
    return "\n".join([*lines, ""])


def _lines(text: str) -> list[str]:
    lines = _LINE_END.split(text)
    # A text that ends in a line end has no further, empty line.
    return lines if lines[-1] else lines[:-1]


def _pieces(old: Sequence[str], new: Sequence[str]) -> list[_Piece]:
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    old_end, new_end = len(old) - tail, len(new) - tail
    pieces = [_Piece(True, range(head), range(head))]
    if not _are_quickly_matched(old[head:old_end], new[head:new_end]):
        pieces.append(_Piece(False, range(head, old_end), range(head, new_end)))
    else:
        matcher = SequenceMatcher(None, old[head:old_end], new[head:new_end], autojunk=False)
        pieces += [
            _Piece(tag == "equal", range(head + a, head + b), range(head + c, head + d))
            for tag, a, b, c, d in matcher.get_opcodes()
        ]
    pieces.append(_Piece(True, range(old_end, len(old)), range(new_end, len(new))))
    return [piece for piece in pieces if piece.old or piece.new]


def _are_quickly_matched(old: Sequence[str], new: Sequence[str]) -> bool:
    if max(len(old), len(new)) > MOST_LINES:
        return False
    in_old, in_new = Counter(old), Counter(new)
    pairs = sum(times * in_new[line] for line, times in in_old.items())
    return pairs * min(len(old), len(new)) <= MOST_STEPS


def _hunks(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces of each hunk, with up to ``CONTEXT`` equal lines around the changes."""
    hunk: list[_Piece] = []
    for place, piece in enumerate(pieces):
        if not piece.equal:
            hunk.append(piece)
            continue
        is_last = place == len(pieces) - 1
        if hunk and not is_last and len(piece.old) <= 2 * CONTEXT:
            hunk.append(piece)
            continue
        if hunk:
            yield [*hunk, _Piece(True, piece.old[:CONTEXT], piece.new[:CONTEXT])]
        hunk = [] if is_last else [_Piece(True, piece.old[-CONTEXT:], piece.new[-CONTEXT:])]
    if hunk:
        yield hunk


def _shown(hunk: list[_Piece], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    old_place = _place(hunk[0].old.start, hunk[-1].old.stop)
    new_place = _place(hunk[0].new.start, hunk[-1].new.stop)
    yield f"@@ -{old_place} +{new_place} @@"
    for piece in hunk:
        if piece.equal:
            yield from (f" {old[i]}" for i in piece.old)
        else:
            yield from (f"-{old[i]}" for i in piece.old)
            yield from (f"+{new[i]}" for i in piece.new)


def _place(start: int, stop: int) -> str:
    length = stop - start
    # A unified diff counts lines from 1, and names the line before an empty range.
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


class Comparison(Redacted, frozen=True, kw_only=True):
    """A configuration, and the configuration to compare it with (None: no diff).

    Both are without a fault (see ``well_formed``). ``mac`` and ``family`` are as in ``lint``,
    ``old_secrets`` and ``new_secrets`` the ``known`` places of ``masked``. With ``is_private`` the
    caller may not read one of them and may have written the other: nothing says whether two secrets
    are the same. With ``is_foreign``
    another program wrote the new text: it may have a fault, and what is secret in the old one is so
    in it, too. With ``is_template`` both are texts of templates, which need not be XML: they are
    shown as they are.
    """

    old: Annotated[str | None, SECRET]
    new: Annotated[str, SECRET]
    old_label: str = ""
    new_label: str = ""
    mac: str | None = None
    family: str | None = None
    old_secrets: Places = ()
    new_secrets: Places = ()
    is_foreign: bool = False
    is_private: bool = False
    is_template: bool = False


class Compared(Struct, frozen=True):
    """The unified diff of the masked texts, the names of the changed elements that take effect
    after a reset only, and the findings in the new text. Of a template the diff alone; so of a
    foreign text, where it is None if the text has a fault."""

    diff: str | None
    needs_reset: tuple[str, ...]
    findings: tuple[Finding, ...]


def compare(comparison: Comparison) -> Compared:
    """Compute all three. The cost is linear: at most about a second for two texts of 512 KiB."""
    old, new, new_secrets = comparison.old, comparison.new, comparison.new_secrets
    labels = {"old_label": comparison.old_label, "new_label": comparison.new_label}
    if comparison.is_template:
        return Compared(unified_diff(old or "", new, **labels), (), ())
    if comparison.is_foreign:
        if fault_in(new.encode()) is not None:
            return Compared(None, (), ())
        new_secrets = repeated(old or "", comparison.old_secrets, new)
    diff = None
    if old is not None:
        mask: Mask = stars if comparison.is_private else NumberedStars()
        hidden = (
            masked(old, mask, comparison.old_secrets),
            masked(new, mask, new_secrets),
        )
        diff = unified_diff(*hidden, **labels)
    if comparison.is_foreign:
        return Compared(diff, (), ())
    content = blanked(new.encode(), new_secrets)
    findings = lint(
        content, mac=comparison.mac, family=comparison.family, largest=max(len(content), 1)
    )
    if old is None:
        return Compared(diff, (), findings)
    compared = hidden if comparison.is_private else (old, new)
    return Compared(diff, needing_reset(*compared), findings)


Compare = Callable[[Comparison], Awaitable[Compared]]
"""Port: the result of ``compare``, computed without blocking other requests.

Raises ``Unavailable`` if the computation does not finish in time.
"""

_ATTRIBUTE = re.compile(rb"""(?<=[\s"'])([^\s=<>"'/]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_LINES = re.compile(r"[^\r\n]++")
_ELEMENT_IN_TEXT = re.compile(rb"<([^\s<>/!?]++)[^<>]*+>([^<>]++)<")
_ENDS = {b"<!--": b"-->", b"<![C": b"]]>"}


class NumberedStars:
    """A mask that numbers secrets: equal secrets have the same number wherever one instance is
    used, different secrets have different numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        return f"***{self._numbers.setdefault(secret, len(self._numbers) + 1)}"


def repeated(old: str, places: Places, new: str) -> Places:
    """The places of a text that have the same content as one of ``places`` in the old text."""
    before, after = old.encode(), new.encode()
    found: list[tuple[int, int]] = []
    for secret in {before[start:end] for start, end in places if start < end}:
        at = after.find(secret)
        while at >= 0:
            found.append((at, at + len(secret)))
            at = after.find(secret, at + len(secret))
    return tuple(found)


def blanked(content: bytes, places: Places) -> bytes:
    """The content with stars at these places; no other position changes."""
    hidden = bytearray(content)
    for start, end in places:
        hidden[start:end] = b"*" * (end - start)
    return bytes(hidden)


def masked(xml: str, mask: Mask = stars, known: Places = ()) -> str:
    """The configuration with each secret masked. All other text and the number of lines stay
    the same; an empty secret stays empty. Comments, CDATA sections, processing instructions and
    the logins and parameters of URLs are searched too. ``known`` are places of other secrets.

    ``xml`` is a configuration without a fault (see ``well_formed``).
    """
    content = xml.encode()
    places: list[tuple[int, int]] = [*known]
    is_secret = cache(names_secret)  # for this text only

    def note(element: Element) -> None:
        if is_secret(element.name):
            places.append((element.content, element.end))
        if any(map(is_secret, element.attributes)):
            places.extend(_in_attributes(content, element.start, element.content))

    def search(start: int) -> None:
        end = content.index(_ENDS.get(content[start : start + 4], b"?>"), start)
        places.extend(
            found.span(2)
            for found in _ELEMENT_IN_TEXT.finditer(content, start + 1, end)
            if names_secret(found[1].decode())
        )
        places.extend(_in_attributes(content, start, end))

    walk(content, note, search)
    pieces: list[str] = []
    done = 0
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        # A secret inside another one is masked with it. An empty-element tag has no content.
        if start < done or end <= start:
            continue
        pieces += [content[done:start].decode(), _hidden(content[start:end].decode(), mask)]
        done = end
    pieces.append(content[done:].decode())
    return masked_urls("".join(pieces), mask)


def _in_attributes(content: bytes, start: int, end: int) -> list[tuple[int, int]]:
    return [
        (found.start(2) + 1, found.end(2) - 1)
        for found in _ATTRIBUTE.finditer(content, start, end)
        if names_secret(found[1].decode())
    ]


def _hidden(secret: str, mask: Mask) -> str:
    return _LINES.sub(lambda line: mask(line[0]) if line[0].strip() else line[0], secret)
