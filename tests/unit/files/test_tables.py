"""Tables as files: an export can be imported unchanged, and errors name their line."""

import csv
import io
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from phoneprov_adapters.files.csv import LONGEST_CELL, CsvTable, CsvWriter, harmless, without_escape
from phoneprov_adapters.files.vcard import VcardTable, VcardWriter
from phoneprov_core.features.transfer.model import Row, RowProblem
from phoneprov_core.features.transfer.sheets import COMPANY_DIRECTORY, PERSONAL_DIRECTORY
from unit.files.test_foreign_files import rows_of

COLUMNS = COMPANY_DIRECTORY.columns


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# CSV

SIGNS = "=+-@;\t\r\n'\"\uff1d 1a,"
FILLED = st.text(min_size=1).filter(str.strip)
TEXT = st.text(st.sampled_from(SIGNS), max_size=12)
FORMULAS = ["=1+1", "+1-2", "-1", "@SUM(A1)", "'=x", "''+1", "\t=1", "\uff1d1"]


@given(st.text() | TEXT | st.sampled_from(FORMULAS) | st.from_regex(r"'*[=+@-].*"))
def test_csv_cells_are_no_formulas_and_are_read_back(text: str) -> None:
    cell = harmless(text)

    assert without_escape(cell) == text
    if cell[:1] in {"=", "-", "@", "\t", "\r", "\n", "+"} and cell:
        assert set(cell) <= set("+0123456789 ")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"), ("+1-1", "'+1-1"), ("\uff1d1", "'\uff1d1"), ("'=1", "''=1"),
        ("\t=1", "'\t'=1"), ("Ada;=1+1", "Ada;'=1+1"), ("a\n-1", "a\n'-1"), ('x;"=1', "x;\"'=1"),
        ("x;'@y;\uff0b1", "x;''@y;'\uff0b1"), ("x;+44 20;+1-1", "x;+44 20;'+1-1"),
        ("a=b; -c", "a=b; -c"),
    ],
)  # fmt: skip
def test_csv_part_of_a_cell_is_no_formula(text: str, cell: str) -> None:
    assert harmless(text) == cell
    assert without_escape(cell) == text


def test_csv_telephone_number_is_kept() -> None:
    assert harmless("+44 20 7946 0018") == "+44 20 7946 0018"


def test_csv_export_quotes_every_cell() -> None:
    file = io.StringIO()
    CsvWriter(file, ("a", "b")).write([{"a": "Ada;=1+1", "b": None}, {"a": True, "b": '=x"y'}])

    assert file.getvalue() == '"a","b"\r\n"Ada;\'=1+1",""\r\n"true","\'=x""y"\r\n'


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@given(texts=st.lists(TEXT, min_size=3, max_size=3))
def test_csv_export_has_no_formula_with_any_separator(texts: list[str], separator: str) -> None:
    """A spreadsheet reads the file with the separator of its country, and quotation marks only
    at the beginning of a cell."""
    file = io.StringIO(newline="")
    CsvWriter(file, ("a", "b", "c")).write([dict(zip("abc", texts, strict=True))])
    lines = io.StringIO(file.getvalue(), newline="")

    for row in csv.reader(lines, delimiter=separator):
        for cell in row:
            # A number is none, and a mark of the quotation may follow it.
            if cell[:1] in set("=-@\uff1d\uff0b\uff0d\uff20+") and cell:
                assert set(cell) <= set('+0123456789 ",'), (row, file.getvalue())


STRAY = "A quotation mark is inside a cell"
OPENED = "A quotation mark is opened here"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("rows", "problems", "names"),
    [
        (['"Hall,1', "Annex,2", "Attic,3"], {2: f"{OPENED} and never closed"}, ["Annex", "Attic"]),
        (
            ['"Hall,1', '19" rack,2', "Attic,3"],
            {2: f"{OPENED}; line 3 has one inside a cell", 3: STRAY},
            ["Attic"],
        ),
        (['Hall "A",1', 'Annex",2', "Attic,3"], {2: STRAY, 3: STRAY}, ["Attic"]),
        (['"Hall"A,1', '"Annex",2'], {2: STRAY}, ["Annex"]),
        (["Hall,1", 'Annex,"'], {3: f"{OPENED} and never closed"}, ["Hall"]),
        (['"Hall', 'two",1', '"x'], {4: f"{OPENED} and never closed"}, ["Hall\ntwo"]),
        (['"a ""b"""', '="1",2'], {2: "The row has 1 cells"}, ["1"]),
    ],
)
async def test_csv_stray_quotation_mark_is_an_error_of_its_line(
    tmp_path: Path,
    rows: list[str],
    problems: dict[int, str],
    names: list[str],
    end: str,
    separator: str,
) -> None:
    text = end.join(["name,work", *rows]).replace(",", separator) + end

    found = await rows_of(CsvTable(written(tmp_path / "f.csv", text)))

    said = {row.line: row.message for row in found if isinstance(row, RowProblem)}
    assert list(said) == list(problems)
    assert all(said[line].startswith(problems[line]) for line in said), said
    read = [row.cells["name"] for row in found if isinstance(row, Row)]
    assert read == [name.replace("\n", end) for name in names]


