"""The records of a CSV text (RFC 4180), read strictly.

A quotation mark begins a cell, ends it, or is written twice inside one; anywhere else it is an
error of its line, because the rows that follow would become part of the cell. After an error the
next line is read as the beginning of a record, so that each error is found, and no row is part of
another. Each line is read a few times at most.

CSV (RFC 4180) in UTF-8 or UTF-16. The first line names the columns.

Commas, semicolons or tabs separate the cells. Spreadsheets may name the separator in a line before
(``sep=;``) and write headings with capital letters and blanks: ``Phone IP`` is ``phone_ip``. They
also write empty columns, which are left out, and ``="0301"`` for digits that are text.
"""

import asyncio
import csv
import io
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from phoneprov_adapters.files.reading import PIECE, Rows, in_pieces, open_text
from phoneprov_core.features.transfer.model import Row, RowProblem
from phoneprov_core.inventory.configuration.well_formed import LARGEST

LONGEST_CELL = 2 * LARGEST
"""Maximum number of characters of a cell, which may be a configuration."""

_QUOTED = re.compile(r'(?:[^"]++|"")*+')
_AS_TEXT = re.compile(r'="[^"\r\n]*+"')
_ENDS = "\r\n"
_STRAY = (
    "A quotation mark is inside a cell: enclose the whole cell in quotation marks, and write "
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


_SIGN = r"=+\-@\uff1d\uff0b\uff0d\uff20"
_BEGIN = re.compile(rf"""^(?P<a>'*)(?=[{_SIGN}\t\r\n])|(?<=[;\t\r\n])"*+(?P<b>'*)(?=[{_SIGN}])""")
_NUMBER = re.compile(r"\+[0-9]++(?: [0-9]++)*+(?![^;\t\r\n])")
_TEXT = re.compile(r'="([^"]*)"')


def harmless(text: str) -> str:
    """The text in a form that a spreadsheet does not execute.

    Spreadsheets execute a cell that begins with ``= + - @``, a tab or a line break. Such a cell is
    exported with a leading apostrophe, which an import removes; so is a cell with apostrophes
    before such a character, so that an import restores every exported cell. In countries where a
    semicolon separates the cells, spreadsheets ignore the quotation marks after the first cell of a
    line: what follows a semicolon, a tab or a line break is treated like the beginning of a cell. A
    telephone number, ``+`` with digits and blanks, is not a formula and is not changed.
    """
    if _NUMBER.fullmatch(text):
        return text

    def marked(found: re.Match[str]) -> str:
        is_number = found["b"] == "" and _NUMBER.match(text, found.end())
        return found[0] if is_number else f"{found[0]}'"

    return _BEGIN.sub(marked, text)


def without_escape(cell: str) -> str:
    """The original text of such a cell; the digits of ``="0301"``."""
    if found := _TEXT.fullmatch(cell):
        return found[1]
    return _BEGIN.sub(lambda it: it[0][:-1] if it["a"] or it["b"] else it[0], cell)


def is_unicode(text: str) -> bool:
    """Whether text that was decoded with ``surrogateescape`` was valid UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


class CsvTable:
    """A table in a CSV file, read ``piece`` rows at a time. Raises ``OSError`` when the file cannot
    be read."""

    unread: tuple[str, ...] = ()
    """A text has no other sheets."""
    _piece = PIECE

    def __init__(self, path: Path, piece: int = PIECE) -> None:
        self._path = path
        self._piece = piece

    async def columns(self) -> tuple[str, ...]:
        """The column names, in lower case with underscores; empty for an empty file."""
        return await asyncio.to_thread(self._columns)

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows below the first line, in pieces."""
        return in_pieces(self._rows, self._piece)

    def _columns(self) -> tuple[str, ...]:
        with self._open() as file:
            try:
                return named(columns_of(_records(file)))
            except UnicodeDecodeError:
                return ()

    def _open(self) -> TextIO:
        return open_text(self._path, newline="")

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        with self._open() as file:
            yield _rows(file)


class CsvText(CsvTable):
    """A table in a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _open(self) -> TextIO:
        return io.StringIO(self._text.removeprefix("\ufeff"), newline="")


_SEPARATORS = ",;\t"


def _records(file: TextIO) -> CsvRecords:
    """The records from the heading on."""
    start = file.tell()
    first = file.readline()
    named = first.strip().lower()
    if named.startswith("sep=") and len(named) == len("sep=") + 1:
        return CsvRecords(file, named[-1], 2)
    if first.strip("\r\n").lower() == "sep=\t":
        return CsvRecords(file, "\t", 2)
    file.seek(start)
    return CsvRecords(file, max(_SEPARATORS, key=first.count))


def columns_of(records: Iterable[CsvRecord]) -> list[str]:
    """The names of the columns in the first record, empty for a column without a name."""
    first = next(iter(records), None)
    names = [] if first is None else [name.strip() for name in first.cells]
    return [_column(name) if is_unicode(name) else "?" for name in names]


def named(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that have a name."""
    return tuple(name for name in columns if name)


def _column(name: str) -> str:
    # ``values.phoneLabel`` is the text ``phoneLabel`` of a template.
    table, point, key = name.partition(".")
    return f"{table.lower().replace(' ', '_')}{point}{key}"


def _rows(file: TextIO) -> Rows:
    line = 1
    try:
        records = _records(file)
        columns = columns_of(records)
        for line, cells, problem in records:
            if problem:
                yield RowProblem(line, "", problem)
            elif any(cell.strip() for cell in cells):
                yield from row_of(line, columns, cells)
    except UnicodeDecodeError as error:
        yield RowProblem(line + 1, "", f"The text is not {error.encoding}")


def row_of(line: int, columns: list[str], cells: list[str]) -> Rows:
    """The row of the cells below these columns, or its problems."""
    if len(cells) > len(columns) and not any(cell.strip() for cell in cells[len(columns) :]):
        cells = cells[: len(columns)]
    if len(cells) != len(columns):
        problem = f"The row has {len(cells)} cells; there are {len(columns)} columns"
        yield RowProblem(line, "", problem)
        return
    row = dict(zip(columns, map(without_escape, cells), strict=True))
    row.pop("", None)
    wrong = [RowProblem(line, name, "is not in UTF-8") for name in row if not is_unicode(row[name])]
    wrong += [
        RowProblem(line, "", f"The cell of column {place} is not empty; column {place} has no name")
        for place, (name, cell) in enumerate(zip(columns, cells, strict=True), 1)
        if not name and cell.strip()
    ]
    if wrong:
        yield from wrong
    else:
        yield Row(line, row)


class CsvWriter:
    """Writes rows as CSV with ``columns``; cells that a spreadsheet might execute are escaped.

    Every cell is quoted. See ``harmless``.
    """

    def __init__(self, file: TextIO, columns: Sequence[str]) -> None:
        self._columns = columns
        self._writer = csv.writer(file, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
        self._writer.writerow(columns)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows; None is an empty cell."""
        for row in rows:
            self._writer.writerow([_cell(row[column]) for column in self._columns])


def csv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """These rows as lines of CSV; see ``CsvWriter``."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return harmless(str(value))
