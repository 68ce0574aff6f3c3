"""Excel files as tables: values as they were typed, and files that are no tables."""

import asyncio
import time
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from phoneprov_adapters.files import excel as excel_files
from phoneprov_adapters.files.excel import MOST_CELLS, ExcelTable, table_in
from phoneprov_core.features.transfer.model import Row, RowProblem
from phoneprov_core.kernel.errors import Invalid, Unavailable
from support.excel import BOOK, SHEET, excel, with_parts, with_texts

HEADING = ["User name", "number"]
ROWS = [HEADING, ["ada", "0301"]]


def in_sheet(cells: bytes) -> dict[str, Callable[[bytes], bytes]]:
    """The change that adds rows to the sheet."""
    return {SHEET: lambda old: old.replace(b"</sheetData>", cells + b"</sheetData>")}


async def rows_of(source: bytes | Path) -> list[Row | RowProblem]:
    return [row async for piece in ExcelTable(source).pieces() for row in piece]


async def cell_of(value: Any, number_format: str = "General") -> str:
    """What is read of a cell with this value."""

    def formatted(book: Workbook) -> None:
        book.active["A2"].number_format = number_format

    (row,) = await rows_of(excel([["value", "other"], [value, "x"]], formatted))
    assert isinstance(row, Row)
    return row.cells["value"]


async def refusal_of(source: bytes | Path) -> list[tuple[str, str]]:
    """The fields that are named when the file is refused, with the reasons."""
    with pytest.raises(Invalid) as refused:
        await rows_of(source)
    return [(problem.field, problem.message) for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        ("0301", "General", "0301"), (301, "General", "301"), (301.0, "General", "301"),
        (301, "0000", "0301"), (301, "0.00", "301"), (1.5, "General", "1.5"),
        (0.1 + 0.2, "General", "0.3"), (4930123456.0, "General", "4930123456"),
        ("+49 30 123456", "General", "+49 30 123456"), (True, "General", "true"),
        (False, "General", "false"), (" a\nb ", "General", " a\nb "), ("'=1+1", "General", "=1+1"),
        (date(2026, 3, 1), "yyyy-mm-dd", "2026-03-01"),
        (datetime(2026, 3, 1, 8, 30), "yyyy-mm-dd hh:mm", "2026-03-01T08:30:00"),  # noqa: DTZ001
    ],
)  # fmt: skip
async def test_excel_value_is_read_as_it_is_shown(
    value: Any, number_format: str, text: str
) -> None:
    assert await cell_of(value, number_format) == text


async def test_excel_number_that_lost_digits_is_in_scientific_notation() -> None:
    assert await cell_of(4930123456789012345) == "4.930123E+18"


async def test_excel_rows_have_their_numbers_in_excel() -> None:
    file = excel([[], HEADING, ["ada", 301], [], ["bob"], ["eve", 303, None, "stray"]])
    first, second, wrong = await rows_of(file)

    assert (first, second) == (
        Row(3, {"user_name": "ada", "number": "301"}), Row(5, {"user_name": "bob", "number": ""})
    )  # fmt: skip
    assert wrong == RowProblem(6, "", "The row has 4 cells; there are 2 columns")
    assert await ExcelTable(file).columns() == ("user_name", "number")


async def test_excel_first_visible_sheet_is_read_and_the_others_are_named() -> None:
    def further(book: Workbook) -> None:
        book.create_sheet("Hidden", 0).sheet_state = "hidden"
        book.create_sheet("Old").append(["user_name", "eve"])

    table = ExcelTable(excel(ROWS, further))

    assert await table.columns() == ("user_name", "number")
    assert table.unread == ("Hidden", "Old")


async def test_excel_cells_without_a_value_of_their_own_are_named() -> None:
    def change(book: Workbook) -> None:
        sheet = book.active
        sheet["B3"] = "=A1"
        sheet.merge_cells("A5:A6")

    error = in_sheet(b'<row r="9"><c r="A9" t="e"><v>#N/A</v></c></row>')
    refusal = await refusal_of(with_parts(excel(ROWS, change), error))

    assert [field for field, _ in refusal] == ["B3", "A5:A6", "A9"]


async def test_excel_formula_has_the_value_that_was_calculated() -> None:
    number = b'<c r="A2"><f>300+1</f><v>301</v></c>'
    text = b'<c r="B2" t="str"><f>""</f><v></v></c>'
    row = b'<row r="2">%b</row>' % (number + text)

    assert await rows_of(with_parts(excel([HEADING]), in_sheet(row))) == [
        Row(2, {"user_name": "301", "number": ""})
    ]


async def test_excel_shared_texts_are_read() -> None:
    row = b'<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="s"><v>0</v></c></row>'
    texts = b"<si><t>0301</t></si><si><r><t>a</t></r><r><t>da</t></r></si>"

    assert await rows_of(with_parts(with_texts(excel([HEADING]), texts), in_sheet(row))) == [
        Row(2, {"user_name": "ada", "number": "0301"})
    ]


