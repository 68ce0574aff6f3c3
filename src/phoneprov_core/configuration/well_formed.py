"""Whether a text can be a device configuration at all.

The text is checked while it streams by; no tree is built and nothing is changed. A document
type, and with it every entity, is refused: a phone needs none, an attacker does.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from msgspec import Struct

DEEPEST = 64
LARGEST = 512 * 1024


class Fault(Struct, frozen=True):
    """What keeps a text from being a configuration, and where: ``line`` and ``column`` from
    1. ``message`` reads on from a subject: "is not well-formed XML". ``code`` is a slug."""

    code: str
    line: int
    column: int
    message: str


def device_xml_rule(largest: int = LARGEST) -> Callable[[str], str]:
    """A field rule: the text as it is, when it is well-formed XML of at most ``largest``
    bytes in UTF-8. The ``ValueError`` it raises else names line and column."""

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
    # Told the encoding, expat looks none up, least of all among Python's codecs.
    parser = expat.ParserCreate("UTF-8")
    # Long text between two tags comes in one piece; without this, in thousands.
    parser.buffer_text = True
    depth = 0

    def objection(code: str, message: str) -> _Objection:
        # The place is asked for here: after the handler the parser stands elsewhere. It counts
        # lines from 1 and columns from 0.
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return _Objection(Fault(code, line, column, message))

    def start(_name: str, _attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise objection("too_deep", f"is nested deeper than {DEEPEST} elements")

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
            "not_well_formed",
            error.lineno,
            error.offset + 1,
            f"is not well-formed XML: {reason}",
        )
    return None
