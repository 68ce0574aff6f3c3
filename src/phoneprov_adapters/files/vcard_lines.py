"""The lines of a vCard, unfolded and decoded for a parser of vCard 3.0.

vCard 2.1 has quoted-printable values, soft line breaks and a character set for each property.
Properties that are not used, such as photos and most ``X-`` properties, are left out: some
programs write names there that no parser accepts.
"""

import quopri
import re
from collections.abc import Iterator

_NAME = re.compile(r"(?:[A-Za-z0-9-]+\.)?([A-Za-z0-9-]+)(?=[;:])")
_USED = {"BEGIN", "END", "VERSION", "N", "FN", "TEL", "EMAIL", "ORG", "UID"}
_OURS = "X-PHONEPROV-"
# The colon that ends the parameters is the first one outside quotation marks.
_PARTS = re.compile(r'((?:[^:"]|"[^"]*")*):(.*)', re.DOTALL)


class BadCard(ValueError):
    """The vCard cannot be decoded; the message contains the reason."""


def normalised(text: str) -> str:
    """The used properties of a card, one a line, without encodings.

    ``text`` was read as UTF-8 with ``surrogateescape``. Raises ``BadCard``.
    """
    return "".join(f"{_decoded(line)}\n" for line in _unfolded(text) if _is_used(line))


def _is_used(line: str) -> bool:
    if line and ":" not in line:
        raise BadCard("The vCard has a line that is not a property")
    name = _NAME.match(line)
    return name is not None and (name[1].upper() in _USED or name[1].upper().startswith(_OURS))


def _unfolded(text: str) -> Iterator[str]:
    parts: list[str] = []  # of one line: a picture has thousands
    is_quoted = False
    for line in re.split(r"\r\n|\r|\n", text):
        if is_quoted and parts[-1].endswith("="):
            parts[-1] = parts[-1][:-1]
            parts.append(line)
        elif line[:1] in {" ", "\t"} and parts:
            parts.append(line[1:])
        else:
            yield "".join(parts)
            parts = [line]
            is_quoted = _is_quoted_printable(line)
    yield "".join(parts)


def _is_quoted_printable(line: str) -> bool:
    parts = _PARTS.match(line)
    return parts is not None and "QUOTED-PRINTABLE" in parts[1].upper()


def _decoded(line: str) -> str:
    parts = _PARTS.match(line)
    if parts is None:
        raise BadCard("The vCard has a property without a value")
    name, *parameters = parts[1].split(";")
    value, charset, kept = parts[2], "utf-8", [name]
    quoted = False
    for parameter in parameters:
        key, _, said = parameter.upper().rpartition("=")
        if key == "CHARSET":
            charset = said.strip('"')
        elif said == "QUOTED-PRINTABLE" and key in {"", "ENCODING"}:
            quoted = True
        elif not (key == "ENCODING" and said in {"8BIT", "7BIT"}):
            kept.append(parameter)
    content = value.encode("utf-8", "surrogateescape")
    try:
        # The characters of a UTF-16 file are decoded already: only bytes that are not UTF-8, or
        # that were quoted, are in the declared character set.
        if quoted:
            value = quopri.decodestring(content).decode(charset)
        elif not _is_utf_8(content):
            value = content.decode(charset)
    except LookupError:
        raise BadCard(f"The vCard declares an unknown character set ({charset[:40]})") from None
    except UnicodeDecodeError:
        raise BadCard(f"The vCard is not in {charset[:40]}, and declares no other") from None
    value = value.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\n")
    return f"{';'.join(kept)}:{value}"


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
