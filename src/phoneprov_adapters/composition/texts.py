"""The values of settings, read from their texts. All functions raise ``ValueError``."""

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from phoneprov_adapters.composition.plugins import DATABASES
from phoneprov_adapters.runtime.networks import is_host
from phoneprov_adapters.sql.engines.urls import check_address
from phoneprov_core.devices.names import check_filename_template

LONGEST_BASE = 80
"""A URL in a page has at most 256 characters, and most of them are needed after the base."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def database_url(text: str) -> str:
    """The URL of a database that this version or a plugin knows."""
    scheme = text.partition("://")[0]
    if scheme in DATABASES.built_in or scheme not in DATABASES.names():
        check_address(text)
    return text


def filename_template(text: str) -> str:
    """A template that gives each phone a file name of its own."""
    check_filename_template(text)
    if "{mac}" not in text.lower():
        # All phones may share one server, and each requests a file of its own name.
        raise ValueError("it must contain {MAC} or {mac}")
    return text


def folder(text: str) -> Path | None:
    """A folder that exists; None if the text is empty."""
    if text and not Path(text).is_dir():
        raise ValueError("it must be a folder that exists")
    return Path(text) if text else None


def phone_url(text: str) -> str:
    """The base of the URLs that phones are sent, without a slash at the end."""
    base = text.rstrip("/")
    if not base:
        return ""
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("it must be an http or https address without a query")
    if len(base) > LONGEST_BASE or not (base.isascii() and base.isprintable()) or " " in base:
        raise ValueError(f"it must be at most {LONGEST_BASE} printable ASCII characters")
    return base


def port_or_none(text: str) -> int | None:
    """A port; None if the text is empty."""
    if text and not (text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536):
        raise ValueError("it must be a port from 1 to 65535")
    return int(text) if text else None


def host(text: str) -> str:
    """A host name or an address, or an empty text."""
    if text and not is_host(text):
        raise ValueError("it must be a host name or an address")
    return text


def login_without_colon(text: str) -> str:
    """A user name of basic authentication."""
    if ":" in text:
        raise ValueError("it must not contain a colon")
    return text


def networks(text: str) -> tuple[Network, ...]:
    """Networks, separated by commas."""
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
