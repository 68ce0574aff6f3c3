"""Failures in the OpenAPI document: what each status and each code means, with examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from phoneprov_core.kernel.errors import Problem
from phoneprov_http.envelope import ErrorInfo, Failure

OF_A_SWITCH = (
    "phone_inactive",
    "profile_does_not_fit",
    "phone_busy",
    "no_address",
    "address_not_allowed",
)
"""The codes of the conflicts of a switch."""


class Status(NamedTuple):
    """A status of failures: its name in the document, its meaning, its codes."""

    name: str
    words: str
    codes: tuple[str, ...] = ()


class Code(NamedTuple):
    """A code: its meaning, and an example of its message and details."""

    words: str
    message: str
    details: tuple[Problem, ...] = ()


STATUSES = {
    400: Status("Malformed", "The request is malformed.", ("malformed",)),
    401: Status("Unauthenticated", "Missing or invalid access token.", ("unauthenticated",)),
    403: Status("Forbidden", "The caller is not allowed to do this.", ("forbidden",)),
    404: Status(
        "NotFound", "The record does not exist, or the caller may not see it.", ("not_found",)
    ),
    409: Status("Conflict", "Conflicts with the current state."),
    413: Status(
        "TooLarge",
        "The body is larger than the limit (1 MiB, unless the deployment sets another one).",
        ("too_large",),
    ),
    415: Status(
        "UnsupportedMediaType",
        "The body is not of the type `application/json`.",
        ("unsupported_media_type",),
    ),
    422: Status(
        "Invalid", "The input is invalid; `details` names every invalid field.", ("invalid",)
    ),
    429: Status(
        "TooManySwitches",
        "Too many failed logins or switches; `Retry-After` is the number of seconds to wait.",
        ("too_many_switches",),
    ),
    502: Status(
        "Refused",
        "The server that stores the configuration refused. The phone was not restarted.",
        ("refused", "outcome_unknown"),
    ),
    503: Status(
        "Unavailable",
        "A part of the service, usually the database, is unavailable. Nothing was changed.",
        ("unavailable", "disk_full", "wrong_key"),
    ),
    504: Status(
        "TimedOut",
        "The server that stores the configuration did not respond in time. The phone was not "
        "restarted.",
        ("timed_out", "outcome_unknown"),
    ),
}

CODES = {
    "malformed": Code("the body is not JSON in UTF-8.", "The body is not UTF-8."),
    "unauthenticated": Code(
        "the token is missing, invalid, or expired.", "Missing access token. Log in first."
    ),
    "wrong_credentials": Code(
        "unknown account, wrong password, or inactive account.",
        "The username or the password is wrong.",
    ),
    "forbidden": Code("the caller lacks the permission.", "This needs permission level 0."),
    "not_found": Code("the record does not exist.", "There is no such phone."),
    "too_large": Code("the body is too large.", "The body is larger than 1048576 bytes."),
    "unsupported_media_type": Code(
        "the body is of another type.", "The body must be of the type application/json."
    ),
    "invalid": Code(
        "a field is invalid.",
        "The field mac is required (and 1 more).",
        (
            Problem("mac", "is required"),
            Problem("phone_ip", "must be an IPv4 or IPv6 address"),
        ),
    ),
    "too_many_attempts": Code(
        "the login of the account or of the client address is locked for a while.",
        "Too many failed logins; try again in 30 seconds.",
    ),
    "locked": Code(
        "the account is locked after 100 failed logins in a row.",
        "This login is locked after too many failures; log in from an address that you used in the "
        "last 30 days, or ask an administrator for a new password.",
    ),
    "too_many_switches": Code(
        "the phone was switched, or the caller switched phones, too often.",
        "This phone was switched too often; try again in 120 seconds.",
    ),
    "refused": Code(
        "the server is unreachable, refused, or returned different content than was uploaded.",
        "FTP login failed: the server refused the user or the password.",
    ),
    "unavailable": Code("try again later.", "The database is not open."),
    "disk_full": Code(
        "the disk of the database is full.",
        "The database is full; nothing was changed.",
    ),
    "wrong_key": Code(
        "the key of a stored secret is not set.",
        "A stored secret cannot be decrypted: the key it was encrypted with is missing from "
        "PHONEPROV_SECRET_KEYS, or the stored value was altered.",
    ),
    "timed_out": Code("a deadline passed.", "Connecting to the FTP server took over 5 seconds."),
    "outcome_unknown": Code(
        "the connection failed after the rename was sent: the old file or the new one is there.",
        "The FTP server 10.0.0.5:21 did not answer in time while renaming. It is not known "
        "whether SEP001BD4123456.cnf.xml is the new file or the old one.",
    ),
    "already_exists": Code(
        "a value that must be unique is in use; `details` names its field.",
        "This mac is already in use.",
        (Problem("mac", "is already in use"),),
    ),
    "too_many_profiles": Code(
        "the user has the maximum number of profiles.",
        "This user has 100 profiles, the maximum; delete one first.",
    ),
    "in_use": Code(
        "another record refers to it.", "This permission is in use and cannot be deleted."
    ),
    "last_superadmin": Code(
        "no account would hold level 0.",
        "This is the last active account that holds level 0; give level 0 to another first.",
    ),
    "phone_inactive": Code("the phone is not active.", "This phone is not active."),
    "profile_does_not_fit": Code(
        "the profile is for other models or another firmware.",
        "The profile does not fit this phone: it is for SIP phones, not for SCCP.",
    ),
    "phone_busy": Code(
        "another switch of the phone is running.",
        "Another switch of this phone is running; try again when it has ended.",
    ),
    "not_logged_in": Code(
        "no user is logged in at the phone.", "No user is logged in at this phone."
    ),
    "desk_changed": Code(
        "the desk changed since it was read.",
        "This page is out of date. Press Services and begin again.",
    ),
    "no_phones": Code(
        "the filters select no active phone.", "No active phone matches the filters."
    ),
    "no_address": Code(
        "the phone has no address, and no FTP server is set.",
        "The phone has no recorded address: set its phone_ip, or PHONEPROV_FTP_HOST.",
    ),
    "address_not_allowed": Code(
        "the address of the phone is outside the allowed networks.",
        "The phone's address is in none of the networks that may be called.",
    ),
}


def failures(
    *statuses: int, conflicts: Sequence[str] = (), codes: Mapping[int, Sequence[str]] = {}
) -> dict[int, ResponseSpec]:
    """The ``responses`` of a handler: the failures that do not follow from its types, guards and
    authentication. ``conflicts`` are the codes of status 409, ``codes`` those of other statuses
    that differ from the usual ones."""
    more = {409: conflicts, **codes} if conflicts else codes
    return {status: spec(status, more.get(status, ())) for status in (*statuses, *more)}


def spec(status: int, codes: Sequence[str] = ()) -> ResponseSpec:
    """A failure with this status."""
    codes = codes or STATUSES[status].codes
    meanings = " ".join(f"`{code}`: {CODES[code].words}" for code in codes)
    return ResponseSpec(
        data_container=Failure,
        description=f"{STATUSES[status].words} {meanings}",
        generate_examples=False,
        examples=[Example(id=code, value=_example(code)) for code in codes],
    )


def _example(code: str) -> Failure:
    request_id = "9b2f0c7d1e5a4d2f8c1b6a7e3f409d55"
    error = ErrorInfo(code, CODES[code].details, request_id)
    return Failure(False, CODES[code].message, None, error)
