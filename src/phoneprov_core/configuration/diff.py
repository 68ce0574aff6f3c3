"""Unified diffs of configurations, line by line."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

CONTEXT = 3
MOST_LINES = 2000
MOST_STEPS = 10_000_000
"""Bounds of the search for equal lines: the number of lines between the first and the last change,
and that number times the pairs of equal lines among them, which is what ``SequenceMatcher`` may
need (half a second). Beyond them all of these lines are shown as removed and added."""

_LINE_END = re.compile("\r\n|\n|\r")


class _Piece(NamedTuple):
    equal: bool
    old: range
    new: range


def unified_diff(old: str, new: str, *, old_label: str, new_label: str) -> str:
    """A unified diff, empty if the texts are equal; its lines end in a line feed. Lines are
    compared without their ends. If only those differ, the diff says so."""
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
