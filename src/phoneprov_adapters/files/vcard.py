"""vCards (RFC 6350, and the older 3.0 and 2.1) as rows of a directory, by vobject.

A contact's name is ``FN``; ``TEL`` of type ``CELL`` is mobile, ``HOME`` is home, any other is
work, the first of each; ``FAX``, ``PAGER``, ``MODEM`` and ``TLX`` numbers are left out. ``ORG``
is company and department, ``UID`` the uuid if it is one. Fields without a vCard property are
``X-PHONEPROV-...``.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import vobject
from vobject.base import VObjectError

from phoneprov_adapters.files.reading import Rows, in_pieces, open_text
from phoneprov_adapters.files.vcard_lines import BadCard, normalised
from phoneprov_core.kernel.system import known_id
from phoneprov_core.transfer.model import Row, RowProblem

DIRECTORIES = ("company-directory", "personal-directory")
"""The kinds of records that a vCard can hold."""
_OWN = ("ringtone", "location", "building", "username")
_NUMBERS = {"work": "WORK", "mobile": "CELL", "home": "HOME"}
_NO_VOICE = {"FAX", "PAGER", "MODEM", "TLX"}
_LONGEST = 4 * 1024 * 1024
"""Maximum number of characters of one vCard, which may contain pictures."""

# vobject logs values that it cannot parse, and they are personal data.
logging.getLogger("vobject.base").addHandler(logging.NullHandler())
logging.getLogger("vobject.base").propagate = False


def is_vcard(file: Path) -> bool:
    """Whether a file has the name of one with vCards."""
    return file.suffix.lower() in {".vcf", ".vcard"}


class VcardTable:
    """The vCards of one file, as rows with these columns. Raises ``OSError``."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._path = path
        self._columns = tuple(columns)

    async def columns(self) -> tuple[str, ...]:
        """The given columns: a vCard names its properties itself."""
        return self._columns

    def pieces(self) -> AsyncIterator[list[Row | RowProblem]]:
        """A row for each vCard, at the line where it begins."""
        return in_pieces(self._rows)

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        with open_text(self._path) as file:
            yield (self._row(line, text) for line, text in _cards(file))

    def _row(self, line: int, text: str) -> Row | RowProblem:
        if not text:
            return RowProblem(line, "", "The vCard does not end, or is too long")
        try:
            card = vobject.readOne(normalised(text))
            cells = _cells(card.contents)
        except BadCard as error:
            return RowProblem(line, "", str(error))
        # vobject raises errors of its dependencies for a malformed value.
        except (VObjectError, ValueError, LookupError, AttributeError, TypeError):
            return RowProblem(line, "", "The vCard cannot be read")
        return Row(line, {name: cell for name, cell in cells.items() if name in self._columns})


def _cards(file: TextIO) -> Iterator[tuple[int, str]]:
    """Where each card begins, and its text; no text for one that does not end."""
    card: list[str] = []
    began, length = 0, 0
    lines = enumerate(file, 1)
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            break
        except UnicodeDecodeError:
            yield 1, ""
            return
        bare = line.strip().upper()
        if bare == "BEGIN:VCARD" and not card:
            began, length = number, 0
        elif not began:
            continue
        length += len(line)
        if length <= _LONGEST:
            card.append(line)
        if bare == "END:VCARD":
            yield began, "".join(card) if length <= _LONGEST else ""
            card, began = [], 0
    if began:
        yield began, ""


def _cells(contents: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    cells: dict[str, str] = {}
    for tel in contents.get("tel", ()):
        types = {part.upper() for kind in tel.params.get("TYPE", ()) for part in kind.split(",")}
        types |= {name.upper() for name in (*tel.params, *getattr(tel, "singletonparams", ()))}
        if types & _NO_VOICE and "VOICE" not in types:
            continue
        which = "mobile" if "CELL" in types else "home" if "HOME" in types else "work"
        number = str(tel.value).strip()
        cells.setdefault(which, number[4:] if number.lower().startswith("tel:") else number)
    for name, columns in (("fn", ("name",)), ("email", ("email",)), ("uid", ("uuid",))):
        for found in contents.get(name, ())[:1]:
            cells[columns[0]] = str(found.value).strip()
    if "name" not in cells:
        cells["name"] = " ".join(str(contents["n"][0].value).split()) if "n" in contents else ""
    for found in contents.get("org", ())[:1]:
        parts = found.value if isinstance(found.value, list) else [found.value]
        cells.update(zip(("company", "department"), (str(part) for part in parts), strict=False))
    for column in _OWN:
        for found in contents.get(f"x-phoneprov-{column}", ())[:1]:
            cells[column] = str(found.value)
    uuid = known_id(cells.pop("uuid", "").lower().removeprefix("urn:uuid:"))
    return {**cells, "uuid": uuid} if uuid else cells


class VcardWriter:
    """Writes rows as vCards of version 3.0, which phones and mail programs can read."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows."""
        for row in rows:
            self._file.write(_card(row).serialize())


def _card(row: Mapping[str, Any]) -> Any:
    card = vobject.vCard()
    card.add("uid").value = f"urn:uuid:{row['uuid']}"
    card.add("fn").value = row["name"]
    # Version 3.0 requires a structured name; the parts of the name are not known.
    card.add("n").value = vobject.vcard.Name(family=row["name"])
    for column, kind in _NUMBERS.items():
        if row[column]:
            tel = card.add("tel")
            tel.value, tel.type_param = row[column], kind
    if row["email"]:
        card.add("email").value = row["email"]
    if row.get("company") or row.get("department"):
        card.add("org").value = [row.get("company") or "", row.get("department") or ""]
    for column in _OWN:
        if row.get(column):
            card.add(f"x-phoneprov-{column}").value = row[column]
    return card
