"""What can go wrong, in few kinds.

A kind says what a caller can do about it; the message says what happened in one sentence.
A subclass is born only when somebody must tell it apart. Nothing here knows how an error
travels: the HTTP adapter keeps the one table from kind to status.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Meta, Struct

R = TypeVar("R")


class Problem(Struct, frozen=True):
    """One bad field: its name as the caller wrote it, and a sentence about it."""

    field: Annotated[str, Meta(description="Name of the field, as it was sent", examples=["mac"])]
    message: Annotated[
        str,
        Meta(
            description="Rule that the field breaks; reads on from its name",
            examples=["is required"],
        ),
    ]


class PhoneprovError(Exception):
    """The root of everything this library raises on purpose; never raised itself.

    ``code`` is a stable slug for programs, ``message`` a sentence for people,
    ``problems`` the fields to blame, if any.
    """

    code = "error"

    def __init__(
        self, message: str, *, code: str | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.problems = problems


class Unauthenticated(PhoneprovError):
    """Nobody we know is asking."""

    code = "unauthenticated"


class Forbidden(PhoneprovError):
    """Known, but not allowed."""

    code = "forbidden"


class NotFound(PhoneprovError):
    """No such record, or none that this caller may see."""

    code = "not_found"


class Conflict(PhoneprovError):
    """The stored state stands against it."""

    code = "conflict"


class Invalid(PhoneprovError):
    """The input is well-formed but breaks a rule; ``problems`` names every bad field."""

    code = "invalid"


class TooManyAttempts(PhoneprovError):
    """Too many guesses; ask again after ``retry_after`` seconds."""

    code = "too_many_attempts"

    def __init__(self, message: str, *, retry_after: int, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after


class Refused(PhoneprovError):
    """A server or phone outside of us refused, or answered nonsense."""

    code = "refused"


class TimedOut(PhoneprovError):
    """A server or phone outside of us did not answer in time."""

    code = "timed_out"


class Unavailable(PhoneprovError):
    """A part of our own, the database above all, is away; trying again later may help."""

    code = "unavailable"


def already_taken(what: str, field: str) -> Conflict:
    """The conflict of a value that must be unique, naming its field."""
    return Conflict(
        f"This {what} is already in use.",
        code="already_exists",
        problems=(Problem(field, "is already in use"),),
    )


def found(record: R | None, one: str) -> R:
    """The record that was looked for; raises ``NotFound`` when there is none. ``one`` is
    what it would be, such as "phone"."""
    if not record:
        raise NotFound(f"There is no such {one}.")
    return record
