"""URLs of databases. Settings are checked with it, so it loads no engine."""

from pathlib import Path

from phoneprov_adapters.sql.engines.address import POSTGRES, PostgresAddress

_SQLITE = "sqlite+aiosqlite:///"


def check_address(url: str) -> None:
    """Raises ``ValueError`` if the URL is not that of a database. The message does not quote it: it
    may contain a password."""
    if url.startswith(POSTGRES):
        PostgresAddress.parse(url)
    elif not is_embedded(url):
        raise ValueError(f"it must begin with {_SQLITE} or {POSTGRES}")


def is_embedded(url: str) -> bool:
    """Whether the database is an embedded file, which other hosts do not share."""
    return url.startswith(_SQLITE)


def embedded_file(url: str) -> Path | None:
    """The file of an embedded database; None for a shared one."""
    return Path(url.removeprefix(_SQLITE)) if is_embedded(url) else None


def embedded_url(file: Path) -> str:
    """The URL of an embedded database in this file."""
    return f"{_SQLITE}{file}"
