"""Errors as texts for the screen of a phone, by their code."""

import math

from phoneprov_core.kernel.errors import (
    PhoneprovError,
    Refused,
    TimedOut,
    TooManyAttempts,
    Unavailable,
)
from phoneprov_core.switching.devices.ports import OUTCOME_UNKNOWN
from phoneprov_http.phone.language import Say, later

_NOT_CONFIGURED = later("This phone cannot be configured. Ask an administrator.")
_NOT_USABLE = later("Your profile cannot be used at this phone. Ask an administrator.")
_NOT_SERVED = later("This phone cannot use the services. Ask an administrator.")

FAILURES = {
    "phone_not_served": _NOT_SERVED,
    "phone_inactive": _NOT_SERVED,
    "wrong_pin": later(
        "The user or the PIN is wrong. After several failures, wait a while and try again."
    ),
    "no_hotdesk": later("Users cannot log in at this phone."),
    "in_call": later("This phone is in a call. Log in when it is over."),
    "no_profile": later("You have no profile that fits this phone. Ask an administrator."),
    "logged_in_elsewhere": later("You are logged in at another phone. Log out there first."),
    "not_logged_in": later("No user is logged in at this phone. Log in first."),
    "address_unknown": later("No address of this phone is recorded. Ask an administrator."),
    "desk_changed": later("This page is out of date. Press Services and begin again."),
    "no_page": later("There is no such page. Press Services and begin again."),
    "method_not_allowed": later(
        "This page was opened the wrong way. Press Services and begin again."
    ),
    "pin_length": later("A PIN has 4 to 32 digits. Nothing was changed."),
    "pins_differ": later("The two new PINs differ. Nothing was changed."),
    "weak_pin": later(
        "The PIN must not be one digit repeated, digits in order, or a number of yours. Nothing was"
        " changed."
    ),
    "too_many_switches": later("Too many logins in a short time. Try again in {minutes} min."),
    "phone_busy": later("This phone is being configured. Try again in a minute."),
    "profile_does_not_fit": _NOT_USABLE,
    "profile_not_allowed": _NOT_USABLE,
    "no_template_fits": _NOT_USABLE,
    "template_fails": _NOT_USABLE,
    "not_found": _NOT_USABLE,
    "no_address": _NOT_CONFIGURED,
    "address_not_confirmed": _NOT_CONFIGURED,
    "address_not_allowed": _NOT_CONFIGURED,
    OUTCOME_UNKNOWN: later(
        "It is not known whether the phone has the new configuration. Try again."
    ),
}
"""The texts that a user needs. An error with another code is shown by its kind, else in English."""

_NOT_STORED = later(
    "The configuration could not be stored. The phone keeps the one that it has. Try again, or ask"
    " an administrator."
)
_NOT_AVAILABLE = later("The service is not available now. Try again later.")

_AGAIN = {
    "login/check": "login",
    "login/profile": "login",
    "logout/confirm": "logout",
    "pin/change": "pin",
}
_MAY_BE_REPEATED = {"wrong_pin", "pin_length", "pins_differ", "weak_pin", "desk_changed"}
CHANGING = frozenset(_AGAIN) | {"adopt/check", "adopt/profile"}
"""Pages that have an effect."""


def page_again(path: str, error: PhoneprovError) -> str | None:
    """The page that begins again what failed at ``path``; None if that would not help."""
    is_outside = isinstance(error, Refused | TimedOut | Unavailable)
    return _AGAIN.get(path) if is_outside or error.code in _MAY_BE_REPEATED else None


def message(say: Say, error: PhoneprovError) -> str:
    """The message for a user. Those of servers name addresses and settings: an administrator
    reads them in the history and in the log."""
    text = FAILURES.get(error.code)
    if text is None and isinstance(error, Refused | TimedOut):
        text = _NOT_STORED
    elif text is None and isinstance(error, Unavailable):
        text = _NOT_AVAILABLE
    seconds = error.retry_after if isinstance(error, TooManyAttempts) else 0
    return say(text, minutes=str(math.ceil(seconds / 60))) if text else error.message
