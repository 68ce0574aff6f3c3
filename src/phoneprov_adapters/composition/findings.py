"""What a check of the installation finds."""

from enum import Enum

from msgspec import Struct


class State(Enum):
    """The result of a check."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not set up, or not possible because another check failed."""


class Finding(Struct, frozen=True):
    """The result of one check. ``next_step`` says what to do about a failure."""

    check: str
    state: State
    message: str
    next_step: str | None = None


def ok(check: str, message: str) -> Finding:
    """A check that succeeded."""
    return Finding(check, State.OK, message)


def failed(check: str, message: str, next_step: str) -> Finding:
    """A check that failed."""
    return Finding(check, State.FAILED, message, next_step)
