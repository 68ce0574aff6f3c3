"""The kinds of errors.

The kind decides how a caller can react; the message is one sentence about the cause. A subclass
has a code of its own, for callers that must distinguish it, and is defined in its feature. The HTTP
adapter maps kinds to status codes, and documents each class by its docstring and usual message.
"""

import asyncio
from typing import Annotated, Any, ClassVar, TypeVar

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
    invalid fields, if any. ``usual`` is the message if none is given, and an example of one;
    ``usual_problems`` are an example of problems.
    """

    code = "error"
    usual = ""
    usual_problems: ClassVar[tuple[Problem, ...]] = ()

    def __init__(
        self, message: str = "", *, code: str | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        self.message = message or self.usual
        super().__init__(self.message)
        self.code = code or type(self).code
        self.problems = problems


class Unauthenticated(PhoneprovError):
    """Missing or invalid access token."""

    code = "unauthenticated"
    usual = "Missing access token. Log in first."


class Forbidden(PhoneprovError):
    """The caller is not allowed to do this."""

    code = "forbidden"
    usual = "This needs permission level 0."


class ReadOnlyToken(Forbidden):
    """An API token that only reads was sent with a request that may change something."""

    code = "read_only_token"
    usual = "This API token only reads; send one that was created without read_only."


class NotFound(PhoneprovError):
    """The record does not exist, or the caller may not see it."""

    code = "not_found"
    usual = "There is no such phone."


class Conflict(PhoneprovError):
    """Conflicts with the current state."""

    code = "conflict"


class Invalid(PhoneprovError):
    """The input is well-formed but breaks a rule; every invalid field is named."""

    code = "invalid"
    usual = "The field mac is required (and 1 more)."
    usual_problems = (
        Problem("mac", "is required"),
        Problem("phone_ip", "must be an IPv4 or IPv6 address"),
    )


class TooManyAttempts(PhoneprovError):
    """Too many failed logins or switches; a number of seconds to wait is given."""

    code = "too_many_attempts"
    usual = "Too many failed logins; try again in 30 seconds."

    def __init__(self, message: str = "", *, retry_after: int, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after


class Refused(PhoneprovError):
    """A server or a phone is unreachable, refused, or sent an invalid reply."""

    code = "refused"
    usual = "FTP login failed: the server refused the user or the password."


class TimedOut(PhoneprovError):
    """A server or a phone did not respond in time."""

    code = "timed_out"
    usual = "Connecting to the FTP server took over 5 seconds."


class Unavailable(PhoneprovError):
    """A part of the service, such as the database, is unavailable; a later retry may succeed."""

    code = "unavailable"
    usual = "The database is not open."


class NotWritable(Unavailable):
    """The database can be read but not changed: its disk reports errors, or it is read-only."""

    code = "not_writable"
    usual = "The disk of the database reports a write error; nothing was changed."


class DiskFull(NotWritable):
    """The disk of the database is full; nothing was changed."""

    code = "disk_full"
    usual = "The database is full; nothing was changed."


class Contended(Unavailable):
    """Another transaction holds what this one needs, or each held what the other one needed:
    nothing was changed, and a repetition succeeds once the other one has ended."""

    usual = "The database is busy; try again."


class WrongKey(Unavailable):
    """A stored secret cannot be decrypted with the keys that are set."""

    code = "wrong_key"
    usual = (
        "A stored secret cannot be decrypted: the key it was encrypted with is missing from "
        "PHONEPROV_SECRET_KEYS, or the stored value was altered."
    )


class AlreadyExists(Conflict):
    """A value that must be unique is in use; its field is named."""

    code = "already_exists"
    usual = "This mac is already in use."
    usual_problems = (Problem("mac", "is already in use"),)


class InUse(Conflict):
    """Another record refers to this one."""

    code = "in_use"
    usual = "This permission is in use and cannot be deleted."


def already_taken(what: str, field: str) -> AlreadyExists:
    """The conflict of a value that must be unique, with its field."""
    problem = Problem(field, "is already in use")
    return AlreadyExists(f"This {what} is already in use.", problems=(problem,))


def require(record: R | None, one: str) -> R:
    """Return the record; raises ``NotFound`` if it is None. ``one`` is its kind: "phone"."""
    if not record:
        raise NotFound(f"There is no such {one}.")
    return record


def retrieved(work: "asyncio.Future[Any]") -> None:
    """Take note of a failure that no other task awaits, also one in the moment of a cancellation:
    asyncio reports it otherwise. Does nothing for work that has not ended."""
    if work.done() and not work.cancelled():
        work.exception()
