"""Tables in Excel files (``.xlsx``), read by openpyxl.

The file may come by e-mail from anyone. Before openpyxl sees it, every part is read once by expat,
which holds no part in memory: it finds what makes a file dangerous or slow (a document type, which
could define entities; more bytes, elements or cells than a table of an office has; long texts, on
which patterns of openpyxl take quadratic time) and what a table of cells would not say: cells
without a value of their own.
"""

import asyncio
import re
import time
import warnings
from collections import defaultdict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date, datetime, time as time_of_day
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NoReturn
from xml.parsers import expat
from xml.parsers.expat import XMLParserType
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from phoneprov_adapters.files.csv import CsvRecord, CsvText, columns_of, named, row_of
from phoneprov_adapters.files.reading import PIECE
from phoneprov_core.features.transfer.model import Row, RowProblem
from phoneprov_core.kernel.commands import invalid, wrong
from phoneprov_core.kernel.errors import Invalid, Problem, Unavailable

MOST_BYTES = 64 << 20
"""Of the file, and of its parts after decompression."""
MOST_PARTS = 1000
MOST_CELLS = 200_000
_MOST_PLACES = 2_000_000
"""Cells, with the empty cells before the last cell of a row."""
MOST_ELEMENTS = 1_000_000
_MOST_OF_OTHERS = 50_000
"""Elements of a part that is neither a sheet nor texts: openpyxl keeps these as objects."""
_DEEPEST = 100
_LONGEST = 32_767
"""Characters of a text or a value; Excel allows no more in a cell."""
_LONGEST_FORMAT = 255
_MOST_SECONDS = 30.0
_PATIENCE = 60.0
"""Seconds for a file and the files before it."""
_MOST_PROBLEMS = 20
_LAST_ROW = 1_048_576
_MOST_DIGITS = 15
"""Excel keeps no more digits of a number."""

_XLSX = "xlsx"
"""The field of a request that has the file."""
_MAGIC = b"PK"
_OLD = b"\xd0\xcf\x11\xe0"
_ENDINGS = {".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb", ".xls"}
_LARGE = {"worksheet", "sst", "pivotCacheRecords"}
_PADDED = re.compile("0{2,}")
_UNREADABLE = "cannot be read as an Excel file; open it in Excel and save it as .xlsx"


def has_excel_name(file: Path) -> bool:
    """Whether a file has the name of one of Excel."""
    return file.suffix.lower() in _ENDINGS


def begins_as_excel(content: bytes) -> bool:
    """Whether these are the first bytes of an Excel file."""
    return content.startswith((_MAGIC, _OLD))


def is_excel(file: Path, name: Path) -> bool:
    """Whether the file, which was given as ``name``, is one of Excel. Raises ``OSError``."""
    if has_excel_name(name):
        return True
    with file.open("rb") as content:
        return begins_as_excel(content.read(4))


# Files at the same time take the event loop's time, and the threads of all other work.
_one_at_a_time = ThreadPoolExecutor(1, "phoneprov-excel")


def table_in(content: str | bytes) -> "CsvText | ExcelTable":
    """The table in a CSV text, or in the bytes of an Excel file."""
    return CsvText(content) if isinstance(content, str) else ExcelTable(content)


