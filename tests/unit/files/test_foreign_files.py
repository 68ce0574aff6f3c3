"""Files as spreadsheets, phones and mail programs write them."""

import time
from pathlib import Path

import pytest

from phoneprov_adapters.files.csv import CsvTable
from phoneprov_adapters.files.reading import NotText, decoded
from phoneprov_adapters.files.vcard import VcardTable
from phoneprov_core.features.transfer.model import Row, RowProblem, Table
from phoneprov_core.features.transfer.sheets import COMPANY_DIRECTORY


async def rows_of(table: Table) -> list[Row | RowProblem]:
    return [row async for piece in table.pieces() for row in piece]


async def contact(tmp_path: Path, content: bytes) -> dict[str, str] | str:
    """The cells of the only card, or the message of its problem."""
    path = tmp_path / "cards.vcf"
    path.write_bytes(content)
    [row] = await rows_of(VcardTable(path, COMPANY_DIRECTORY.columns))
    return dict(row.cells) if isinstance(row, Row) else row.message


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfmac,phone_ip\r\n001bd4123456,J\xc3\xbcrg\r\n",
        b"mac;phone_ip\n001bd4123456;J\xc3\xbcrg\n",
        b"mac,phone_ip\n\n\n001bd4123456,J\xc3\xbcrg",
        b' mac , phone_ip \r\n"001bd4123456","J\xc3\xbcrg"\r\n,\r\n',
        "mac\tphone_ip\n001bd4123456\tJürg\n".encode(),
        "sep=;\nMAC;Phone IP\n001bd4123456;Jürg\n".encode(),
        "sep=\t\r\nMAC\tPhone IP\r\n001bd4123456\tJürg\r\n".encode(),
        "MAC,PHONE_IP\n001bd4123456,Jürg\n".encode("utf-16"),
        "\ufeffmac\tphone ip\r\n001bd4123456\tJürg\r\n".encode("utf-16-le"),
        "mac;phone_ip\n001bd4123456;Jürg\n".encode("utf-16-be"),
        "\ufeffMac;Phone_ip \n001bd4123456;Jürg\n".encode(),
    ],
)
async def test_csv_of_spreadsheets_is_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "phones.csv"
    path.write_bytes(content)

    assert await CsvTable(path).columns() == ("mac", "phone_ip")
    [row] = await rows_of(CsvTable(path))
    assert isinstance(row, Row)
    assert row.cells == {"mac": "001bd4123456", "phone_ip": "Jürg"}
    assert row.line == (3 if b"sep=" in content else 4 if b"\n\n" in content else 2)


async def test_csv_of_half_a_utf_16_character_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "phones.csv"
    path.write_bytes("mac\n001bd4123456\n".encode("utf-16") + b"x")

    assert any(isinstance(row, RowProblem) for row in await rows_of(CsvTable(path)))


CARD = b"BEGIN:VCARD\r\nVERSION:2.1\r\n%s\r\nEND:VCARD\r\n"


@pytest.mark.parametrize(
    ("lines", "cells"),
    [
        (
            b"FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrg=20=\r\nM=C3=BCller",
            {"name": "Jürg Müller"},
        ),
        (b"FN;encoding=quoted-printable;charset=iso-8859-1:J=FCrg", {"name": "Jürg"}),
        (b"FN;QUOTED-PRINTABLE:J=C3=BCrg", {"name": "Jürg"}),
        (b"FN;CHARSET=ISO-8859-15:J\xfcrg", {"name": "Jürg"}),
        (b"FN;CHARSET=windows-1252:J\xfcrg\r\nORG;CHARSET=windows-1252:\x80;B", {
            "name": "Jürg", "company": "€", "department": "B",
        }),
        (b"FN:Ada\r\nTEL;WORK;FAX:1\r\nTEL;TYPE=FAX,WORK:2\r\nTEL;WORK:3", {
            "name": "Ada", "work": "3",
        }),
        (b"FN:Ada\r\nTEL;PAGER:1\r\nTEL;FAX;VOICE:2", {"name": "Ada", "work": "2"}),
        (
            (b"FN:Ada\r\nX_BAD NAME!:1\r\nX-SOCIALPROFILE;type=x;x-user=a:http://b\r\n"
            b"item1.TEL;type=CELL:079\r\nitem1.X-ABLabel:_$!<Work>!$_\r\n"
            b"X-PHONEPROV-RINGTONE:bell\r\nPHOTO;ENCODING=b:AAAA\r\n BBBB"),
            {"name": "Ada", "mobile": "079", "ringtone": "bell"},
        ),
    ],
)  # fmt: skip
async def test_vcard_of_other_programs_is_read(
    tmp_path: Path, lines: bytes, cells: dict[str, str]
) -> None:
    assert await contact(tmp_path, CARD % lines) == cells


