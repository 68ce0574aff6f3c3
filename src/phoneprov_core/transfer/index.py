"""The stored records and the earlier rows of a table, as compact indexes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from phoneprov_core.kernel.errors import Problem
from phoneprov_core.transfer.sheets import Sheet, comparable

_NEW = "line "


class Index:
    """Finds the record that a row names. Its memory grows with the number of records, by their
    names only."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._named: dict[tuple[str, str], str] = {}
        self._contents: dict[tuple[str, ...], str] = {}
        self._unique: dict[tuple[str, str], str] = {}
        self._has: dict[tuple[str, str], str] = {}
        self._lines: dict[str, int] = {}

    def learn(self, record: Struct, owner: str) -> None:
        """Add a stored record. Of several with one name the first counts."""
        values = {name: getattr(record, name) for name in record.__struct_fields__}
        self._note(str(values[self._sheet.key]), values, owner)

    def named(self, cells: Mapping[str, object]) -> str | None:
        """The key of the record that a row names, or None for a new one. A name without a stored
        record is ignored: the record comes from another installation."""
        for name in self._sheet.names(cells):
            if (key := self._named.get(name)) is not None:
                return key
        return None

    def saying(self, values: Mapping[str, object], owner: str) -> str | None:
        """The key of the record with the same content, or None."""
        return self._contents.get(self._sheet.content(values, owner))

    def claim(
        self, line: int, key: str | None, values: Mapping[str, object], owner: str
    ) -> list[Problem]:
        """Note that the row at ``line`` is the record ``key`` (None: a new one). Returns the
        conflicts with an earlier row or with another record."""
        means = key if key is not None else f"{_NEW}{line}"
        names = self._sheet.names(values)
        earlier = self._lines.get(means, line)
        if earlier != line and names:
            return [Problem(names[0][0], f"is on line {earlier} already")]
        problems = []
        for field in self._sheet.unique:
            value = comparable(field, values.get(field))
            if value and self._unique.get((field, value), means) != means:
                problems.append(Problem(field, "is already in use"))
        if not problems:
            self._lines[means] = line
            self._note(means, values, owner)
        return problems

    def is_stored(self, key: str) -> bool:
        """Whether a key belongs to a record that was stored before the import."""
        return not key.startswith(_NEW)

    def is_brought(self, key: str, *, before: int) -> bool:
        """Whether a key belongs to a record of a row above the line ``before``."""
        return key.startswith(_NEW) and self._lines[key] < before

    def is_new(self, key: str, *, at: int) -> bool:
        """Whether a key belongs to the record of the row at this line."""
        return key.startswith(_NEW) and self._lines[key] == at

    def _note(self, key: str, values: Mapping[str, object], owner: str) -> None:
        for name in self._sheet.names(values):
            self._named.setdefault(name, key)
        for field in self._sheet.unique:
            if value := comparable(field, values.get(field)):
                # A record that gets a new value releases its old one.
                self._unique.pop((field, self._has.get((key, field), "")), None)
                self._has[key, field] = value
                self._unique[field, value] = key
        if self._sheet.by_content:
            self._contents.setdefault(self._sheet.content(values, owner), key)
