"""Text files as spreadsheets and other programs write them."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TextIO

UTF_8 = "utf-8-sig"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class NotText(ValueError):
    """The content is not text in UTF-8, UTF-16 or UTF-32."""


def encoding_of(start: bytes) -> str:
    """The encoding of a file that begins with these bytes: by its byte order mark, or by the
    zero bytes that UTF-16 has in ASCII characters; else UTF-8, with or without a mark."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    if start[:1] and start[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if start[:1] == b"\0" and start[1:2] else UTF_8


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a text file. Bytes that are not UTF-8 become surrogates; malformed UTF-16 raises
    ``UnicodeDecodeError`` when it is read. Raises ``OSError``."""
    with path.open("rb") as file:
        encoding = encoding_of(file.read(4))
    errors = "surrogateescape" if encoding == UTF_8 else "strict"
    return path.open(encoding=encoding, errors=errors, newline=newline)


def decoded(content: bytes) -> str:
    """The whole text of a file. Raises ``NotText``."""
    try:
        text = content.decode(encoding_of(content[:4]))
    except UnicodeDecodeError:
        raise NotText("is not a text file in UTF-8 or UTF-16") from None
    if "\0" in text:
        raise NotText("is a binary file")
    return text
