"""What the value of a setting must be, in words, and how it is read."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from phoneprov_adapters.runtime.networks import PhoneNetworks, is_host, is_protected, network_of
from phoneprov_adapters.sql.engines.address import check_address
from phoneprov_core.switching.devices.names import check_filename_pattern, is_context

T = TypeVar("T")
N = TypeVar("N", bound=Enum)

LONGEST_BASE = 80
"""A URL in a page has at most 256 characters, and most of them are needed after the base."""

_LANGUAGE = re.compile("[A-Za-z]{1,8}(?:[_-][A-Za-z0-9]{1,8}){0,6}")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Form(Struct, Generic[T], frozen=True):
    """What a value must be (``words``, empty for any text). ``read`` raises ``ValueError``: with a
    reason, or without one if the words say all. A secret is never shown."""

    words: str
    read: Callable[[str], T]
    is_secret: bool = False


def number(least: int = 0, most: int = 2**31 - 1) -> Form[int]:
    """A whole number."""

    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,11}", text) or not least <= int(text) <= most:
            raise ValueError
        return int(text)

    return Form(f"a whole number from {least} to {most}", read)


def seconds(most: float) -> Form[float]:
    """Seconds, more than 0."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError from None
        if not 0 < value <= most:
            raise ValueError
        return value

    return Form(f"more than 0 and at most {most:g} seconds", read)


def one_of(choices: Mapping[str, T]) -> Form[T]:
    """One of these texts."""

    def read(text: str) -> T:
        if text not in choices:
            raise ValueError
        return choices[text]

    return Form(f"one of {', '.join(choices)}", read)


def member(of: type[N]) -> Form[N]:
    """The value of a member of an enumeration whose values are text."""
    return one_of({each.value: each for each in of})


SHORTEST_TOKEN = 24


def _service_token(text: str) -> str | None:
    if text and len(text) < SHORTEST_TOKEN:
        raise ValueError(f"it must have at least {SHORTEST_TOKEN} characters")
    return text or None


def _truth(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError
    return text.lower() == "true"


def _port_or_none(text: str) -> int | None:
    return PORT.read(text) if text else None


def _host(text: str) -> str:
    if text and not is_host(text):
        raise ValueError
    return text


def _folder(text: str) -> Path | None:
    if text and not Path(text).is_dir():
        raise ValueError
    return Path(text) if text else None


def _database_url(text: str) -> str:
    check_address(text)
    return text


def _filename_pattern(text: str) -> str:
    check_filename_pattern(text)
    if "{mac}" not in text.lower():
        # All phones may share one server, and each requests a file of its own name.
        raise ValueError("it must contain {MAC} or {mac}")
    return text


def _phone_url(text: str) -> str:
    base = text.rstrip("/")
    if not base:
        return ""
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("it must be an http or https address without a query")
    if len(base) > LONGEST_BASE or not (base.isascii() and base.isprintable()) or " " in base:
        raise ValueError(f"it must be at most {LONGEST_BASE} printable ASCII characters")
    return base


def _web_address(text: str) -> str:
    if text and (not is_protected(text) or "?" in text or "#" in text):
        raise ValueError
    return text


def _public_url(text: str) -> str:
    """The scheme apart, what is sent to a browser has the rules of an https address."""
    _web_address(text.replace("http://", "https://", 1) if text.startswith("http://") else text)
    return text.rstrip("/")


def _scopes(text: str) -> str:
    names = text.split()
    if "openid" not in names or not text.isascii():
        raise ValueError
    return " ".join(names)


def _without_colon(text: str) -> str:
    if ":" in text:
        raise ValueError
    return text


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(network_of(part.strip()) for part in text.split(",") if part.strip())


def _context(text: str) -> str:
    if not is_context(text):
        raise ValueError
    return text


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text):
        raise ValueError
    return text


def _languages(text: str) -> tuple[str, ...]:
    return tuple(_language(part.strip()) for part in text.split(",") if part.strip())


TEXT = Form("", str)
SECRET: Form[str | None] = Form("", lambda text: text or None, is_secret=True)
SERVICE_TOKEN: Form[str | None] = Form(
    f"at least {SHORTEST_TOKEN} characters", _service_token, is_secret=True
)
"""The token of another service."""
TRUTH = Form("true or false", _truth)
"""A truth value."""
SWITCH = one_of({"on": True, "off": False})
PORT = Form("a port from 1 to 65535", number(1, 65535).read)
"""A port."""
PORT_OR_NONE = Form(PORT.words, _port_or_none)
HOST = Form("a host name or an address", _host)
DATA_FOLDER = Form("a folder", Path)
FOLDER = Form("a folder that exists", _folder)
DATABASE_URL = Form(
    "sqlite+aiosqlite:///PATH or postgresql+asyncpg://USER:PASSWORD@HOST/NAME",
    _database_url,
    is_secret=True,
)
FILENAME = Form("a file name with {MAC} or {mac}", _filename_pattern)
PHONE_URL = Form(
    f"an http or https address without a query, of at most {LONGEST_BASE} characters", _phone_url
)
WEB_ADDRESS = Form("an https address, or an http one of this host, without a query", _web_address)
PUBLIC_URL = Form("an http or https address without a query", _public_url)
SCOPES = Form("names of scopes, openid among them", _scopes)
CONTEXT = Form("1 to 79 letters, digits, underscores and dashes", _context)
LANGUAGE = Form("a language tag such as de or de-CH", _language)
LANGUAGES = Form("languages as Asterisk names their sounds, separated by commas", _languages)
BASIC_USER = Form("a text without a colon", _without_colon)
NETWORKS = Form("networks, separated by commas", _networks)
PHONE_NETWORKS = Form(NETWORKS.words, PhoneNetworks.parse)
