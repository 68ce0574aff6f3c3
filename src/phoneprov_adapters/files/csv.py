"""CSV (RFC 4180) in UTF-8. A first line names the columns; a semicolon separates, too."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from phoneprov_adapters.files.cells import harmless, is_unicode, meant
from phoneprov_adapters.files.pieces import Rows, in_pieces
from phoneprov_core.transfer.model import Row, RowProblem


class CsvTable:
    """A table in a CSV file. Raises ``OSError`` when the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def columns(self) -> tuple[str, ...]:
        """The names in the first line; empty for an empty file."""
        return await asyncio.to_thread(self._columns)

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows below the first line, some at a time."""
        return in_pieces(self._rows)

    def _columns(self) -> tuple[str, ...]:
        with self._open() as file:
            try:
                return tuple(_header(_reader(file)))
            except csv.Error:
                return ()

    def _open(self) -> TextIO:
        # Excel begins UTF-8 with a mark of its own. What is not UTF-8 is found row by row.
        return self._path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        with self._open() as file:
            yield _rows(file)


def _reader(file: TextIO) -> Any:
    first = file.readline()
    file.seek(0)
    return csv.reader(file, delimiter=";" if ";" in first and "," not in first else ",")


def _header(reader: Any) -> list[str]:
    return [name.strip() if is_unicode(name) else "?" for name in next(reader, [])]


def _rows(file: TextIO) -> Rows:
    try:
        reader = _reader(file)
        columns = _header(reader)
    except csv.Error:
        return
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield RowProblem(line, "", f"This is no CSV: {error}")
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
        row = dict(zip(columns, map(meant, cells), strict=True))
        if wrong := [column for column, cell in row.items() if not is_unicode(cell)]:
            yield from (RowProblem(line, column, "is not in UTF-8") for column in wrong)
            continue
        yield Row(line, row)


class CsvWriter:
    """Writes rows as CSV with ``columns``; what a spreadsheet might carry out is harmless."""

    def __init__(self, file: TextIO, columns: Sequence[str]) -> None:
        self._columns = columns
        self._writer = csv.writer(file, lineterminator="\r\n")
        self._writer.writerow(columns)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Some more rows; None is an empty cell."""
        for row in rows:
            self._writer.writerow([_cell(row[column]) for column in self._columns])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return harmless(str(value))
