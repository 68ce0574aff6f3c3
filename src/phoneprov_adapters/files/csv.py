"""CSV (RFC 4180) in UTF-8 or UTF-16. The first line names the columns.

Commas, semicolons or tabs separate the cells. Spreadsheets may name the separator in a line before
(``sep=;``) and write headings with capital letters and blanks: ``Phone IP`` is ``phone_ip``. They
also write empty columns, which are left out, and ``="0301"`` for digits that are text.
"""

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from phoneprov_adapters.files.csv_records import CsvRecords
from phoneprov_adapters.files.reading import PIECE, Rows, in_pieces, open_text
from phoneprov_core.features.transfer.model import Row, RowProblem

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
                return tuple(name for name in _header(_records(file)) if name)
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


def _header(records: CsvRecords) -> list[str]:
    """The names of the columns, empty for those without a name."""
    first = next(iter(records), None)
    names = [] if first is None else [name.strip() for name in first.cells]
    return [_column(name) if is_unicode(name) else "?" for name in names]


def _column(name: str) -> str:
    # ``values.phoneLabel`` is the text ``phoneLabel`` of a template.
    table, point, key = name.partition(".")
    return f"{table.lower().replace(' ', '_')}{point}{key}"


def _rows(file: TextIO) -> Rows:
    line = 1
    try:
        records = _records(file)
        columns = _header(records)
        for line, cells, problem in records:
            if problem:
                yield RowProblem(line, "", problem)
            elif any(cell.strip() for cell in cells):
                yield from _row(line, columns, cells)
    except UnicodeDecodeError as error:
        yield RowProblem(line + 1, "", f"The text is not {error.encoding}")


def _row(line: int, columns: list[str], cells: list[str]) -> Rows:
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


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return harmless(str(value))
