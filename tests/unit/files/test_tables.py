"""Tables as files: an export can be imported unchanged, and errors name their line."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from phoneprov_adapters.files.csv import CsvTable, CsvWriter, harmless, without_escape
from phoneprov_adapters.files.vcard import VcardTable, VcardWriter
from phoneprov_core.transfer.model import Row, RowProblem
from phoneprov_core.transfer.sheets import COMPANY_DIRECTORY, PERSONAL_DIRECTORY
from unit.files.test_foreign_files import rows_of

COLUMNS = COMPANY_DIRECTORY.columns


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# CSV

FORMULAS = ["=1+1", "+1-2", "-1", "@SUM(A1)", "'=x", "''+1", "\t=1", "\uff1d1"]


@given(st.text() | st.sampled_from(FORMULAS) | st.from_regex(r"'*[=+@-].*"))
def test_csv_cells_are_no_formulas_and_are_read_back(text: str) -> None:
    cell = harmless(text)

    assert without_escape(cell) == text
    if cell[:1] in {"=", "-", "@", "\t", "\r", "\n", "+"} and cell:
        assert set(cell) <= set("+0123456789 ")


def test_csv_telephone_number_is_kept() -> None:
    assert harmless("+44 20 7946 0018") == "+44 20 7946 0018"


def test_csv_export_quotes_every_cell() -> None:
    file = io.StringIO()
    CsvWriter(file, ("a", "b")).write([{"a": "Ada;=1+1", "b": None}, {"a": True, "b": '=x"y'}])

    assert file.getvalue() == '"a","b"\r\n"Ada;=1+1",""\r\n"true","\'=x""y"\r\n'


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=5))
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
    [b"name\nAda\n\xff\xfe\n", b'name\nAda\n"open' + b"x" * (csv.field_size_limit() + 1)],
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
