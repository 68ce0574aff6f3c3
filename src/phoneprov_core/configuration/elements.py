"""The elements of a configuration as a stream of events, each with its offsets in the text."""

from collections.abc import Callable
from typing import Any
from xml.parsers import expat

from msgspec import Struct

_DEEPEST_PATH = 8


class Element(Struct, eq=False):
    """One element. ``line`` and ``column`` (both from 1) are the position of its start tag.

    ``start``, ``content`` and ``end`` are byte offsets: of the start tag, of the first byte after
    it, and of the end tag (for an empty-element tag: of the first byte after the element).

    ``inside`` counts, by name, the direct children that have ended so far.
    """

    name: str
    attributes: dict[str, str]
    parent: "Element | None"
    depth: int
    start: int
    line: int
    column: int
    content: int = -1
    end: int = -1
    pieces: list[str] = []
    inside: dict[str, int] = {}

    def __repr__(self) -> str:
        # Attributes and text may be secrets.
        return f"<{self.name}> at line {self.line}"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("name", self.name), ("line", self.line)]

    @property
    def text(self) -> str:
        """The text directly in it, so far."""
        return "".join(self.pieces)

    @property
    def path(self) -> str:
        """The names from the root to this element, separated by slashes. Empty below a depth of 8,
        where no firmware reads anything: the cost of a path must not grow with the depth."""
        if self.depth > _DEEPEST_PATH:
            return ""
        names = [self.name]
        above = self.parent
        while above is not None:
            names.append(above.name)
            above = above.parent
        return "/".join(reversed(names))


def walk(
    content: bytes,
    on_end: Callable[[Element], None],
    on_other: Callable[[int], None] = lambda _start: None,
) -> None:
    """Call ``on_end`` for each element when it ends, the innermost first, and ``on_other`` with
    the byte offset of each comment, CDATA section and processing instruction.

    No tree is built. ``content`` is UTF-8 without a fault (``well_formed.fault_in``); for other
    content expat's own errors are raised.
    """
    parser = expat.ParserCreate("UTF-8")
    opened: list[Element] = []
    unplaced: Element | None = None

    def place() -> None:
        # The first event after a start tag is where that tag ends.
        nonlocal unplaced
        if unplaced is not None:
            unplaced.content = parser.CurrentByteIndex
            unplaced = None

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal unplaced
        place()
        unplaced = Element(
            name,
            attributes,
            opened[-1] if opened else None,
            len(opened) + 1,
            parser.CurrentByteIndex,
            parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
        )
        opened.append(unplaced)

    def end(name: str) -> None:
        place()
        element = opened.pop()
        element.end = parser.CurrentByteIndex
        on_end(element)
        if opened:
            inside = opened[-1].inside
            inside[name] = inside.get(name, 0) + 1

    def text(data: str) -> None:
        place()
        opened[-1].pieces.append(data)

    def other(*_: object) -> None:
        place()
        on_other(parser.CurrentByteIndex)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.CommentHandler = other
    parser.ProcessingInstructionHandler = other
    parser.StartCdataSectionHandler = other
    parser.Parse(content, True)
