"""What reaches a simulated phone."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct


class FileArrived(Struct, frozen=True):
    """A file stands whole under its final name: its size in bytes, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str


class CommandReceived(Struct, frozen=True):
    """The phone was told to carry out a command, and said it did."""

    uri: str


Event = FileArrived | CommandReceived
OnEvent = Callable[[Event], None]
