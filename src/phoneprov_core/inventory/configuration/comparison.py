"""The difference of two configurations, masked, and what a phone needs to apply it."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Annotated, NamedTuple
from xml.parsers import expat

from msgspec import Struct

from phoneprov_core.inventory.configuration.findings import Finding
from phoneprov_core.inventory.configuration.lint import lint
from phoneprov_core.inventory.configuration.well_formed import (
    NumberedStars,
    Places,
    blanked,
    fault_in,
    masked,
    repeated,
)
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.secrets import Mask, stars

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


# Firmware, locale, date and time and the addresses of services are read when a phone starts
# completely; lines, keys and speed dials also after a restart (Cisco's CME documentation).
_LOAD = "loadInformation"
_NEED_RESET = frozenset(
    {
        _LOAD, "userLocale", "networkLocale", "networkLocaleInfo", "dateTimeSetting",
        "authenticationURL", "directoryURL", "idleURL", "informationURL", "messagesURL",
        "proxyServerURL", "servicesURL",
        "secureAuthenticationURL", "secureDirectoryURL", "secureIdleURL", "secureInformationURL",
        "secureMessagesURL", "secureServicesURL",
    }
)  # fmt: skip


def needing_reset(old: str, new: str) -> tuple[str, ...]:
    """The names of the elements that differ and take effect after a reset only, sorted. Both texts
    are without a fault (see ``well_formed``). The cost is linear."""
    before, after = _values(old), _values(new)
    return tuple(
        sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    )


def _values(xml: str) -> dict[str, list[str]]:
    """The elements that need a reset: per name, their content in document order."""
    found: dict[str, list[str]] = {}
    content: list[str] = []
    inside = ""
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside, depth
        if not inside:
            # Multi-model files add a number: loadInformation307.
            known = _LOAD if name.startswith(_LOAD) else name
            if known not in _NEED_RESET:
                return
            inside = known
        content.append(f"<{name} {sorted(attributes.items())}>")
        depth += 1

    def text(data: str) -> None:
        if inside:
            content.append(data)

    def end(_name: str) -> None:
        nonlocal inside, depth
        if not inside:
            return
        depth -= 1
        if not depth:
            found.setdefault(inside, []).append(" ".join("".join(content).split()))
            content.clear()
            inside = ""

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.EndElementHandler = end
    parser.Parse(xml.encode(), True)
    return found


class Comparison(Redacted, frozen=True, kw_only=True):
    """A configuration, and the configuration to compare it with (None: no diff).

    Both are without a fault (see ``well_formed``). ``mac`` and ``family`` are those of ``lint``,
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
