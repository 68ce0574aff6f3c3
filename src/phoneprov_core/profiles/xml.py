"""Whether a text can be a device configuration at all.

The text is checked while it streams by; no tree is built and nothing is changed. A document
type, and with it every entity, is refused: a phone needs none, an attacker does.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

DEEPEST = 64
LARGEST = 512 * 1024


class _Objection(Exception):
    pass


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
        _check(content)
        return text

    return rule


def _check(content: bytes) -> None:
    # Told the encoding, expat looks none up, least of all among Python's codecs.
    parser = expat.ParserCreate("UTF-8")
    # Long text between two tags comes in one piece; without this, in thousands.
    parser.buffer_text = True
    depth = 0

    def objection(to: str) -> _Objection:
        # The place is asked for here: after the handler the parser stands elsewhere.
        return _Objection(f"{to} ({_place(parser.CurrentLineNumber, parser.CurrentColumnNumber)})")

    def start(_name: str, _attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise objection(f"is nested deeper than {DEEPEST} elements")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def declaration(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.upper() != "UTF-8":
            raise objection("declares an encoding other than UTF-8")

    def doctype(*_: object) -> None:
        raise objection("contains a document type declaration")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.XmlDeclHandler = declaration
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = doctype
    try:
        parser.Parse(content, True)
    except _Objection as raised:
        raise ValueError(str(raised)) from None
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code) or "syntax error"
        place = _place(error.lineno, error.offset)
        raise ValueError(f"is not well-formed XML: {reason} ({place})") from None


def _place(line: int, column: int) -> str:
    # The parser counts lines from 1 and columns from 0.
    return f"line {line}, column {column + 1}"
