"""URLs of databases, the hosts of a PostgreSQL URL, and the connection to a host."""

from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import asyncpg
from asyncpg import connect_utils
from msgspec import Struct

from phoneprov_core.kernel.errors import retrieved

POSTGRES = "postgresql+asyncpg://"
_SQLITE = "sqlite+aiosqlite:///"
_UNREADABLE = "it cannot be parsed as a URL; in a password write / ? # @ as %2F %3F %23 %40"
_BOOLEANS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}

_UNSUPPORTED = """
    channel_binding client_encoding connect_timeout fallback_application_name gssdelegation
    gssencmode hostaddr keepalives keepalives_count keepalives_idle keepalives_interval
    load_balance_hosts max_protocol_version min_protocol_version oauth_client_id
    oauth_client_secret oauth_issuer oauth_scope replication require_auth requirepeer
    requiressl scram_client_key scram_server_key sslcertmode sslcompression sslcrldir
    sslkeylogfile sslsni tcp_user_timeout
"""
"""Options of libpq 18 that asyncpg does not support: it would send them to the server as settings.
https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-PARAMKEYWORDS"""


class Host(Struct, frozen=True):
    """A host of an address. Both fields are None for the driver's default."""

    name: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        return f"{self.name or 'the default host'}:{self.port or 5432}"


class PostgresAddress(Struct, frozen=True):
    """An address ``postgresql+asyncpg://user:password@host:port/database?option=value``.

    ``dsn`` is the part for the driver. The driver supports options of libpq, above all ``host``
    (the folder of a Unix socket), ``sslmode`` and ``sslrootcert``, and sends other options to the
    server as settings. ``hosts`` are the hosts of the address, at least one.

    ``pgbouncer``, from the option ``pgbouncer=true``: the connections go through a pgbouncer in
    transaction mode, so each transaction may use a different connection to the server. No prepared
    statement is kept then, and no setting is sent at connect time: pgbouncer refuses both.
    """

    dsn: str
    hosts: tuple[Host, ...] = (Host(),)
    pgbouncer: bool = False

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises ``ValueError``. The message does not quote the URL, which may hold a
        password."""
        if not url.startswith(POSTGRES):
            raise ValueError(f"it must begin with {POSTGRES}")
        try:
            parts = urlsplit(f"postgresql://{url.removeprefix(POSTGRES)}")
            options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
            hosts = _hosts(parts.netloc.rpartition("@")[2], options)
        except ValueError:
            raise ValueError(_UNREADABLE) from None
        if parts.fragment:
            raise ValueError(_UNREADABLE)
        if unsupported := sorted(options.keys() & set(_UNSUPPORTED.split())):
            raise ValueError(f"it has options that are not supported: {', '.join(unsupported)}")
        pgbouncer = options.pop("pgbouncer", "false")
        if pgbouncer not in _BOOLEANS:
            raise ValueError("its option pgbouncer must be true or false")
        dsn = urlunsplit(parts._replace(query=urlencode(options)))
        return cls(dsn, hosts, pgbouncer=_BOOLEANS[pgbouncer])

    def __repr__(self) -> str:
        return "PostgresAddress(...)"

    async def connect(
        self, host: Host, connect_seconds: float, answer_seconds: float, settings: dict[str, str]
    ) -> asyncpg.Connection:
        """A new connection to one host. ``settings`` are sent to the server; a statement without a
        response within ``answer_seconds`` fails. Raises the driver's errors."""
        return await asyncpg.connect(
            self.dsn,
            host=host.name,
            port=host.port,
            # With several hosts, only the primary is used: standbys refuse changes.
            target_session_attrs="read-write" if len(self.hosts) > 1 else None,
            timeout=connect_seconds,
            command_timeout=answer_seconds,
            # There are a few hundred statements. None is dropped: dropping a statement costs a
            # round trip, for which the driver has no deadline.
            statement_cache_size=0 if self.pgbouncer else 1000,
            max_cached_statement_lifetime=0,
            server_settings={} if self.pgbouncer else settings,
        )


class _Upgrade(connect_utils.TLSUpgradeProto):  # type: ignore[misc]
    """The driver's request to the server to start TLS. A caller that is cancelled while the
    connection is made does not await the response. Its error is retrieved here, so that asyncio
    does not report it."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        retrieved(self.on_data)


connect_utils.TLSUpgradeProto = _Upgrade


def _hosts(netloc: str, options: dict[str, str]) -> tuple[Host, ...]:
    """The hosts, read as libpq reads them. Raises ``ValueError``."""
    named = netloc or options.get("host", "")
    if not named:
        return (Host(),)
    ports = [int(port) for port in options.get("port", "").split(",") if port]
    hosts = []
    for place, text in enumerate(named.split(",")):
        name, _, port = text.partition(":")
        if text.startswith("["):
            name, _, port = text[1:].partition("]")
            port = port.removeprefix(":")
        elif text.startswith("/"):
            name, port = text, ""
        default = (ports[place] if len(ports) > 1 else ports[0]) if ports else None
        hosts.append(Host(unquote(name) or None, int(port) if port else default))
    return tuple(hosts)


def check_address(url: str) -> None:
    """Raises ``ValueError`` if the URL does not name a database. The message does not quote the
    URL, which may contain a password."""
    if url.startswith(POSTGRES):
        PostgresAddress.parse(url)
    elif not is_embedded(url):
        raise ValueError(f"it must begin with {_SQLITE} or {POSTGRES}")


def is_embedded(url: str) -> bool:
    """Whether the database is an embedded file, which only one host can use."""
    return url.startswith(_SQLITE)


def embedded_file(url: str) -> Path | None:
    """The file of an embedded database; None for a shared one."""
    return Path(url.removeprefix(_SQLITE)) if is_embedded(url) else None


def embedded_url(file: Path) -> str:
    """The URL of an embedded database in this file."""
    return f"{_SQLITE}{file}"
