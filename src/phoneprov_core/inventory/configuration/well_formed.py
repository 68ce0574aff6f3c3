"""Whether a configuration is well-formed, and its text with secrets masked."""

import re
from collections.abc import Callable
from functools import cache
from xml.parsers import expat

from msgspec import Struct

from phoneprov_core.inventory.configuration.elements import Element, walk
from phoneprov_core.kernel.secrets import Mask, masked_urls, names_secret, stars

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


class _Objection(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def fault_in(content: bytes) -> Fault | None:
    """The first fault of a text in UTF-8, or None."""
    # With an explicit encoding expat does not look one up, in particular not in Python's codecs.
    parser = expat.ParserCreate("UTF-8")
    opened: list[tuple[str, int]] = []

    def objection(code: str, message: str) -> _Objection:
        # The position is valid only during the handler. Lines count from 1, columns from 0.
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return _Objection(Fault(code, line, column, message))

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
    except _Objection as raised:
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


Places = tuple[tuple[int, int], ...]
"""Begin and end of places in a text, as byte offsets."""


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
