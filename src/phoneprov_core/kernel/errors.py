"""The kinds of errors.

The kind decides how a caller can react; the message is one sentence about the cause. A subclass
exists only if a caller must distinguish it. The HTTP adapter maps kinds to status codes.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Meta, Struct

R = TypeVar("R")


class Problem(Struct, frozen=True):
    """One invalid field: its name as the caller sent it, and a message."""

    field: Annotated[str, Meta(description="Name of the field, as it was sent", examples=["mac"])]
    message: Annotated[
        str,
        Meta(
            description="Rule that the field breaks; reads on from its name",
            examples=["is required"],
        ),
    ]


class PhoneprovError(Exception):
    """The base of all errors that this library raises intentionally; never raised itself.

    ``code`` is a stable slug for programs, ``message`` a sentence for people, ``problems`` the
    invalid fields, if any.
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
    """Missing or invalid credentials."""

    code = "unauthenticated"


class Forbidden(PhoneprovError):
    """Authenticated, but not allowed."""

    code = "forbidden"


class NotFound(PhoneprovError):
    """The record does not exist, or the caller may not see it."""

    code = "not_found"


class Conflict(PhoneprovError):
    """Conflicts with the current state."""

    code = "conflict"


class Invalid(PhoneprovError):
    """The input is well-formed but breaks a rule; ``problems`` names every invalid field."""

    code = "invalid"


class TooManyAttempts(PhoneprovError):
    """Too many attempts; retry after ``retry_after`` seconds."""

    code = "too_many_attempts"

    def __init__(self, message: str, *, retry_after: int, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after


class Refused(PhoneprovError):
    """An external server or a phone refused, or sent an invalid reply."""

    code = "refused"


class TimedOut(PhoneprovError):
    """An external server or a phone did not reply in time."""

    code = "timed_out"


class Unavailable(PhoneprovError):
    """A part of the service, such as the database, is unavailable; a later retry may succeed."""

    code = "unavailable"


def already_taken(what: str, field: str) -> Conflict:
    """The conflict of a value that must be unique, with its field."""
    return Conflict(
        f"This {what} is already in use.",
        code="already_exists",
        problems=(Problem(field, "is already in use"),),
    )


def found(record: R | None, one: str) -> R:
    """Return the record; raises ``NotFound`` if it is None. ``one`` is its kind, such as
    "phone"."""
    if not record:
        raise NotFound(f"There is no such {one}.")
    return record
