"""What a check of the installation finds."""

from enum import Enum

from msgspec import Struct


class Verdict(Enum):
    """The result of a check."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not set up, or not possible because another check failed."""


class CheckResult(Struct, frozen=True):
    """The result of one check. ``next_step`` says what to do about a failure."""

    check: str
    state: Verdict
    message: str
    next_step: str | None = None


def ok(check: str, message: str) -> CheckResult:
    """A check that succeeded."""
    return CheckResult(check, Verdict.OK, message)


def failed(check: str, message: str, next_step: str) -> CheckResult:
    """A check that failed."""
    return CheckResult(check, Verdict.FAILED, message, next_step)
