"""Events of a simulated phone."""

from collections.abc import Callable

from msgspec import Struct


class FileArrived(Struct, frozen=True):
    """A complete file under its final name: its size in bytes, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str


class CommandReceived(Struct, frozen=True):
    """The phone executed a command and reported success."""

    uri: str


Event = FileArrived | CommandReceived
OnEvent = Callable[[Event], None]
