"""The lines of a vCard, unfolded and decoded for a parser of vCard 3.0.

vCard 2.1 has quoted-printable values, soft line breaks and a character set for each property.
Properties that are not used, such as photos and most ``X-`` properties, are left out: some
programs write names there that no parser accepts.

vCards (RFC 6350, and the older 3.0 and 2.1) as rows of a directory, by vobject.

A contact's name is ``FN``, else ``N``, else ``ORG``, which a card of a company has; ``TEL`` of type
``CELL`` is mobile, ``HOME`` is home, any other is work; of several of one kind the preferred one,
else the first. The others are left out, and so are ``FAX``, ``PAGER``, ``MODEM`` and ``TLX``
numbers: the row has a note for each. ``ORG`` is company and department, ``UID`` the uuid if it is
one. Fields without a vCard property are ``X-PHONEPROV-...``.
"""

import logging
import quopri
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import vobject
from vobject.base import VObjectError

from phoneprov_adapters.files.reading import Rows, in_pieces, open_text
from phoneprov_core.features.transfer.model import Note, Row, RowProblem
from phoneprov_core.kernel.values import known_id
from phoneprov_core.people.directory.use_cases import dialled

_NAME = re.compile(r"(?:[A-Za-z0-9-]+\.)?([A-Za-z0-9-]+)(?=[;:])")
_USED = {"BEGIN", "END", "VERSION", "N", "FN", "TEL", "EMAIL", "ORG", "UID"}
_OURS = "X-PHONEPROV-"
# The colon that ends the parameters is the first one outside quotation marks.
_PARTS = re.compile(r'((?:[^:"]|"[^"]*")*):(.*)', re.DOTALL)


class BadCard(ValueError):
    """The vCard cannot be decoded; the message contains the reason."""


def normalised(text: str) -> str:
    """The used properties of a card, one a line, without encodings.

    ``text`` was read as UTF-8 with ``surrogateescape``. Raises ``BadCard``.
    """
    return "".join(f"{_decoded(line)}\n" for line in _unfolded(text) if _is_used(line))


def _is_used(line: str) -> bool:
    if line and ":" not in line:
        raise BadCard("The vCard has a line that is not a property")
    name = _NAME.match(line)
    return name is not None and (name[1].upper() in _USED or name[1].upper().startswith(_OURS))


def _unfolded(text: str) -> Iterator[str]:
    parts: list[str] = []  # of one line: a picture has thousands
    is_quoted = False
    for line in re.split(r"\r\n|\r|\n", text):
        if is_quoted and parts[-1].endswith("="):
            parts[-1] = parts[-1][:-1]
            parts.append(line)
        elif line[:1] in {" ", "\t"} and parts:
            parts.append(line[1:])
        else:
            yield "".join(parts)
            parts = [line]
            is_quoted = _is_quoted_printable(line)
    yield "".join(parts)


def _is_quoted_printable(line: str) -> bool:
    parts = _PARTS.match(line)
    return parts is not None and "QUOTED-PRINTABLE" in parts[1].upper()


def _decoded(line: str) -> str:
    parts = _PARTS.match(line)
    if parts is None:
        raise BadCard("The vCard has a property without a value")
    name, *parameters = parts[1].split(";")
    value, charset, kept = parts[2], "utf-8", [name]
    quoted = False
    for parameter in parameters:
        key, _, said = parameter.upper().rpartition("=")
        if key == "CHARSET":
            charset = said.strip('"')
        elif said == "QUOTED-PRINTABLE" and key in {"", "ENCODING"}:
            quoted = True
        elif not (key == "ENCODING" and said in {"8BIT", "7BIT"}):
            kept.append(parameter)
    content = value.encode("utf-8", "surrogateescape")
    try:
        # The characters of a UTF-16 file are decoded already: only bytes that are not UTF-8, or
        # that were quoted, are in the declared character set.
        if quoted:
            value = quopri.decodestring(content).decode(charset)
        elif not _is_utf_8(content):
            value = content.decode(charset)
    except LookupError:
        raise BadCard(f"The vCard declares an unknown character set ({charset[:40]})") from None
    except UnicodeDecodeError:
        raise BadCard(f"The vCard is not in {charset[:40]}, and declares no other") from None
    value = value.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\n")
    return f"{';'.join(kept)}:{value}"


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