async def test_excel_size_that_the_sheet_claims_is_not_believed() -> None:
    file = with_parts(
        excel(ROWS), {SHEET: lambda old: old.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"')}
    )

    assert await rows_of(file) == [Row(2, {"user_name": "ada", "number": "0301"})]


NAME = (
    b'<definedNames><definedName name="_xlnm.Print_Titles" localSheetId="0">%b</definedName>'
    b"</definedNames><calcPr"
)


@pytest.mark.parametrize(
    "part",
    [
        {BOOK: lambda old: old.replace(b"<calcPr", NAME % (b"'" * 30_000))},
        {BOOK: lambda old: old.replace(b"<calcPr", b"<externalReferences/><calcPr")},
        {SHEET: lambda old: old.replace(
            b"</worksheet>", b"<headerFooter><oddHeader>%b</oddHeader></headerFooter></worksheet>"
            % (b"&amp;L" * 5_000))},
        {"xl/media/image1.png": lambda _: b"\x89PNG\r\n" + bytes(range(256))},
        {"../../etc/passwd": lambda _: b"root"},
    ],
    ids=["print titles", "external links", "header", "picture", "path"],
)  # fmt: skip
async def test_excel_parts_beside_the_table_do_not_matter(
    part: dict[str, Callable[[bytes], bytes]],
) -> None:
    began = time.monotonic()

    assert await rows_of(with_parts(excel(ROWS), part)) == [
        Row(2, {"user_name": "ada", "number": "0301"})
    ]
    assert time.monotonic() - began < 5


DOCTYPE = b'<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
WIDE = b"".join(b'<row r="%d"><c r="ZZZ%d"><v>1</v></c></row>' % (n, n) for n in range(3, 1000))
MANY = b'<row r="3">%b</row>' % (b"<c/>" * MOST_CELLS)
TWICE = b'<row r="3"><c r="A3"><v>1</v></c><c r="A3"><v>2</v></c></row>'


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "cannot be read"),
        (b"PK\x03\x04" + b"x" * 100, "cannot be read"),
        (b"user_name,number\n", "cannot be read"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 100, "is an .xls file, or has a password"),
        (with_parts(excel(ROWS), {"xl/vbaProject.bin": lambda _: b"x"}), "has macros"),
        (with_parts(excel(ROWS), {SHEET: lambda old: DOCTYPE + old}), "document type"),
        (with_parts(excel(ROWS), {SHEET: lambda old: old[:-40]}), "cannot be read"),
        (with_parts(excel(ROWS), {"xl/styles.xml": lambda old: old.replace(
            b"<fonts", b"<numFmts><numFmt numFmtId='200' formatCode='%b'/></numFmts><fonts"
            % (b"[" * 300))}), "too large"),
        (with_parts(excel(ROWS), {"xl/styles.xml": lambda old: old.replace(
            b"</fonts>", b"<font/>" * 60_000 + b"</fonts>")}), "too large"),
        (with_parts(excel(ROWS), in_sheet(b'<row r="9999999999"/>')), "cannot be read"),
        (with_parts(excel(ROWS), in_sheet(b'<row r="1"/>')), "cannot be read"),
        (with_parts(excel(ROWS), in_sheet(TWICE)), "cannot be read"),
        (with_parts(excel(ROWS), in_sheet(WIDE)), "too large"),
        (with_parts(excel(ROWS), in_sheet(MANY)), "too large"),
        (with_parts(excel(ROWS), in_sheet(b"<a>" * 1000)), "too large"),
        (with_texts(excel(ROWS), b"<si><t>%b</t></si>" % (b"a" * 40_000)), "too large"),
        (with_texts(excel(ROWS), b"<si><t/></si>" * 510_000), "too large"),
        (with_parts(excel(ROWS), {"xl/media/a.bin": lambda _: bytes(65 << 20)}), "too large"),
    ],
    ids=[
        "empty", "no zip", "csv", "xls", "macros", "entities", "cut", "long format", "many fonts",
        "row beyond", "row twice", "cell twice", "wide", "many cells", "deep", "long text",
        "many texts", "bomb",
    ],
)  # fmt: skip
async def test_excel_file_that_is_no_table_is_refused(file: bytes, reason: str) -> None:
    began = time.monotonic()

    ((field, message),) = await refusal_of(file)

    assert (field, reason in message) == ("xlsx", True), message
    assert time.monotonic() - began < 20


async def test_excel_file_is_read_in_a_thread_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.xlsx"
    path.write_bytes(excel(ROWS))
    table = ExcelTable(path)
    first = await table.columns()
    path.unlink()

    assert first == await table.columns()
    assert len([row async for piece in table.pieces() for row in piece]) == 1


async def test_excel_file_without_a_sheet_of_rows_has_no_columns() -> None:
    assert await table_in(excel([])).columns() == ()
    assert await table_in("a,b\n").columns() == ("a", "b")


async def test_files_at_the_same_time_are_read_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, most = 0, 0

    def read(_table: ExcelTable) -> list[object]:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0.05)
        reading -= 1
        return []

    monkeypatch.setattr(ExcelTable, "_read", read)
    await asyncio.gather(*(ExcelTable(b"").columns() for _ in range(4)))
    assert most == 1

    monkeypatch.setattr(excel_files, "_PATIENCE", 0.01)
    with pytest.raises(Unavailable, match="Other Excel files are being read"):
        await ExcelTable(b"").columns()
