"""Whether a text can be a device configuration. It is checked as a stream, without a tree, in
linear time. A document type, and with it every entity, is refused: no phone needs one."""

import re
from collections.abc import Callable
from xml.parsers import expat

from msgspec import Struct

DEEPEST = 64
LARGEST = 512 * 1024
LONGEST_NAME = 256
"""Maximum number of characters of an element's or attribute's name."""

# XML 1.0 itself refuses the other control characters. A lead byte C2 occurs nowhere else.
_CONTROL = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
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
    depth = 0

    def objection(code: str, message: str) -> _Objection:
        # The position is valid only during the handler. Lines count from 1, columns from 0.
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return _Objection(Fault(code, line, column, message))

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise objection("too_deep", f"is nested deeper than {DEEPEST} elements")
        if len(name) > LONGEST_NAME or (attributes and max(map(len, attributes)) > LONGEST_NAME):
            raise objection("long_name", f"contains a name longer than {LONGEST_NAME} characters")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

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
        reason = expat.ErrorString(error.code) or "syntax error"
        return Fault(
            "not_well_formed", error.lineno, error.offset + 1, f"is not well-formed XML: {reason}"
        )
    return _control_character(content)


def _control_character(content: bytes) -> Fault | None:
    """DEL and the C1 controls are legal in XML 1.0, but terminals act on them."""
    found = _CONTROL.search(content)
    if found is None:
        return None
    lines = _LINE_END.split(content[: found.start()].decode())
    message = "contains a control character other than tab and line ends"
    return Fault("control_character", len(lines), len(lines[-1]) + 1, message)
