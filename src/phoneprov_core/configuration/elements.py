"""The elements of a configuration as they stream by, each with its places in the text."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat


class Element:
    """One element. ``line`` and ``column`` (both from 1) are those of its start tag;
    ``start``, ``content`` and ``end`` are byte offsets: of the start tag, of what comes behind
    it, and of the end tag (of what comes behind the whole where there is none).

    ``inside`` counts, by name, the elements directly in it that have ended so far.
    """

    __slots__ = (
        "attributes", "column", "content", "end", "inside", "line", "name", "parent", "pieces",
        "start",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        attributes: dict[str, str],
        parent: Element | None,
        start: int,
        line: int,
        column: int,
    ) -> None:
        self.name = name
        self.attributes = attributes
        self.parent = parent
        self.start = start
        self.content = -1
        self.end = -1
        self.line = line
        self.column = column
        self.pieces: list[str] = []
        self.inside: dict[str, int] = {}

    @property
    def text(self) -> str:
        """The text directly in it, so far."""
        return "".join(self.pieces)

    @property
    def path(self) -> str:
        """The names from the root to here, with slashes between them."""
        names = [self.name]
        above = self.parent
        while above is not None:
            names.append(above.name)
            above = above.parent
        return "/".join(reversed(names))


def walk(content: bytes, on_end: Callable[[Element], None]) -> None:
    """Tell of each element when it ends, the innermost first; no tree is built.

    ``content`` is well-formed UTF-8 that ``well_formed.fault_in`` finds no fault in; for
    other content expat's own errors are raised.
    """
    parser = expat.ParserCreate("UTF-8")
    opened: list[Element] = []
    unplaced: Element | None = None

    def place() -> None:
        # Whatever comes first behind a start tag says where that tag ended.
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

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.CommentHandler = other
    parser.ProcessingInstructionHandler = other
    parser.StartCdataSectionHandler = other
    parser.Parse(content, True)
