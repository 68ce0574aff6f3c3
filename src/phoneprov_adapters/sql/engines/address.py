"""Where a PostgreSQL database is, and how one connects to it."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
from msgspec import Struct

from phoneprov_adapters.sql.engines.postgres_errors import FAILURES, unavailable

POSTGRES = "postgresql+asyncpg://"
_UNREADABLE = "it is no address that can be read; in a password write / ? # @ as %2F %3F %23 %40"
_TRUTHS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


class PostgresAddress(Struct, frozen=True):
    """An address ``postgresql+asyncpg://user:password@host:port/database?option=value``.

    ``dsn`` is the part that the driver reads. It knows the options of libpq, above all
    ``host`` (the folder of a Unix socket), ``sslmode`` and ``sslrootcert``, and
    ``target_session_attrs`` where several hosts are named.

    ``pgbouncer``, from the option ``pgbouncer=true``, says that a pgbouncer in transaction
    mode stands in between: every transaction may then meet another connection of the server.
    So no prepared statement is kept, and no setting is asked for when connecting, which
    pgbouncer would refuse.
    """

    dsn: str
    pgbouncer: bool = False

    @classmethod
    def parse(cls, url: str) -> PostgresAddress:
        """Raises ``ValueError``, whose message quotes nothing: there may be a password in it."""
        if not url.startswith(POSTGRES):
            raise ValueError(f"it must begin with {POSTGRES}")
        try:
            parts = urlsplit(f"postgresql://{url.removeprefix(POSTGRES)}")
            options = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
        except ValueError:
            raise ValueError(_UNREADABLE) from None
        if parts.fragment:
            raise ValueError(_UNREADABLE)
        through = [value for name, value in options if name == "pgbouncer"]
        if any(value not in _TRUTHS for value in through):
            raise ValueError("its option pgbouncer must be true or false")
        others = urlencode([option for option in options if option[0] != "pgbouncer"])
        return cls(
            urlunsplit(parts._replace(query=others)),
            pgbouncer=bool(through) and _TRUTHS[through[-1]],
        )

    def __repr__(self) -> str:
        return "PostgresAddress(...)"

    async def connect(
        self, connect_seconds: float, answer_seconds: float, settings: dict[str, str]
    ) -> asyncpg.Connection:
        """A new connection. ``settings`` are the server's, for this connection; a statement
        that is not answered within ``answer_seconds`` is given up. Raises ``Unavailable``."""
        try:
            return await asyncpg.connect(
                self.dsn,
                timeout=connect_seconds,
                command_timeout=answer_seconds,
                # There are a few hundred statements. Forgetting one costs a round trip that
                # the driver makes without a deadline: so none is ever forgotten.
                statement_cache_size=0 if self.pgbouncer else 1000,
                max_cached_statement_lifetime=0,
                server_settings={} if self.pgbouncer else settings,
            )
        except FAILURES as error:
            raise unavailable(error) from error
        except ValueError:
            # Not chained: the driver's message may quote a part of the address.
            raise unavailable(None) from None
