"""What a check of the installation finds."""

from collections.abc import Awaitable
from enum import Enum

from msgspec import Struct

from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_core.kernel.errors import PhoneprovError


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


Outcome = tuple[Verdict, str, str | None]


def ok(message: str) -> Outcome:
    """A check that succeeded."""
    return Verdict.OK, message, None


def failed(message: str, next_step: str) -> Outcome:
    """A check that failed."""
    return Verdict.FAILED, message, next_step


def skipped(message: str) -> Outcome:
    """A check that was not possible."""
    return Verdict.SKIPPED, message, None


async def checked(check: str, work: Awaitable[Outcome], next_step: str) -> CheckResult:
    """The result of a check. An error is a failure with this next step."""
    try:
        outcome = await work
    except (SettingsError, PhoneprovError) as error:
        outcome = failed(str(error), next_step)
    return CheckResult(check, *outcome)
