"""Text files as spreadsheets and other programs write them, read in pieces in a thread."""

import asyncio
import codecs
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import TextIO

from phoneprov_core.features.transfer.model import OWNER, Row, RowProblem, Table

PIECE = 500

Rows = Iterator[Row | RowProblem]


async def in_pieces(
    opening: Callable[[], AbstractContextManager[Rows]], size: int = PIECE
) -> AsyncIterator[list[Row | RowProblem]]:
    """The rows of ``opening``, in pieces of this size; it is opened, read and closed in threads."""
    opened = await asyncio.to_thread(opening)
    rows = await asyncio.to_thread(opened.__enter__)
    try:
        while piece := await asyncio.to_thread(lambda: list(islice(rows, size))):
            yield piece
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


class OwnedBy:
    """A table whose rows belong to one user, regardless of their content."""

    def __init__(self, table: Table, username: str) -> None:
        self._table = table
        self._username = username

    async def columns(self) -> tuple[str, ...]:
        """The columns of the table and the column of the owner."""
        columns = await self._table.columns()
        return columns if OWNER in columns or not columns else (*columns, OWNER)

    async def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows of the table, each with its owner."""
        async for piece in self._table.pieces():
            yield [
                Row(row.line, {**row.cells, OWNER: self._username}) if isinstance(row, Row) else row
                for row in piece
            ]


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
