"""What is stored already, in a few words a record, and what a table said so far."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from phoneprov_core.kernel.errors import Problem
from phoneprov_core.transfer.sheets import Sheet, comparable

_NEW = "line "


class Index:
    """Which record a row means. It grows with the records there are, by their names alone."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._named: dict[tuple[str, str], str] = {}
        self._contents: dict[tuple[str, ...], str] = {}
        self._unique: dict[tuple[str, str], str] = {}
        self._has: dict[tuple[str, str], str] = {}
        self._lines: dict[str, int] = {}

    def learn(self, record: Struct, owner: str) -> None:
        """Take note of a record that is stored. Of several with one name the first counts."""
        values = {name: getattr(record, name) for name in record.__struct_fields__}
        self._note(str(values[self._sheet.key]), values, owner)

    def named(self, cells: Mapping[str, object]) -> str | None:
        """The key of the record that a row names, or None for a new one. A name that nothing
        is stored under says nothing: the record comes from elsewhere."""
        for name in self._sheet.names(cells):
            if (key := self._named.get(name)) is not None:
                return key
        return None

    def saying(self, values: Mapping[str, object], owner: str) -> str | None:
        """The key of the record that says just this, or None."""
        return self._contents.get(self._sheet.content(values, owner))

    def claim(
        self, line: int, key: str | None, values: Mapping[str, object], owner: str
    ) -> list[Problem]:
        """Note that the row at ``line`` means the record ``key``, a new one when that is None;
        and what stands against it: an earlier row, or a value that another record has."""
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
        """Whether a key stands for a record that was there before the table."""
        return not key.startswith(_NEW)

    def is_brought(self, key: str, *, before: int) -> bool:
        """Whether a key stands for a record that a row above the line ``before`` brings."""
        return key.startswith(_NEW) and self._lines[key] < before

    def is_new(self, key: str, *, at: int) -> bool:
        """Whether a key stands for the record that the row at this line brings itself."""
        return key.startswith(_NEW) and self._lines[key] == at

    def _note(self, key: str, values: Mapping[str, object], owner: str) -> None:
        for name in self._sheet.names(values):
            self._named.setdefault(name, key)
        for field in self._sheet.unique:
            if value := comparable(field, values.get(field)):
                # Whoever takes a new value sets the old one free.
                self._unique.pop((field, self._has.get((key, field), "")), None)
                self._has[key, field] = value
                self._unique[field, value] = key
        if self._sheet.by_content:
            self._contents.setdefault(self._sheet.content(values, owner), key)