DIRECTORIES = ("company-directory", "personal-directory")
"""The kinds of records that a vCard can hold."""
_OWN = ("ringtone", "location", "building", "username")
_INACTIVE = "x-phoneprov-inactive"
_NUMBERS = {"work": "WORK", "mobile": "CELL", "home": "HOME"}
_SCHEME = re.compile(r"^tel:", re.IGNORECASE)
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

    unread: tuple[str, ...] = ()
    """It has no sheets."""

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
            cells, notes = _cells(card.contents)
        except BadCard as error:
            return RowProblem(line, "", str(error))
        # vobject raises errors of its dependencies for a malformed value.
        except (VObjectError, ValueError, LookupError, AttributeError, TypeError):
            return RowProblem(line, "", "The vCard cannot be read")
        cells = {name: cell for name, cell in cells.items() if name in self._columns}
        return Row(line, cells, tuple(notes))


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


def _cells(contents: Mapping[str, Sequence[Any]]) -> tuple[dict[str, str], list[Note]]:
    cells: dict[str, str] = {}
    notes: list[Note] = []
    for tel in _preferred(contents.get("tel", ())):
        types = _types(tel)
        number = _SCHEME.sub("", str(tel.value).strip())
        which = "mobile" if "CELL" in types else "home" if "HOME" in types else "work"
        if (no_voice := types & _NO_VOICE) and "VOICE" not in types:
            kind = min(no_voice).lower()
            notes.append(Note("", f"The number {number} was left out: its type is {kind}"))
        elif number:
            _add(cells, notes, which, number)
    for email in _preferred(contents.get("email", ())):
        _add(cells, notes, "email", str(email.value).strip())
    for name, column in (("fn", "name"), ("uid", "uuid")):
        for found in contents.get(name, ())[:1]:
            cells[column] = str(found.value).strip()
    if not cells.get("name"):
        cells["name"] = " ".join(str(contents["n"][0].value).split()) if "n" in contents else ""
    for found in contents.get("org", ())[:1]:
        parts = found.value if isinstance(found.value, list) else [found.value]
        cells.update(zip(("company", "department"), (str(part) for part in parts), strict=False))
        cells["name"] = cells["name"] or cells["company"].strip()
    for column in _OWN:
        for found in contents.get(f"x-phoneprov-{column}", ())[:1]:
            cells[column] = str(found.value)
    if _INACTIVE in contents:
        cells["is_active"] = "false"
    uuid = known_id(cells.pop("uuid", "").lower().removeprefix("urn:uuid:"))
    return ({**cells, "uuid": uuid} if uuid else cells), notes


def _types(line: Any) -> set[str]:
    types = {part.upper() for kind in line.params.get("TYPE", ()) for part in kind.split(",")}
    return types | {name.upper() for name in (*line.params, *getattr(line, "singletonparams", ()))}


def _preferred(lines: Sequence[Any]) -> list[Any]:
    """The lines, the preferred ones first: ``PREF=1`` (version 4) is before ``PREF=2``, and both
    are before a line without; versions 2.1 and 3.0 have a type ``PREF``."""

    def preference(line: Any) -> int:
        level = (line.params.get("PREF") or [""])[0]
        if level.isascii() and level.isdecimal() and len(level) <= len("100"):
            return int(level)
        return 1 if "PREF" in _types(line) else 101

    return sorted(lines, key=preference)


def _add(cells: dict[str, str], notes: list[Note], column: str, value: str) -> None:
    """Set the cell of a column, or note that its value was left out."""
    first = cells.setdefault(column, value)
    if first != value and (dialled(first) or first) != (dialled(value) or value):
        notes.append(Note(column, f"{value} was left out: a contact has one of each kind"))


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
    if row.get("is_active") is False:
        card.add(_INACTIVE).value = "true"
    return card
