"""A walk over the elements of a configuration, whether a configuration is well-formed, and the
elements of a reply of a phone."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
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


REPLY_LIMIT = 64 * 1024
"""Maximum number of bytes in a phone's reply."""


@dataclass
class ReplyElement:
    """An element: its depth, 0 for the root, and the pieces of the text that it holds itself."""

    depth: int
    name: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without surrounding blanks."""
        return "".join(self.pieces).strip()


def elements_of(body: bytes) -> list[ReplyElement]:
    """Every element in order, the root first. Decoded as ISO 8859-1 regardless of its declaration:
    the relevant text is ASCII, and this decoding never fails. Raises ``ValueError`` if the reply is
    not well-formed, has a document type, or is longer than ``REPLY_LIMIT``."""
    if len(body) > REPLY_LIMIT:
        raise ValueError
    found: list[ReplyElement] = []
    open_: list[ReplyElement] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        element = ReplyElement(len(open_), name, attributes)
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


DEEPEST = 64
LARGEST = 512 * 1024
LONGEST_NAME = 256
"""Maximum number of characters of an element's or attribute's name."""

# XML 1.0 itself refuses the other control characters. A lead byte C2 occurs nowhere else.
_CONTROL = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
_END_TAG = re.compile(rb"(?:</)?([^\s<>/]{1,256})")
_MISMATCHED, _UNCLOSED = 7, 3  # XML_ERROR_TAG_MISMATCH, XML_ERROR_NO_ELEMENTS
_LONGEST_SHOWN = 64
# Comments and empty lines, then "image_version: P0S3-8-12-00".
_FLAT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:[#;][^\r\n]{0,512})?\r?\n){0,200}[ \t]*[A-Za-z]\w{0,63}[ \t]*:"
)
_IS_FLAT = (
    "is in the flat format of SIP 7940 and 7960 phones (SIP<MAC>.cnf, lines such as "
    "'image_version: ...'), which is not supported"
)
_LINE_END = re.compile("\r\n|\n|\r")


class Fault(Struct, frozen=True):
    """Why a text cannot be a configuration, and where: ``line`` and ``column`` count from 1.
    ``message`` is a predicate: "is not well-formed XML". ``code`` is a slug."""

    code: str
    line: int
    column: int
    message: str


def device_xml_rule(largest: int = LARGEST) -> Callable[[str], str]:
    """A field rule that returns the text unchanged if it has no fault and at most ``largest``
    bytes in UTF-8. Otherwise it raises ``ValueError`` with line and column."""

    def rule(text: str) -> str:
        try:
            content = text.encode()
        except UnicodeEncodeError:
            raise ValueError("must be text that can be encoded in UTF-8") from None
        if len(content) > largest:
            raise ValueError(f"must be at most {largest} bytes long")
        if fault := fault_in(content):
            at = f"line {fault.line}, column {fault.column}"
            raise ValueError(f"{fault.message} ({at})")
        return text

    return rule


class _FaultFound(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def fault_in(content: bytes) -> Fault | None:
    """The first fault of a text in UTF-8, or None."""
    # With an explicit encoding expat does not look one up, in particular not in Python's codecs.
    parser = expat.ParserCreate("UTF-8")
    opened: list[tuple[str, int]] = []

    def objection(code: str, message: str) -> _FaultFound:
        # The position is valid only during the handler. Lines count from 1, columns from 0.
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return _FaultFound(Fault(code, line, column, message))

    def start(name: str, attributes: dict[str, str]) -> None:
        opened.append((name, parser.CurrentLineNumber))
        if len(opened) > DEEPEST:
            raise objection("too_deep", f"is nested deeper than {DEEPEST} elements")
        if len(name) > LONGEST_NAME or (attributes and max(map(len, attributes)) > LONGEST_NAME):
            raise objection("long_name", f"contains a name longer than {LONGEST_NAME} characters")

    def end(_name: str) -> None:
        opened.pop()

    def declaration(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.upper() != "UTF-8":
            raise objection("wrong_encoding", "declares an encoding other than UTF-8")

    def doctype(*_: object) -> None:
        raise objection("document_type", "contains a document type declaration")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.XmlDeclHandler = declaration
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = doctype
    try:
        parser.Parse(content, True)
    except _FaultFound as raised:
        return raised.fault
    except expat.ExpatError as error:
        if _FLAT.match(content):
            return Fault("flat_format", 1, 1, _IS_FLAT)
        reason = expat.ErrorString(error.code) or "syntax error"
        reason += _tags(content[parser.ErrorByteIndex :], error.code, opened)
        return Fault(
            "not_well_formed", error.lineno, error.offset + 1, f"is not well-formed XML: {reason}"
        )
    return _control_character(content)


def _tags(rest: bytes, code: int, opened: list[tuple[str, int]]) -> str:
    """The tags that a parser's reason is about: which one is open, and which one closes another.
    ``rest`` begins where the parser stopped."""
    if not opened or code not in {_MISMATCHED, _UNCLOSED}:
        return ""
    name, line = opened[-1]
    is_open = f"<{name[:_LONGEST_SHOWN]}> of line {line} is open"
    found = _END_TAG.match(rest) if code == _MISMATCHED else None
    if found is None:
        return f", {is_open}"
    return f", </{found[1].decode('utf-8', 'replace')[:_LONGEST_SHOWN]}> where {is_open}"


def _control_character(content: bytes) -> Fault | None:
    """DEL and the C1 controls are legal in XML 1.0, but terminals act on them."""
    found = _CONTROL.search(content)
    if found is None:
        return None
    lines = _LINE_END.split(content[: found.start()].decode())
    message = "contains a control character other than tab and line ends"
    return Fault("control_character", len(lines), len(lines[-1]) + 1, message)