class ExcelTable:
    """The first visible sheet of an Excel file, whose first row with a value names the columns. The
    line of a row is its number in Excel. A number is read as Excel shows it: without a decimal
    point if it has no decimals, and with the zeros of a format such as ``0000``. The file is read
    once, in a thread that reads one file at a time, with the first call of ``columns`` or
    ``pieces``.

    Raises ``OSError``; ``Unavailable`` if its turn does not come; ``Invalid`` if the file cannot be
    read, or names the cells that have no value of their own: merged ones, errors, and formulas that
    were never calculated."""

    unread: tuple[str, ...] = ()
    """The names of the other sheets, once the file is read."""

    def __init__(self, source: Path | bytes) -> None:
        self._source = source
        self._records: list[CsvRecord] | None = None

    async def columns(self) -> tuple[str, ...]:
        """The column names, in lower case with underscores; empty for an empty sheet."""
        return named(columns_of(await self._in_turn()))

    async def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """The rows below the names, in pieces."""
        records = await self._in_turn()
        columns = columns_of(records)
        for start in range(1, len(records), PIECE):
            yield [
                row
                for line, cells, _ in records[start : start + PIECE]
                for row in row_of(line, columns, [*cells, *[""] * (len(columns) - len(cells))])
            ]

    async def _in_turn(self) -> list[CsvRecord]:
        if self._records is None:
            work = asyncio.get_running_loop().run_in_executor(_one_at_a_time, self._read)
            try:
                self._records = await asyncio.wait_for(work, _PATIENCE)
            except TimeoutError:
                raise Unavailable("Other Excel files are being read; try again shortly.") from None
        return self._records

    def _read(self) -> list[CsvRecord]:
        source = self._source
        with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
            return self._read_from(file)

    def _read_from(self, file: BinaryIO) -> list[CsvRecord]:
        start = file.read(4)
        if start == _OLD:
            raise wrong(_XLSX, "is an .xls file, or has a password; save it as .xlsx without one")
        if file.seek(0, SEEK_END) > MOST_BYTES:
            raise _too_large()
        try:
            with ZipFile(file) as archive:
                scan = _Scan()
                for part in _parts(archive):
                    scan.read(archive, part)
                return self._records_of(_opened(file), scan)
        except (Invalid, MemoryError):
            raise
        except Exception:  # noqa: BLE001 - openpyxl raises what its code happens to meet
            raise wrong(_XLSX, _UNREADABLE) from None

    def _records_of(self, reader: Any, scan: "_Scan") -> list[CsvRecord]:
        book = reader.wb
        sheets = [one for one in book.worksheets if one.sheet_state == "visible"]
        if not sheets:
            raise wrong(_XLSX, "has no sheet")
        sheet: Any = sheets[0]
        self.unread = tuple(name for name in book.sheetnames if name != sheet.title)
        parts = {one.name: relation.target for one, relation in reader.parser.find_sheets()}
        problems = scan.problems[parts[sheet.title]]
        # What the sheet says of its size is not always true.
        sheet.reset_dimensions()
        records: list[CsvRecord] = []
        length = places = 0
        for line, row in enumerate(sheet.iter_rows(), 1):
            problems += [Problem(cell.coordinate, _ERROR) for cell in row if cell.data_type == "e"]
            cells = [_text(cell) for cell in row]
            length += sum(map(len, cells))
            places += len(cells)
            if length > MOST_BYTES or places > _MOST_PLACES:
                raise _too_large()
            scan.check_time()
            if any(cells):
                records.append(CsvRecord(line, cells))
        if problems:
            raise invalid(problems[:_MOST_PROBLEMS])
        return records


def _opened(file: BinaryIO) -> Any:
    """The reader of the workbook with its texts, formats and sheets alone: its names, pictures and
    properties are not needed, and their patterns take long on long texts."""
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415 - slow to load
    from openpyxl.styles.stylesheet import apply_stylesheet  # noqa: PLC0415

    # It warns of what it does not keep of a file that it would write again.
    warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
    reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
    reader.read_manifest()
    reader.read_strings()
    reader.read_workbook()
    apply_stylesheet(reader.archive, reader.wb)
    reader.read_worksheets()
    return reader


def _too_large() -> Invalid:
    return wrong(
        _XLSX,
        f"is too large: a table has at most {MOST_CELLS:,} cells, and its file {MOST_BYTES >> 20} "
        "MiB without compression; copy the cells into a new file, or save it as CSV",
    )


_ERROR = "is an error of the spreadsheet, and no value"
_FORMULA = "is a formula without a value; open the file in Excel and save it"
_MERGED = "are merged cells, of which only the first has a value; unmerge them and fill each"


def _parts(archive: ZipFile) -> list[ZipInfo]:
    """The parts of the file, if it is an Excel file of a reasonable size."""
    parts = archive.infolist()
    if any(part.flag_bits & 1 for part in parts):
        raise wrong(_XLSX, "has a password; save it without one")
    if any(part.filename.lower().endswith("vbaproject.bin") for part in parts):
        raise wrong(_XLSX, "has macros; save it as .xlsx")
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_BYTES:
        raise _too_large()
    if any(part.compress_type not in {ZIP_STORED, ZIP_DEFLATED} for part in parts):
        raise wrong(_XLSX, _UNREADABLE)
    return parts