@pytest.mark.parametrize("line", ['"x', 'a,""b', '"a" b', '""', '"""', 'x"', '=""', '="a"b'])
async def test_csv_of_many_stray_marks_is_read_in_linear_time(tmp_path: Path, line: str) -> None:
    async def took(count: int) -> float:
        path = written(tmp_path / "f.csv", "name\n" + f"{line}\n" * count)
        began = time.process_time()
        await rows_of(CsvTable(path))
        return time.process_time() - began

    assert await took(40_000) < 20 * max(await took(4_000), 0.02)


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("name;work;;\r\nAda;1001;;\r\n", {"name": "Ada", "work": "1001"}),
        ("name,,work\nAda, ,1001\n", {"name": "Ada", "work": "1001"}),
        ("name,work\nAda,1001,,\n", {"name": "Ada", "work": "1001"}),
        ('name,work\nAda,="0301"\n', {"name": "Ada", "work": "0301"}),
        ('name,work\nAda,"=""0301"""\n', {"name": "Ada", "work": "0301"}),
        ('name;work\nAda;="";\n', {"name": "Ada", "work": ""}),
    ],
)
async def test_csv_columns_and_texts_of_spreadsheets_are_read(
    tmp_path: Path, content: str, cells: dict[str, str]
) -> None:
    table = CsvTable(written(tmp_path / "f.csv", content))

    assert await table.columns() == ("name", "work")
    assert await rows_of(table) == [Row(2, cells)]


async def test_csv_cell_of_a_column_without_a_name_is_a_problem(tmp_path: Path) -> None:
    content = "name,,work\nAda,,1\nBob,x,2\nEve,,3,4\n"
    rows = await rows_of(CsvTable(written(tmp_path / "f.csv", content)))

    assert [row.message for row in rows if isinstance(row, RowProblem)] == [
        "The cell of column 2 is not empty; column 2 has no name",
        "The row has 4 cells; there are 3 columns",
    ]
    assert [row.line for row in rows] == [2, 3, 4]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.tuples(FILLED, st.text()), max_size=5))
async def test_csv_export_can_be_imported_unchanged(
    tmp_path: Path, values: list[tuple[str, str]]
) -> None:
    path = tmp_path / "file.csv"
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            CsvWriter(file, ("a", "b")).write({"a": a, "b": b} for a, b in values)
    except UnicodeEncodeError:
        return

    table = CsvTable(path)

    assert await table.columns() == ("a", "b")
    rows = await rows_of(table)
    assert [tuple(row.cells.values()) for row in rows if isinstance(row, Row)] == values


async def test_csv_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    content = 'name,work\n"two\nlines",1\nAda\nBob,2\n'

    rows = await rows_of(CsvTable(written(tmp_path / "f.csv", content)))

    assert [row.line for row in rows] == [2, 4, 5]
    assert isinstance(rows[1], RowProblem)
    assert "1 cells" in rows[1].message


@pytest.mark.parametrize(
    "content",
    [b"name\nAda\n\xff\xfe\n", b'name\nAda\n"open' + b"x" * (LONGEST_CELL + 1)],
)
async def test_unreadable_file_is_refused(tmp_path: Path, content: bytes) -> None:
    rows = await rows_of(CsvTable(written(tmp_path / "f.csv", content)))

    assert isinstance(rows[-1], RowProblem)
    assert rows[-1].line == 3


async def test_csv_empty_file_has_no_columns(tmp_path: Path) -> None:
    table = CsvTable(written(tmp_path / "f.csv", b""))

    assert await table.columns() == ()
    assert await rows_of(table) == []


