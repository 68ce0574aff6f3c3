"""A request of a phone, read leniently, and the reply to it; errors as texts for the screen of a
phone, by their code.
"""

import math
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from litestar.types import HTTPScope
from msgspec import Struct

from phoneprov_core.features.desks.change import Changed
from phoneprov_core.features.desks.pages import Page, SoftKey, TextPage, charset_of
from phoneprov_core.inventory.phones.model import bare_model
from phoneprov_core.kernel.errors import (
    PhoneprovError,
    Refused,
    TimedOut,
    TooManyAttempts,
    Unavailable,
)
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from phoneprov_http.phone.language import Languages, Say, later

LARGEST = 2048
"""Bytes of a query or a body. What a phone sends is shorter."""

_MOST_FIELDS = 20
_LONGEST_VALUE = 255
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,64}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_DEVICE = re.compile(r"[A-Za-z0-9]{1,32}")
_POSTING = re.compile(r"(?:78|88)[0-9]{2}")


class PhoneRequest:
    """What a phone sent. ``device`` is the device name, empty without one; ``model`` what the phone
    says of itself, None if nothing; ``posts`` tells a phone that can send a form in the body of a
    POST; ``say`` gives texts in the language of the reader, at first that of the phone."""

    def __init__(self, scope: HTTPScope, body: bytes, base: str, languages: Languages) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        self.method = scope["method"]
        self.parameters = {**_fields(scope["query_string"]), **_fields(body)}
        self.ip = str(scope["state"]["client_ip"])
        self.charset = charset_of(
            headers.get(b"accept-charset", "") or headers.get(b"x-ciscoipphone-accept-charset", "")
        )
        self._languages = languages
        self.say = languages.of_phone(headers.get(b"accept-language", ""), self.charset)
        model = headers.get(b"x-ciscoipphonemodelname", "")[:64]
        self.model = model if model and model.isprintable() else None
        self.posts = _POSTING.match(bare_model(model)) is not None
        # A phone that does not know #DEVICENAME# leaves it as it is, and may add its name.
        device = self["device"]
        self.device = self["name"] if device in {"", "#DEVICENAME#"} else device
        self._base = base or _base_of(scope, headers)

    def __getitem__(self, name: str) -> str:
        """A parameter without the blanks around it; empty if it was not sent."""
        return self.parameters.get(name, "").strip()

    def speak_to(self, user: User) -> None:
        """Show texts in the language of this user from now on."""
        self.say = self._languages.of_user(user.lang, self.charset)

    def url(self, path: str, **parameters: str) -> str:
        """The address of another page of this phone."""
        device = self.device if _DEVICE.fullmatch(self.device) else ""
        query = urlencode({"device": device, **parameters})
        return f"{self._base}/phone/{path}?{query}"


def _fields(encoded: bytes) -> Mapping[str, str]:
    """The fields of a form. Phones send UTF-8, some ISO 8859-1."""
    if not encoded or len(encoded) > LARGEST:
        return {}
    text = encoded.decode("latin-1")
    try:
        pairs = _pairs(text, "utf-8", "strict")
    except UnicodeDecodeError:
        pairs = _pairs(text, "latin-1", "replace")
    return {name: value[:_LONGEST_VALUE] for name, value in reversed(pairs)}


def _pairs(text: str, encoding: str, errors: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            text,
            keep_blank_values=True,
            encoding=encoding,
            errors=errors,
            max_num_fields=_MOST_FIELDS,
        )
    except UnicodeDecodeError:
        raise
    except ValueError:  # too many fields
        return []


def _base_of(scope: HTTPScope, headers: Mapping[bytes, str]) -> str:
    host = headers.get(b"host", "")
    if not _HOST.fullmatch(host):
        address, port = scope.get("server") or ("localhost", 80)
        host = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    return f"{scope['scheme']}://{host}"


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


def _page_again(path: str, error: PhoneprovError) -> str | None:
    """The page that begins again what failed at ``path``; None if that would not help."""
    is_outside = isinstance(error, Refused | TimedOut | Unavailable)
    return _AGAIN.get(path) if is_outside or error.code in _MAY_BE_REPEATED else None


def _message(say: Say, error: PhoneprovError) -> str:
    """The message for a user. Those of servers name addresses and settings: an administrator
    reads them in the history and in the log."""
    text = FAILURES.get(error.code)
    if text is None and isinstance(error, Refused | TimedOut):
        text = _NOT_STORED
    elif text is None and isinstance(error, Unavailable):
        text = _NOT_AVAILABLE
    seconds = error.retry_after if isinstance(error, TooManyAttempts) else 0
    return say(text, minutes=str(math.ceil(seconds / 60))) if text else error.message


class Reply(Struct, frozen=True):
    """A page. ``next_url`` leads to the following page of a list. A ``fleeting`` page is not
    kept in the phone's history. ``changed`` is called when the phone has its response."""

    page: Page
    next_url: str | None = None
    fleeting: bool = False
    changed: Changed | None = None


def failure(request: PhoneRequest, path: str, error: PhoneprovError) -> Reply:
    """What a phone shows of an error: a text that says what to do."""
    say, keys = request.say, [exit_key(request)]
    if again := _page_again(path, error):
        keys.insert(0, SoftKey(say("Again"), request.url(again), 1))
    text = TextPage(say("Not possible"), "", _message(say, error), tuple(keys))
    return Reply(text, fleeting=path in CHANGING)


def exit_key(request: PhoneRequest, position: int = 3) -> SoftKey:
    """The soft key that leaves the services."""
    return SoftKey(request.say("Exit"), "SoftKey:Exit", position)
