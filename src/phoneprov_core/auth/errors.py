"""Errors of logins."""

from __future__ import annotations

import math

from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated


class WrongCredentials(Unauthenticated):
    """Unknown account, wrong password, or inactive account."""

    code = "wrong_credentials"
    usual = "The username or the password is wrong."


class Locked(TooManyAttempts):
    """The account is locked after 100 failed logins in a row."""

    code = "locked"
    usual = (
        "This login is locked after too many failures; log in from an address that you used in the "
        "last 30 days, or ask an administrator for a new password."
    )


def login_closed(seconds: int) -> TooManyAttempts:
    """The login of an account is closed."""
    return TooManyAttempts(
        f"Too many failed logins; try again in {seconds} seconds.", retry_after=seconds
    )


def address_closed(wait: int) -> TooManyAttempts:
    """Logins from a client address are closed for ``wait`` milliseconds."""
    seconds = math.ceil(wait / 1000)
    return TooManyAttempts(
        f"Too many failed logins from this address; try again in {seconds} seconds.",
        retry_after=seconds,
    )
