"""The settings of a deployment: one typed object, read from environment variables."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import Struct

from phoneprov_adapters.asterisk.manager import ManagerSettings
from phoneprov_adapters.ftp.settings import FtpSettings, Tls
from phoneprov_adapters.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_adapters.phone.http import PhoneWebSettings
from phoneprov_adapters.sql.choice import check_address
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.auth.model import Lifetimes
from phoneprov_core.configuration.well_formed import LARGEST
from phoneprov_core.kernel.levels import LevelRule
from phoneprov_core.profiles.device import DEFAULT_FILENAME_TEMPLATE, check_filename_template
from phoneprov_core.profiles.restart import RestartBy

T = TypeVar("T")
N = TypeVar("N", bound=Enum)

_SCHEMES: Mapping[str, Literal["http", "https"]] = {"http": "http", "https": "https"}
_TLS: Mapping[str, Tls] = {"off": "off", "explicit": "explicit", "implicit": "implicit"}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class SettingsError(Exception):
    """A setting has a value it cannot have; the message names the variable."""


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set. ``secret_keys`` is None where a key is to be made in the
    data folder; ``manager`` is None where no manager interface is set up."""

    data_dir: Path
    database_url: str
    secret_keys: str | None
    public_register: bool
    level_rule: LevelRule
    shared_write: SharedWrite
    lifetimes: Lifetimes
    shortest_password: int
    longest_password: int
    largest_xml: int
    largest_body: int
    ftp: FtpSettings
    filename_template: str
    phone_networks: PhoneNetworks
    phone_web: PhoneWebSettings
    restart: RestartBy
    manager: ManagerSettings | None
    trusted_proxies: tuple[Network, ...]

    def __repr__(self) -> str:
        return f"Settings(data_dir={str(self.data_dir)!r}, ...)"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings that these variables make. An empty variable counts as unset.

    A secret may come from a file instead: ``PHONEPROV_X_FILE`` names it. Raises
    ``SettingsError``.
    """
    read = _Reader(environment)
    data_dir = Path(read.text("PHONEPROV_DATA_DIR", "./phoneprov-data"))
    embedded = f"sqlite+aiosqlite:///{data_dir / 'phoneprov.db'}"
    settings = Settings(
        data_dir=data_dir,
        database_url=read.one("PHONEPROV_DATABASE_URL", embedded, _database_url, secret=True),
        secret_keys=read.secret("PHONEPROV_SECRET_KEYS"),
        public_register=read.truth("PUBLIC_REGISTER", default=False),
        level_rule=read.choice("PHONEPROV_LEVEL_RULE", LevelRule.HIERARCHICAL),
        shared_write=read.choice("PHONEPROV_SHARED_WRITE", SharedWrite.SUPERADMIN),
        lifetimes=Lifetimes(
            access=read.number("PHONEPROV_ACCESS_TTL", 15 * 60, least=1),
            refresh_idle=read.number("PHONEPROV_REFRESH_TTL", 14 * 24 * 3600, least=1),
            session=read.number("PHONEPROV_SESSION_TTL", 90 * 24 * 3600, least=1),
            reuse_grace=read.number("PHONEPROV_REFRESH_GRACE", 0),
        ),
        shortest_password=read.number("PHONEPROV_PASSWORD_MIN", 8, least=8),
        longest_password=read.number("PHONEPROV_PASSWORD_MAX", 256, least=64),
        largest_xml=read.number("PHONEPROV_CNF_XML_MAX", LARGEST, least=1024),
        largest_body=read.number("PHONEPROV_BODY_MAX", 1024 * 1024, least=1024),
        ftp=_ftp(read),
        filename_template=read.one(
            "PHONEPROV_FTP_FILENAME", DEFAULT_FILENAME_TEMPLATE, _filename_template
        ),
        phone_networks=read.one("PHONEPROV_PHONE_NETWORKS", PRIVATE_RANGES, PhoneNetworks.parse),
        phone_web=PhoneWebSettings(
            scheme=read.literal("PHONEPROV_PHONE_SCHEME", _SCHEMES),
            port=read.port("PHONEPROV_PHONE_HTTP_PORT", 80),
            user=read.one("PHONEPROV_PHONE_USER", "", _login_without_colon),
            password=read.secret("PHONEPROV_PHONE_PASSWORD") or "",
        ),
        restart=read.choice("PHONEPROV_RESTART", RestartBy.AUTO),
        manager=_manager(read),
        trusted_proxies=read.one("PHONEPROV_TRUSTED_PROXIES", "", _networks),
    )
    if settings.restart is RestartBy.AMI and settings.manager is None:
        raise SettingsError("PHONEPROV_RESTART is ami, but PHONEPROV_AMI_HOST is not set.")
    if settings.ftp.host and "{mac}" not in settings.filename_template.lower():
        raise SettingsError(
            "PHONEPROV_FTP_FILENAME must contain {MAC} or {mac}, for all phones share one server "
            "(PHONEPROV_FTP_HOST)."
        )
    return settings


def _ftp(read: _Reader) -> FtpSettings:
    return FtpSettings(
        host=read.one("PHONEPROV_FTP_HOST", "", _host) or None,
        port=read.port("PHONEPROV_FTP_PORT", 21),
        user=read.text("PHONEPROV_FTP_USER", "anonymous"),
        password=read.secret("PHONEPROV_FTP_PASSWORD") or "",
        tls=read.literal("PHONEPROV_FTP_TLS", _TLS),
        tls_ca=read.text("PHONEPROV_FTP_TLS_CA", "") or None,
        directory=read.text("PHONEPROV_FTP_DIRECTORY", ""),
        timeout=read.seconds("PHONEPROV_FTP_TIMEOUT", 5.0),
        total=FTP_TOTAL,
    )


FTP_TOTAL = 16.0
"""Seconds for a whole upload. With the clearing of the session (5) and the restart (8) a
switch ends within 30."""


def _manager(read: _Reader) -> ManagerSettings | None:
    host = read.one("PHONEPROV_AMI_HOST", "", _host)
    manager = ManagerSettings(
        host=host or "localhost",
        port=read.port("PHONEPROV_AMI_PORT", 5038),
        tls=read.truth("PHONEPROV_AMI_TLS", default=False),
        user=read.text("PHONEPROV_AMI_USER", ""),
        secret=read.secret("PHONEPROV_AMI_SECRET") or "",
    )
    return manager if host else None


class _Reader:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def text(self, name: str, default: str) -> str:
        value = self._environment.get(name) or default
        if any(ord(character) < 32 for character in value):
            raise SettingsError(f"{name} must not contain control characters.")
        return value

    def secret(self, name: str) -> str | None:
        """From the variable, or from the file that ``<name>_FILE`` names."""
        file = self._environment.get(f"{name}_FILE")
        if not file:
            return self._environment.get(name) or None
        if self._environment.get(name):
            raise SettingsError(f"{name} and {name}_FILE are both set; unset one of them.")
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n") or None
        except (OSError, UnicodeDecodeError):
            raise SettingsError(f"{name}_FILE names a file that cannot be read.") from None

    def one(self, name: str, default: str, parse: Callable[[str], T], *, secret: bool = False) -> T:
        text = (self.secret(name) if secret else None) or self.text(name, default)
        try:
            return parse(text)
        except ValueError as error:
            raise SettingsError(f"{name} is not valid: {error}.") from None

    def truth(self, name: str, *, default: bool) -> bool:
        text = self.text(name, "true" if default else "false").lower()
        if text not in {"true", "false"}:
            raise SettingsError(f"{name} must be true or false.")
        return text == "true"

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        text = self.text(name, str(default))
        if not text.isascii() or not text.isdigit() or not least <= int(text) < 2**31:
            raise SettingsError(f"{name} must be a whole number of at least {least}.")
        return int(text)

    def port(self, name: str, default: int) -> int:
        number = self.number(name, default, least=1)
        if number > 65535:
            raise SettingsError(f"{name} must be a port from 1 to 65535.")
        return number

    def seconds(self, name: str, default: float) -> float:
        try:
            value = float(self.text(name, str(default)))
        except ValueError:
            value = -1.0
        if not 0 < value <= FTP_TOTAL:
            raise SettingsError(f"{name} must be a number of seconds up to {FTP_TOTAL:g}.")
        return value

    def choice(self, name: str, default: N) -> N:
        choices = {member.value: member for member in type(default)}
        text = self.text(name, default.value)
        if text not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}.")
        return choices[text]

    def literal(self, name: str, choices: Mapping[str, T]) -> T:
        """One of the choices, the first of them by default."""
        text = self.text(name, next(iter(choices)))
        if text not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}.")
        return choices[text]


def _database_url(text: str) -> str:
    check_address(text)
    return text


def _filename_template(text: str) -> str:
    check_filename_template(text)
    return text


def _host(text: str) -> str:
    if text and (any(c.isspace() or c in "/@" for c in text) or not _is_idna(text)):
        raise ValueError("it must be a host name or an address")
    return text


def _is_idna(text: str) -> bool:
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return True


def _login_without_colon(text: str) -> str:
    if ":" in text:
        raise ValueError("it must not contain a colon")
    return text


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
