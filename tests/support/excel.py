"""Excel files, by openpyxl or part by part."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from openpyxl import Workbook

SHEET = "xl/worksheets/sheet1.xml"
BOOK = "xl/workbook.xml"
TEXTS = "xl/sharedStrings.xml"


def excel(
    rows: Sequence[Sequence[Any]], change: Callable[[Workbook], object] | None = None
) -> bytes:
    """A file whose first sheet, ``People``, has these rows; ``change`` adds to it."""
    book = Workbook()
    sheet = book.active
    sheet.title = "People"
    for row in rows:
        sheet.append(row)
    if change is not None:
        change(book)
    made = BytesIO()
    book.save(made)
    return made.getvalue()


def with_parts(file: bytes, changes: dict[str, Callable[[bytes], bytes]]) -> bytes:
    """The file with changed parts; a part that it does not have is made from nothing."""
    made = BytesIO()
    with ZipFile(BytesIO(file)) as old, ZipFile(made, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, bytes)(old.read(name)))
        for name in changes.keys() - set(old.namelist()):
            new.writestr(name, changes[name](b""))
    return made.getvalue()


def with_texts(file: bytes, texts: bytes) -> bytes:
    """The file with shared texts, whose elements these are."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/{TEXTS}" ContentType="{kind}"/></Types>'.encode()
    return with_parts(
        file,
        {
            "[Content_Types].xml": lambda old: old.replace(b"</Types>", override),
            TEXTS: lambda _: b'<sst xmlns="%b">%b</sst>' % (main.encode(), texts),
        },
    )
