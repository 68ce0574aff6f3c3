"""The records of a CSV text (RFC 4180), read strictly.

A quotation mark begins a cell, ends it, or is written twice inside one; anywhere else it is an
error of its line, because the rows that follow would become part of the cell. After an error the
next line is read as the beginning of a record, so that each error is found, and no row is part of
another. Each line is read a few times at most.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from phoneprov_core.inventory.configuration.well_formed import LARGEST

LONGEST_CELL = 2 * LARGEST
"""Maximum number of characters of a cell, which may be a configuration."""

_QUOTED = re.compile(r'(?:[^"]++|"")*+')
_AS_TEXT = re.compile(r'="[^"\r\n]*+"')
_ENDS = "\r\n"
_STRAY = (
    "A quotation mark stands inside a cell: enclose the whole cell in quotation marks, and write "
    "one inside it twice"
)
_UNCLOSED = "A quotation mark is opened here and never closed"
_TOO_LONG = f"A cell is longer than {LONGEST_CELL} characters"


class CsvRecord(NamedTuple):
    """A record that begins at ``line``: its cells, or the reason why it cannot be read."""

    line: int
    cells: list[str]
    problem: str = ""


class _Broken(Exception):
    """The record cannot be read; the message is the reason."""


class CsvRecords:
    """Reads the records of lines that keep their ends; ``line`` is the number of the first. A cell
    such as ``="0301"``, which spreadsheets write for digits that are text, is kept as it is."""

    def __init__(self, lines: Iterator[str], separator: str, line: int = 1) -> None:
        self._lines = lines
        self._separator = separator
        self._ends = {separator, *_ENDS, ""}
        self._line = line
        self._again: deque[str] = deque()
        self._taken: list[str] = []

    def __iter__(self) -> Iterator[CsvRecord]:
        """Raises ``UnicodeDecodeError`` like the lines."""
        while (text := self._take()) is not None:
            line = self._line
            self._taken = []
            try:
                cells = self._cells(text)
            except _Broken as broken:
                self._again.extendleft(reversed(self._taken))
                self._line = line + 1
                yield CsvRecord(line, _plain(text).split(self._separator), str(broken))
            else:
                self._line = line + 1 + len(self._taken)
                yield CsvRecord(line, cells)

    def _take(self) -> str | None:
        return self._again.popleft() if self._again else next(self._lines, None)

    def _cells(self, text: str) -> list[str]:
        """The cells of the record that begins with this line. Raises ``_Broken``."""
        if '"' not in text:
            cells = _plain(text).split(self._separator)
            if len(text) > LONGEST_CELL and any(len(cell) > LONGEST_CELL for cell in cells):
                raise _Broken(_TOO_LONG)
            return cells
        cells = []
        at = 0
        while True:
            if text.startswith('"', at):
                cell, text, at = self._quoted(text, at + 1)
            elif found := _AS_TEXT.match(text, at):
                cell, at = found[0], found.end()
            else:
                end = text.find(self._separator, at)
                cell = text[at:end] if end >= 0 else _plain(text[at:])
                at += len(cell)
                if '"' in cell:
                    raise _Broken(_STRAY)
            if text[at : at + 1] not in self._ends:
                raise _Broken(_STRAY)
            cells.append(cell)
            if len(cell) > LONGEST_CELL:
                raise _Broken(_TOO_LONG)
            if text[at : at + 1] != self._separator:
                return cells
            at += 1

    def _quoted(self, text: str, at: int) -> tuple[str, str, int]:
        """The cell whose text begins here, the line where it ends, and the place after it."""
        parts: list[str] = []
        length = 0
        while True:
            found = _QUOTED.match(text, at)
            assert found is not None
            parts.append(found[0])
            length += len(found[0])
            if length > LONGEST_CELL:
                raise _Broken(_UNCLOSED if self._taken else _TOO_LONG)
            at = found.end()
            if at < len(text):
                break
            following = self._take()
            if following is None:
                raise _Broken(_UNCLOSED)
            self._taken.append(following)
            text, at = following, 0
        if self._taken and text[at + 1 : at + 2] not in self._ends:
            raise _Broken(
                f"A quotation mark is opened here; line {self._line + len(self._taken)} has one "
                "inside a cell"
            )
        return "".join(parts).replace('""', '"'), text, at + 1


def _plain(line: str) -> str:
    """The line without its end."""
    return line[:-2] if line.endswith("\r\n") else line[:-1] if line[-1:] in {*_ENDS} else line
