"""Environment variables, read as settings: typed, checked, and named in every mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
N = TypeVar("N", bound=Enum)


class SettingsError(Exception):
    """A setting has a value it cannot have; the message is one line and names the variable."""


class Variables:
    """Variables by their full names. An empty one counts as unset.

    Every method raises ``SettingsError``. An adapter from elsewhere reads its own settings here
    too, by names that begin with ``PHONEPROV_``.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __repr__(self) -> str:
        return "Variables(...)"

    def text(self, name: str, default: str) -> str:
        """Any text without control characters."""
        value = self._environment.get(name) or default
        if any(ord(character) < 32 for character in value):
            raise SettingsError(f"{name} must not contain control characters.")
        return value

    def required(self, name: str) -> str:
        """Like ``text``, where there is no default."""
        value = self.text(name, "")
        if not value:
            raise SettingsError(f"{name} is not set.")
        return value

    def secret(self, name: str) -> str | None:
        """From the variable, or from the file that ``<name>_FILE`` names; None when unset."""
        file = self._environment.get(f"{name}_FILE")
        if not file:
            return self._environment.get(name) or None
        if self._environment.get(name):
            raise SettingsError(f"{name} and {name}_FILE are both set; unset one of them.")
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n") or None
        except (OSError, UnicodeDecodeError):
            raise SettingsError(f"{name}_FILE names a file that cannot be read.") from None

    def one(self, name: str, default: str, parse: Callable[[str], T], *, secret: bool = False) -> T:
        """What ``parse`` makes of the text; a ``ValueError`` of its own says what it must be."""
        text = (self.secret(name) if secret else None) or self.text(name, default)
        try:
            return parse(text)
        except ValueError as error:
            raise SettingsError(f"{name} is not valid: {error}.") from None

    def truth(self, name: str, *, default: bool) -> bool:
        """``true`` or ``false``, in any case."""
        text = self.text(name, "true" if default else "false").lower()
        if text not in {"true", "false"}:
            raise SettingsError(f"{name} must be true or false.")
        return text == "true"

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        """A whole number of at least ``least`` and less than 2 to the 31st."""
        text = self.text(name, str(default))
        if not text.isascii() or not text.isdigit() or not least <= int(text) < 2**31:
            raise SettingsError(f"{name} must be a whole number of at least {least}.")
        return int(text)

    def port(self, name: str, default: int) -> int:
        """A port from 1 to 65535."""
        number = self.number(name, default, least=1)
        if number > 65535:
            raise SettingsError(f"{name} must be a port from 1 to 65535.")
        return number

    def seconds(self, name: str, default: float, *, most: float) -> float:
        """Seconds, more than 0 and at most ``most``."""
        try:
            value = float(self.text(name, str(default)))
        except ValueError:
            value = -1.0
        if not 0 < value <= most:
            raise SettingsError(f"{name} must be a number of seconds up to {most:g}.")
        return value

    def choice(self, name: str, default: N) -> N:
        """The value of a member of an enumeration whose values are text."""
        choices = {member.value: member for member in type(default)}
        return choices[self._one_of(name, default.value, choices)]

    def literal(self, name: str, choices: Mapping[str, T]) -> T:
        """One of the choices, the first of them by default."""
        return choices[self._one_of(name, next(iter(choices)), choices)]

    def _one_of(self, name: str, default: str, choices: Mapping[str, object]) -> str:
        text = self.text(name, default)
        if text not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}.")
        return text
