"""CSV (RFC 4180) in UTF-8 or UTF-16. The first line names the columns.

Commas, semicolons or tabs separate the cells. Spreadsheets may name the separator in a line before
(``sep=;``) and write headings with capital letters and blanks: ``Phone IP`` is ``phone_ip``.
"""

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from phoneprov_adapters.files.reading import PIECE, Rows, in_pieces, open_text
from phoneprov_core.configuration.well_formed import LARGEST
from phoneprov_core.transfer.model import Row, RowProblem

csv.field_size_limit(2 * LARGEST)
"""A cell may be a configuration; Python's own limit is 128 KiB."""
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"\+[0-9]+(?: [0-9]+)*", re.ASCII)


def harmless(text: str) -> str:
    """The text in a form that a spreadsheet does not execute.

    Spreadsheets execute a cell that begins with ``= + - @``, a tab or a line break. Such a cell is
    exported with a leading apostrophe, which an import removes; so is a cell with apostrophes
    before such a character, so that an import restores every exported cell. A telephone number,
    ``+`` with digits and blanks, is not a formula and is not changed.
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def without_escape(cell: str) -> str:
    """The original text of such a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


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
                return tuple(_header(_reader(file)[0]))
            except (csv.Error, UnicodeDecodeError):
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


def _reader(file: TextIO) -> tuple[Any, int]:
    """The reader, and the number of lines before the heading."""
    start = file.tell()
    first = file.readline()
    named = first.strip().lower()
    if named.startswith("sep=") and len(named) == len("sep=") + 1:
        return csv.reader(file, delimiter=named[-1]), 1
    if first.strip("\r\n").lower() == "sep=\t":
        return csv.reader(file, delimiter="\t"), 1
    file.seek(start)
    return csv.reader(file, delimiter=max(_SEPARATORS, key=first.count)), 0


def _header(reader: Any) -> list[str]:
    return [_column(name.strip()) if is_unicode(name) else "?" for name in next(reader, [])]


def _column(name: str) -> str:
    # ``values.phoneLabel`` is the text ``phoneLabel`` of a template.
    table, point, key = name.partition(".")
    return f"{table.lower().replace(' ', '_')}{point}{key}"


def _rows(file: TextIO) -> Rows:
    try:
        reader, before = _reader(file)
        columns = _header(reader)
    except (csv.Error, UnicodeDecodeError):
        return
    while True:
        line = reader.line_num + before + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield RowProblem(line, "", f"The line is not CSV: {error}")
            return
        except UnicodeDecodeError as error:
            yield RowProblem(line, "", f"The text is not {error.encoding}")
            return
        if cells is None:
            return
        if not any(cells):
            continue
        if len(cells) != len(columns):
            yield RowProblem(
                line, "", f"The row has {len(cells)} cells; there are {len(columns)} columns"
            )
            continue
        row = dict(zip(columns, map(without_escape, cells), strict=True))
        if wrong := [column for column, cell in row.items() if not is_unicode(cell)]:
            yield from (RowProblem(line, column, "is not in UTF-8") for column in wrong)
            continue
        yield Row(line, row)


class CsvWriter:
    """Writes rows as CSV with ``columns``; cells that a spreadsheet might execute are escaped.

    Every cell is quoted: a spreadsheet that separates cells by semicolons executes what follows one
    in ``Ada;=1+1``.
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
