"""XML replies of a phone's web server, parsed without IO."""

from dataclasses import dataclass, field
from xml.parsers import expat

REPLY_LIMIT = 64 * 1024
"""Maximum number of bytes in a phone's reply."""


@dataclass
class Element:
    """An element: its depth, 0 for the root, and the pieces of the text that it holds itself."""

    depth: int
    name: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without surrounding blanks."""
        return "".join(self.pieces).strip()


def elements_of(body: bytes) -> list[Element]:
    """Every element in order, the root first.

    Decoded as ISO 8859-1 regardless of its declaration: the relevant text is ASCII, and this
    decoding never fails. Raises ``ValueError`` if the reply is not well-formed, has a document
    type, or is longer than ``REPLY_LIMIT``.
    """
    if len(body) > REPLY_LIMIT:
        raise ValueError
    found: list[Element] = []
    open_: list[Element] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(len(open_), name, attributes)
        found.append(element)
        open_.append(element)

    def end(_name: str) -> None:
        open_.pop()

    def text(characters: str) -> None:
        open_[-1].pieces.append(characters)

    def refuse(*_declaration: object) -> None:
        raise ValueError

    parser = expat.ParserCreate("iso-8859-1")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body.removeprefix(b"\xef\xbb\xbf").strip(), True)
    except expat.ExpatError:
        raise ValueError from None
    return found