class _Scan:
    """Reads every part before openpyxl does, and keeps the problems of each sheet by its part."""

    def __init__(self) -> None:
        self.problems: defaultdict[str, list[Problem]] = defaultdict(list)
        self._ends = time.monotonic() + _MOST_SECONDS
        self._elements = 0
        self._cells = 0

    def check_time(self) -> None:
        """Raises ``Invalid`` when the file takes too long."""
        if time.monotonic() > self._ends:
            raise _too_large()

    def read(self, archive: ZipFile, part: ZipInfo) -> None:
        """Read one part. One that is not XML, such as a picture, is left to openpyxl."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        _Part(self, parser, self.problems[part.filename])
        with archive.open(part) as content, suppress(expat.ExpatError):
            while piece := content.read(1 << 16):
                parser.Parse(piece)
                self.check_time()
            parser.Parse(b"", True)

    def count(self, *, cell: bool) -> None:
        """Count an element."""
        self._elements += 1
        self._cells += cell
        if self._elements > MOST_ELEMENTS or self._cells > MOST_CELLS:
            raise _too_large()


class _Part:
    """The handlers of one part."""

    def __init__(self, scan: _Scan, parser: XMLParserType, problems: list[Problem]) -> None:
        self._scan, self._problems = scan, problems
        self._root = ""
        self._depth = self._count = self._length = 0
        self._row = 0
        self._column = ""
        self._cell: dict[str, str] = {}
        self._is_formula = self._has_value = False
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def _refuse(self, *_: object) -> NoReturn:
        raise wrong(_XLSX, "has a document type, which no Excel file has")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        self._root = self._root or tag
        self._depth += 1
        self._count += 1
        self._length = 0
        is_cell = tag == "c"
        self._scan.count(cell=is_cell)
        longest = _LONGEST_FORMAT if tag == "numFmt" else _LONGEST
        if (
            self._depth > _DEEPEST
            or (self._root not in _LARGE and self._count > _MOST_OF_OTHERS)
            or any(len(value) > longest for value in attributes.values())
        ):
            raise _too_large()
        if self._root == "worksheet":
            self._in_sheet(tag, attributes)

    def _in_sheet(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "row":
            before, self._row = self._row, int(attributes.get("r", self._row + 1))
            self._column = ""
            if not before < self._row <= _LAST_ROW:
                raise wrong(_XLSX, _UNREADABLE)
        elif tag == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            # A cell that is out of order would replace another.
            if letters and (len(letters), letters) <= (len(self._column), self._column):
                raise wrong(_XLSX, _UNREADABLE)
            self._column = letters
            self._cell = attributes
            self._is_formula = self._has_value = False
        elif tag == "f":
            self._is_formula = True
        elif tag == "mergeCell":
            self._problems.append(Problem(attributes.get("ref", ""), _MERGED))

    def _text(self, text: str) -> None:
        self._length += len(text)
        if self._length > _LONGEST:
            raise _too_large()

    def _end(self, name: str) -> None:
        self._depth -= 1
        tag = name.rpartition(" ")[2]
        if tag == "v":
            self._has_value = self._length > 0
        elif tag == "c" and self._is_formula and not self._has_value:
            self._is_formula = False
            if self._cell.get("t") != "str":  # a text may be empty
                place = self._cell.get("r", f"row {self._row}")
                self._problems.append(Problem(place, _FORMULA))
        self._length = 0


def _text(cell: Any) -> str:
    """The value as Excel shows it, in the forms that an import reads."""
    value = cell.value
    if isinstance(value, float):
        value = float(f"{value:.{_MOST_DIGITS}g}")
        value = int(value) if value.is_integer() else value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) >= 10**_MOST_DIGITS:
            return f"{value:E}"  # the further digits differ from the typed digits
        is_padded = value >= 0 and _PADDED.fullmatch(cell.number_format)
        return str(value).zfill(len(cell.number_format) if is_padded else 0)
    if isinstance(value, datetime) and value.time() == time_of_day.min:
        value = value.date()
    return value.isoformat() if isinstance(value, date | time_of_day) else str(value)