# vCard

CARDS = """\
BEGIN:VCARD
VERSION:3.0
UID:urn:uuid:12345678-1234-1234-1234-123456789ABC
FN:Ada Lovelace
TEL;TYPE=WORK,VOICE:+44 20
TEL;TYPE=CELL:079
TEL;TYPE=HOME:1
TEL;TYPE=WORK:2
EMAIL;TYPE=INTERNET:ada@example.com
ORG:Acme;Sales
END:VCARD
BEGIN:VCARD
VERSION:4.0
FN:Bob\\, Jr\\; the 2nd
TEL;VALUE=uri;TYPE="voice,home":tel:+1-555
END:VCARD
BEGIN:VCARD
garbage
END:VCARD
BEGIN:VCARD
VERSION:2.1
N:Gr\u00fcn;J\u00fcrg
TEL;CELL:123
END:VCARD
BEGIN:VCARD
FN:never ends
"""


async def test_vcard_versions_are_read(tmp_path: Path) -> None:
    rows = await rows_of(VcardTable(written(tmp_path / "f.vcf", CARDS), COLUMNS))

    assert [row.line for row in rows] == [1, 12, 17, 20, 25]
    ada, bob, bad, juerg, open_ = rows
    assert isinstance(ada, Row)
    assert ada.cells == {
        "uuid": "12345678-1234-1234-1234-123456789abc", "name": "Ada Lovelace", "work": "+44 20",
        "mobile": "079", "home": "1", "email": "ada@example.com", "company": "Acme",
        "department": "Sales",
    }  # fmt: skip
    assert isinstance(bob, Row)
    assert bob.cells == {"name": "Bob, Jr; the 2nd", "home": "+1-555"}
    assert isinstance(juerg, Row)
    assert juerg.cells == {"name": "J\u00fcrg Gr\u00fcn", "mobile": "123"}
    assert isinstance(bad, RowProblem)
    assert isinstance(open_, RowProblem)


LINE = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=40
) | st.sampled_from(["a;b", "a,b", "a\\n", "\\", "BEGIN:VCARD", "END:VCARD"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(LINE, min_size=9, max_size=9))
async def test_vcard_export_can_be_imported_unchanged(tmp_path: Path, texts: list[str]) -> None:
    row: dict[str, Any] = dict(zip((c for c in COLUMNS if c != "uuid"), texts, strict=False))
    row |= {"uuid": "12345678-1234-1234-1234-123456789abc", "email": "ada@example.com"}
    path = tmp_path / "f.vcf"
    with path.open("w", encoding="utf-8", newline="") as file:
        VcardWriter(file).write([row, row])

    back = await rows_of(VcardTable(path, COLUMNS))
    assert [one.cells for one in back if isinstance(one, Row)] == [row, row]


@pytest.mark.parametrize("is_active", [True, False])
async def test_vcard_of_an_inactive_contact_says_so(tmp_path: Path, is_active: bool) -> None:
    row = dict.fromkeys(COLUMNS) | {
        "uuid": "12345678-1234-1234-1234-123456789abc", "name": "Ada", "is_active": is_active,
    }  # fmt: skip
    with (tmp_path / "f.vcf").open("w", encoding="utf-8", newline="") as file:
        VcardWriter(file).write([row])

    [back] = await rows_of(VcardTable(tmp_path / "f.vcf", COLUMNS))

    assert isinstance(back, Row)
    assert back.cells.get("is_active") == (None if is_active else "false")


async def test_vcard_owner_is_exported_and_imported(tmp_path: Path) -> None:
    columns = PERSONAL_DIRECTORY.columns
    row = dict.fromkeys(columns) | {
        "uuid": "12345678-1234-1234-1234-123456789abc", "username": "ada", "name": "Mum",
    }  # fmt: skip
    with (tmp_path / "f.vcf").open("w", encoding="utf-8", newline="") as file:
        VcardWriter(file).write([row])

    [back] = await rows_of(VcardTable(tmp_path / "f.vcf", columns))

    assert isinstance(back, Row)
    assert back.cells["username"] == "ada"


async def test_skipped_content_is_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = "BEGIN:VCARD\nVERSION:2.1\nFN:a secret name\nnonsense hush\nEND:VCARD\n"

    await rows_of(VcardTable(written(tmp_path / "f.vcf", content), COLUMNS))

    assert caplog.text == ""
