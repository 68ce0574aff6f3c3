"""Environment variables as settings: typed, checked, and named in every error."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, TypeVar

from phoneprov_adapters.composition.forms import SECRET, TEXT, Form

T = TypeVar("T")

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

    def value(self, name: str, form: Form[T], default: str = "") -> T:
        """The value of a setting. A secret may come from the file that ``<name>_FILE`` names;
        a byte order mark and line ends after the last character of a file are ignored."""
        text, source = self._environment.get(name) or "", "environment"
        if form.is_secret and (file := self._environment.get(name + _FILE)):
            if text:
                raise SettingsError(f"{name} and {name}_FILE are both set; unset one of them.")
            text, source = _content(name, file), file
        if not text:
            text, source = default, "default"
        # An adapter may read a setting again with another default.
        self._readings.setdefault(name, Reading(name, text, source, form.is_secret))
        set_as = name + _FILE if form.is_secret and self._environment.get(name + _FILE) else name
        if any(ord(character) < 32 for character in text):
            raise SettingsError(f"{set_as} must not contain line ends or other control characters.")
        try:
            return form.read(text)
        except ValueError as error:
            if error.args:
                raise SettingsError(f"{set_as} is not valid: {error}.") from None
            got = "" if form.is_secret else f", got {text[:40]!r}"
            raise SettingsError(f"{set_as} must be {form.words}{got}.") from None

    def text(self, name: str, default: str) -> str:
        """Text without control characters."""
        return self.value(name, TEXT, default)

    def required(self, name: str) -> str:
        """Like ``text``, without a default."""
        value = self.text(name, "")
        if not value:
            raise SettingsError(f"{name} is not set.")
        return value

    def secret(self, name: str) -> str | None:
        """Like ``text``, and not shown; None when unset."""
        return self.value(name, SECRET)

    def unknown(self) -> dict[str, str | None]:
        """Variables that look like settings and were not read so far, each with the setting that
        was probably meant."""
        known = [name for one in self._readings.values() for name in _names_of(one)]
        found = {}
        for name in self._environment:
            if name in known or name.startswith(_NOT_OURS):
                continue
            if name.startswith(PREFIX):
                found[name] = closest(name, known)
            elif name.upper().startswith("PHON") and (near := closest(name.upper(), known)):
                found[name] = near
        return found


def _content(name: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig").rstrip("\r\n")
    except OSError as error:
        raise SettingsError(
            f"{name}_FILE: the file {file} cannot be read ({error.strerror})."
        ) from None
    except ValueError:
        raise SettingsError(f"{name}_FILE: the file {file} is not UTF-8 text.") from None


def _names_of(reading: Reading) -> Iterable[str]:
    return (reading.name, reading.name + _FILE) if reading.secret else (reading.name,)


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one is probably a misspelling of. A common beginning or ``_FILE``
    does not count: it would make all names alike."""
    tails = {_tail(one): one for one in known}
    found = get_close_matches(_tail(name), tails, n=1, cutoff=0.8)
    if not found:
        return None
    near = tails[found[0]]
    if name.endswith(_FILE) and near.endswith(_FILE):
        return closest(name.removesuffix(_FILE), [near.removesuffix(_FILE)]) and near
    return near


def _tail(name: str) -> str:
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else name.partition("_")[2] or name
