"""Environment variables as settings: typed, checked, and named in every error."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
N = TypeVar("N", bound=Enum)

PREFIX = "PHONEPROV_"
_FILE = "_FILE"
# Read by the tests of this project, which run commands in their own environment.
_NOT_OURS = "PHONEPROV_TEST"


class SettingsError(Exception):
    """A setting has an invalid value. The message is one line and names the variable."""


class Reading(NamedTuple):
    """The value of one setting: ``source`` is ``default``, ``environment`` or a file name.
    ``value`` is empty for a setting without a value."""

    name: str
    value: str
    source: str
    secret: bool

    def __repr__(self) -> str:
        return f"Reading(name={self.name!r}, source={self.source!r})"


class Variables:
    """Environment variables by their full names. An empty variable counts as unset.

    Every method raises ``SettingsError``. An adapter of another package reads its own settings
    here, too; their names begin with ``PHONEPROV_``.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._readings: dict[str, Reading] = {}

    def __repr__(self) -> str:
        return "Variables(...)"

    def readings(self) -> tuple[Reading, ...]:
        """The settings that were read so far, in the order in which they were read."""
        return tuple(self._readings.values())

    def is_set(self, name: str) -> bool:
        """Whether the variable, or its ``_FILE`` form, has a value."""
        return bool(self._environment.get(name) or self._environment.get(name + _FILE))

    def text(self, name: str, default: str) -> str:
        """Text without control characters."""
        value = self._environment.get(name)
        return self._noted(name, value or default, "environment" if value else "default")

    def required(self, name: str) -> str:
        """Like ``text``, without a default."""
        value = self.text(name, "")
        if not value:
            raise SettingsError(f"{name} is not set.")
        return value

    def secret(self, name: str) -> str | None:
        """The variable, or the content of the file that ``<name>_FILE`` names; None when unset.

        Line ends after the last character of a file are ignored.
        """
        file = self._environment.get(name + _FILE)
        if not file:
            value = self._environment.get(name) or ""
            source = "environment" if value else "default"
            return self._noted(name, value, source, secret=True) or None
        if self._environment.get(name):
            raise SettingsError(f"{name} and {name}_FILE are both set; unset one of them.")
        try:
            value = Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except OSError as error:
            raise SettingsError(
                f"{name}_FILE: the file {file} cannot be read ({error.strerror})."
            ) from None
        except ValueError:
            raise SettingsError(f"{name}_FILE: the file {file} is not UTF-8 text.") from None
        return self._noted(name, value, file, secret=True) or None

    def one(self, name: str, default: str, parse: Callable[[str], T], *, secret: bool = False) -> T:
        """The result of ``parse``, which raises ``ValueError`` with what the value must be."""
        text = self.secret(name) if secret else self.text(name, default)
        if not text:
            text = default
            self._readings[name] = Reading(name, text, "default", secret)
        try:
            return parse(text)
        except ValueError as error:
            raise SettingsError(f"{self._set_as(name)} is not valid: {error}.") from None

    def truth(self, name: str, *, default: bool) -> bool:
        """``true`` or ``false``, in any case."""
        text = self.text(name, "true" if default else "false").lower()
        if text not in {"true", "false"}:
            raise SettingsError(f"{name} must be true or false, got {text!r}.")
        return text == "true"

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        """A whole number from ``least`` to 2147483647."""
        text = self.text(name, str(default))
        if not text.isascii() or not text.isdigit() or not least <= int(text[:12]) < 2**31:
            raise SettingsError(
                f"{name} must be a whole number of at least {least}, got {text[:40]!r}."
            )
        return int(text)

    def port(self, name: str, default: int) -> int:
        """A port from 1 to 65535."""
        number = self.number(name, default, least=1)
        if number > 65535:
            raise SettingsError(f"{name} must be a port from 1 to 65535, got {number}.")
        return number

    def seconds(self, name: str, default: float, *, most: float) -> float:
        """Seconds, more than 0 and at most ``most``."""
        text = self.text(name, f"{default:g}")
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 < value <= most:
            raise SettingsError(
                f"{name} must be more than 0 and at most {most:g} seconds, got {text[:40]!r}."
            )
        return value

    def choice(self, name: str, default: N) -> N:
        """The value of a member of an enumeration whose values are text."""
        choices = {member.value: member for member in type(default)}
        return choices[self._one_of(name, default.value, choices)]

    def literal(self, name: str, choices: Mapping[str, T]) -> T:
        """One of the choices; the first of them is the default."""
        return choices[self._one_of(name, next(iter(choices)), choices)]

    def unknown(self) -> dict[str, str | None]:
        """The variables that look like settings and were not read so far, each with the name
        that it is probably a misspelling of."""
        known = [name for one in self._readings.values() for name in _names_of(one)]
        found = {}
        for name in self._environment:
            if name in known or name.startswith(_NOT_OURS):
                continue
            if name.startswith(PREFIX):
                found[name] = _closest(name, known)
            elif name.upper().startswith("PHON") and (near := _closest(name.upper(), known)):
                found[name] = near
        return found

    def _one_of(self, name: str, default: str, choices: Mapping[str, object]) -> str:
        text = self.text(name, default)
        if text not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}, got {text[:40]!r}.")
        return text

    def _set_as(self, name: str) -> str:
        """The name of the variable that was set: a secret may come from a file."""
        return name + _FILE if self._environment.get(name + _FILE) else name

    def _noted(self, name: str, value: str, source: str, *, secret: bool = False) -> str:
        # An adapter may read a setting again with another default.
        self._readings.setdefault(name, Reading(name, value, source, secret))
        if any(ord(character) < 32 for character in value):
            raise SettingsError(
                f"{self._set_as(name)} must not contain line ends or other control characters."
            )
        return value


def _names_of(reading: Reading) -> Iterable[str]:
    return (reading.name, reading.name + _FILE) if reading.secret else (reading.name,)


def _closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one is probably a misspelling of. A common beginning or ``_FILE``
    does not count: it would make all names alike."""
    tails = {_tail(one): one for one in known}
    found = get_close_matches(_tail(name), tails, n=1, cutoff=0.8)
    if not found:
        return None
    near = tails[found[0]]
    if name.endswith(_FILE) and near.endswith(_FILE):
        return _closest(name.removesuffix(_FILE), [near.removesuffix(_FILE)]) and near
    return near


def _tail(name: str) -> str:
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else name.partition("_")[2] or name