async def notes(tmp_path: Path, lines: bytes) -> tuple[dict[str, str], list[tuple[str, str]]]:
    path = tmp_path / "cards.vcf"
    path.write_bytes(CARD % (b"FN:Ada\r\n" + lines))
    [row] = await rows_of(VcardTable(path, COMPANY_DIRECTORY.columns))
    assert isinstance(row, Row)
    return dict(row.cells), [(note.field, note.message) for note in row.notes]


@pytest.mark.parametrize(
    "lines",
    [
        b"TEL;PREF=2;TYPE=work:1\r\nTEL;TYPE=work;PREF=1:2\r\nTEL;TYPE=work:3",
        b"TEL;TYPE=work:1\r\nTEL;TYPE=WORK,pref:2\r\nTEL;TYPE=work:3",
        b"TEL;WORK:1\r\nTEL;WORK;PREF:2\r\nTEL;WORK:3",
        b'item1.TEL:1\r\nitem2.TEL;TYPE="voice,pref":2\r\nitem3.TEL:3',
        b"TEL;WORK:1\r\nTEL;WORK;PREF;ENCODING=QUOTED-PRINTABLE:=32=\r\n\r\nTEL;WORK:3",
        b"TEL;VALUE=uri;PREF=9:tel:1\r\nTEL;VALUE=uri;PREF=8:TEL:\r\n 2\r\nTEL:3",
    ],
)
async def test_vcard_preferred_number_is_kept_and_the_others_are_reported(
    tmp_path: Path, lines: bytes
) -> None:
    cells, said = await notes(tmp_path, lines)

    assert cells["work"] == "2"
    left_out = "was left out: a contact has one of each kind"
    assert said == [("work", f"1 {left_out}"), ("work", f"3 {left_out}")]


async def test_vcard_every_value_that_is_left_out_is_reported(tmp_path: Path) -> None:
    cells, said = await notes(
        tmp_path,
        b"TEL;CELL:1\r\nTEL;CELL:2\r\nTEL;FAX:3\r\nTEL;TYPE=pager:4\r\nTEL;HOME:+49 30 5\r\n"
        b"TEL;HOME:+49305\r\nEMAIL:a@example.com\r\nEMAIL;PREF=1:b@example.com",
    )

    assert cells == {"name": "Ada", "mobile": "1", "home": "+49 30 5", "email": "b@example.com"}
    assert said == [
        ("mobile", "2 was left out: a contact has one of each kind"),
        ("", "The number 3 was left out: its type is fax"),
        ("", "The number 4 was left out: its type is pager"),
        ("email", "a@example.com was left out: a contact has one of each kind"),
    ]


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (b"N:;;;;\r\nFN:\r\nORG:Pizzeria", "Pizzeria"),
        (b"ORG:Pizzeria;Kitchen", "Pizzeria"),
        (b"N:Rossi;Ida;;;\r\nORG:Pizzeria", "Ida Rossi"),
        (b"FN: Ida \r\nORG:Pizzeria", "Ida"),
        (b"FN:\r\nTEL:1", ""),
    ],
)
async def test_vcard_without_a_person_is_named_after_its_company(
    tmp_path: Path, lines: bytes, name: str
) -> None:
    cells = await contact(tmp_path, CARD % lines)

    assert isinstance(cells, dict)
    assert cells["name"] == name


@pytest.mark.parametrize("line", [b"=", b" x", b"=3D=", b""])
async def test_vcard_of_many_lines_is_read_in_linear_time(tmp_path: Path, line: bytes) -> None:
    async def took(count: int) -> float:
        content = b"NOTE;ENCODING=QUOTED-PRINTABLE:a=\r\n" + (line + b"\r\n") * count
        began = time.process_time()
        await contact(tmp_path, CARD % (content + b"\r\nFN:Ada"))
        return time.process_time() - began

    assert await took(80_000) < 20 * max(await took(8_000), 0.02)


async def test_vcard_in_utf_16_is_read(tmp_path: Path) -> None:
    assert await contact(tmp_path, (CARD % b"FN:Ada").decode().encode("utf-16")) == {"name": "Ada"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"FN:J\xfcrg", "is not in utf-8, and declares no other"),
        (b"FN;CHARSET=KLINGON:J\xfcrg", "unknown character set (KLINGON)"),
    ],
)
async def test_vcard_in_an_unknown_character_set_is_refused(
    tmp_path: Path, lines: bytes, message: str
) -> None:
    assert message in str(await contact(tmp_path, CARD % lines))


@pytest.mark.parametrize("content", [b"\xff\xfea", b"J\xfcrg", b"ELF\0\1"])
def test_content_that_is_not_text_is_refused(content: bytes) -> None:
    with pytest.raises(NotText):
        decoded(content)
