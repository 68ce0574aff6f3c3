"""LDIF (RFC 2849) as ``ldapsearch`` prints it: folded lines, comments, ``::`` values in base64,
options of attributes (``cn;lang-de``), ends of lines of both kinds.

A record without ``dn`` is what ``ldapsearch`` prints besides entries: a referral, or the result of
the search. Of several values of an attribute the first one is taken, one without options if there
is one. ``objectGUID`` is shown as Active Directory does: ``3f2504e0-4f89-11d3-9a0c-0305e82c3301``.
"""

import base64
import binascii
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from phoneprov_adapters.files.csv import CsvTable, CsvText
from phoneprov_adapters.files.excel import ExcelTable
from phoneprov_adapters.files.reading import UTF_8, Rows, encoding_of, in_pieces
from phoneprov_core.features.sync.model import SyncRefused
from phoneprov_core.features.transfer.model import Row, RowProblem

_GUIDS = {"objectguid", "ms-ds-consistencyguid"}
_GUID_BYTES = 16
_ATTRIBUTE = re.compile(rb"([A-Za-z0-9][A-Za-z0-9.-]*)((?:;[A-Za-z0-9=-]+)*):(:|<|)[ ]*")
_SUMMARY = re.compile(rb"# *(numEntries|result): *([0-9]+)")

Lines = Iterator[tuple[int, bytes]]


class LdifTable:
    """The entries of an LDIF file. Raises ``OSError`` when the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def columns(self) -> tuple[str, ...]:
        """None: each entry names its attributes."""
        return ()

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """As ``Directory.pieces``."""
        return in_pieces(self._rows)

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        with self._path.open("rb") as file:
            yield _rows(file)


class WholeCsv(CsvTable):
    """A CSV file whose last line must have an end: one that was cut has none."""

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        with self._path.open("rb") as file:
            encoding = encoding_of(file.read(4))
            size = file.seek(0, 2)
            file.seek(max(0, size - 4))
            end = file.read()
        encoding = "utf-8" if encoding == UTF_8 else encoding
        _require_end(end.decode(encoding, "replace"))
        with super()._rows() as rows:
            yield rows


class WholeCsvText(CsvText):
    """A CSV text whose last line must have an end."""

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        with self._open() as file:
            _require_end(file.read()[-1:])
        with super()._rows() as rows:
            yield rows


def whole_table_in(content: str | bytes) -> WholeCsvText | ExcelTable:
    """The table in a CSV text whose last line must have an end, or in the bytes of an Excel file,
    which is not readable unless it is complete."""
    return WholeCsvText(content) if isinstance(content, str) else ExcelTable(content)


def _require_end(text: str) -> None:
    if text and not text.endswith(("\n", "\r")):
        raise SyncRefused("Nothing was written: the last line of the input has no end, it was cut.")


def _rows(file: BinaryIO) -> Rows:
    entries = 0
    record: list[tuple[int, bytes]] = []
    for line, text in _unfolded(file):
        if text.startswith(b"#"):
            _check_summary(text, entries)
        elif text:
            record.append((line, text))
        else:
            if row := _row(record):
                entries += 1
                yield row
            record = []
    if record:
        raise SyncRefused(
            f"Nothing was written: the input ends amid the entry of line {record[0][0]}; no empty "
            "line follows."
        )


def _check_summary(comment: bytes, entries: int) -> None:
    """Raises ``SyncRefused`` if a comment of ``ldapsearch`` says that entries are missing."""
    if found := _SUMMARY.match(comment):
        number = int(found[2])
        if found[1] == b"result" and number:
            raise _incomplete(number)
        if found[1] == b"numEntries" and number != entries:
            raise SyncRefused(
                f"Nothing was written: the search found {number} entries, the input has {entries}."
            )


def _incomplete(result: int) -> SyncRefused:
    return SyncRefused(
        f"Nothing was written: the search ended with result {result}, so entries may be missing."
    )


def _unfolded(file: BinaryIO) -> Lines:
    """The lines with their continuations, by the number of the first. Raises ``SyncRefused`` for an
    input whose last line has no end."""
    begin, parts = 0, list[bytes]()
    for number, raw in enumerate(file, 1):
        if not raw.endswith(b"\n"):
            raise SyncRefused(
                f"Nothing was written: line {number}, the last one of the input, has no end; it "
                "was cut."
            )
        text = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
        text = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
        if text.startswith(b" ") and parts:
            parts.append(text[1:])
            continue
        if parts:
            yield begin, b"".join(parts)
        begin, parts = number, [text]
    if parts:
        yield begin, b"".join(parts)


def _row(record: list[tuple[int, bytes]]) -> Row | RowProblem | None:
    """The entry of a record; None for a record that is no entry."""
    record = [one for one in record if not one[1].lower().startswith(b"version:")]
    if not record:
        return None
    line = record[0][0]
    cells: dict[str, str] = {}
    plain: set[str] = set()
    for place, text in record:
        found = _ATTRIBUTE.match(text)
        if found is None:
            return RowProblem(line, "", f"Line {place} is no attribute of an entry")
        name = found[1].decode().lower()
        value = text[found.end() :]
        if found[3] == b"<":
            continue  # A file that is named is never read.
        if found[3]:
            try:
                value = base64.b64decode(value, validate=True)
            except binascii.Error:
                return RowProblem(line, name, "is not in base64")
        if value and (name not in cells or (name not in plain and not found[2])):
            cells[name] = _text(name, value)
            if not found[2]:
                plain.add(name)
    if "dn" in cells:
        return Row(line, cells)
    if (result := cells.get("result", "")) and (code := re.match(r"[0-9]+", result)):
        if int(code[0]):
            raise _incomplete(int(code[0]))
        return None
    if cells.keys() <= {"ref", "search", "pagedresults", "control"}:
        return None
    return RowProblem(line, "dn", "is required")


def _text(name: str, value: bytes) -> str:
    if name in _GUIDS and len(value) == _GUID_BYTES:
        return str(UUID(bytes_le=value))
    text = value.decode(errors="surrogateescape")
    return text.lower() if name in {*_GUIDS, "entryuuid"} else text
