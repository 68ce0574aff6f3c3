"""Device configurations as rows: one file, a folder of ``SEP*.cnf.xml``, or a table of paths."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from phoneprov_adapters.files.csv import CsvTable
from phoneprov_adapters.files.excel import ExcelTable, has_excel_name
from phoneprov_core.features.transfer.configurations import PROFILE_COLUMNS, TEMPLATE_COLUMNS, VALUE
from phoneprov_core.features.transfer.model import OWNER, Row, RowProblem, is_note
from phoneprov_core.inventory.configuration.well_formed import LARGEST

FILE = "file"
_PIECE = 4
"""Rows that are read at a time: each may have a configuration."""
_OF_PHONE = re.compile(r"SEP[0-9A-F]{12}\.cnf\.xml", re.IGNORECASE)
_PERHAPS_OF_PHONE = re.compile(r"sep.*|.*\.cnf\b.*", re.IGNORECASE | re.DOTALL)
_ENDING = re.compile(r"(\.cnf)?\.xml$", re.IGNORECASE)


class ConfigurationTable:
    """Profiles to import. ``username`` is the owner of files without a column for it.

    A profile without a name is named after its file. Raises ``OSError``.
    """

    def __init__(self, path: Path, username: str | None = None) -> None:
        self._path = path
        self._owner = {OWNER: username} if username else {}
        self._files: list[Path] = []
        is_excel = has_excel_name(path)
        self._table = ExcelTable(path) if is_excel else CsvTable(path, _PIECE)

    async def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return PROFILE_COLUMNS

    async def unknown_columns(self) -> tuple[str, ...]:
        """The columns of the table that do not belong to a row."""
        known = {FILE, *await self.columns()}
        columns = await self._table.columns() if self.is_table() else ()
        return tuple(
            one for one in columns if not (one in known or is_note(one) or self._is_value(one))
        )

    def is_table(self) -> bool:
        """Whether the file is a table, and no configuration."""
        name = self._path
        return has_excel_name(name) or name.suffix.lower() in {".csv", ".tsv", ".txt"}

    def _is_value(self, column: str) -> bool:
        return column.startswith(VALUE)

    @property
    def unread(self) -> tuple[str, ...]:
        """The names of the sheets that were not read."""
        return self._table.unread

    def place(self, line: int) -> str:
        """The file of a row, or the line of the table."""
        return f"{self._path.name}:{line}" if not self._files else self._files[line - 1].name

    async def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows, one at a time: each may have 512 KiB."""
        if self.is_table():
            async for piece in self._table.pieces():
                for row in piece:
                    yield [row if isinstance(row, RowProblem) else await self._row(row)]
            return
        self._files = await asyncio.to_thread(self._listed)
        for number, file in enumerate(self._files, 1):
            yield [await self._row(Row(number, {FILE: file.name}))]

    def _listed(self) -> list[Path]:
        if not self._path.is_dir():
            return [self._path]
        return sorted(one for one in self._path.iterdir() if _OF_PHONE.fullmatch(one.name))

    def left_out(self) -> list[str]:
        """Names in a folder that look like configurations and are not imported: a digit is missing,
        the file is a copy, or it belongs to another kind of device."""
        if not self._path.is_dir():
            return []
        names = [one.name for one in self._path.iterdir() if not one.name.startswith(".")]
        return sorted(
            name
            for name in names
            if _PERHAPS_OF_PHONE.fullmatch(name) and not _OF_PHONE.fullmatch(name)
        )

    async def _row(self, row: Row) -> Row | RowProblem:
        cells = {**self._owner, **row.cells}
        if not (name := cells.pop(FILE, "")):
            if cells.get("template") or cells.get("cnf_xml"):
                filled = {key: text for key, text in cells.items() if text or self._is_value(key)}
                return Row(row.line, filled)
            return RowProblem(row.line, FILE, "is required, or template, or cnf_xml")
        is_folder = self._path.is_dir()
        folder = self._path if is_folder else self._path.parent
        if is_folder and not (folder / name).is_file():  # reading a pipe would block
            return RowProblem(row.line, FILE, f"{name} is not a file")
        content = await _read(row.line, folder / name, name)
        if isinstance(content, RowProblem):
            return content
        named: Mapping[str, str] = {"name": profile_name(folder / name), "cnf_xml": content}
        return Row(row.line, {**named, **{key: cell for key, cell in cells.items() if cell}})


class TemplateTable(ConfigurationTable):
    """Templates to import: a table with their texts in ``body``, or their files in ``file``."""

    async def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return TEMPLATE_COLUMNS

    def is_table(self) -> bool:
        """Always."""
        return True

    def _is_value(self, column: str) -> bool:  # noqa: ARG002 - templates have none
        return False

    async def _row(self, row: Row) -> Row | RowProblem:
        cells = dict(row.cells)
        name = cells.pop(FILE, "")
        if not name and cells.get("body"):
            return Row(row.line, cells)
        file = self._path.parent / name
        if not name or not file.is_file():
            return RowProblem(
                row.line, FILE, "must name the file of a template, unless body has its text"
            )
        body = await _read(row.line, file, name)
        return body if isinstance(body, RowProblem) else Row(row.line, {**cells, "body": body})


async def _read(line: int, file: Path, name: str) -> str | RowProblem:
    try:
        return await asyncio.to_thread(read_configuration, file)
    except OSError as error:
        return RowProblem(line, FILE, f"{name} cannot be read ({error.strerror})")
    except ValueError as error:
        return RowProblem(line, FILE, f"{name} {error}")


def read_configuration(file: Path) -> str:
    """The exact text of a configuration file, without a byte order mark.

    Raises ``OSError``; ``ValueError`` for a file that is too large or not UTF-8.
    """
    with file.open("rb") as stream:
        content = stream.read(LARGEST * 2 + 1)
    if len(content) > LARGEST * 2:
        raise ValueError("is too large for a configuration")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not in UTF-8; convert it, and its XML declaration") from None


def profile_name(file: Path) -> str:
    """The name of a profile whose file contains none."""
    return _ENDING.sub("", file.name)
