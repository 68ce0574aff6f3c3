"""A client of Asterisk's manager interface (AMI): one action, one connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Literal

from msgspec import Struct

from phoneprov_adapters.asterisk.wire import (
    MESSAGE_LIMIT,
    Broken,
    read_answer,
    read_banner,
    written,
)
from phoneprov_core.devices.commands import require_single_lines
from phoneprov_core.devices.ports import ManagerAction, ManagerInterface
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.redaction import redacted


class ManagerSettings(Struct, frozen=True, kw_only=True):
    """Where the manager listens and who logs in; ``timeout`` bounds a whole call, in seconds.

    With ``tls`` the certificate is checked against the system's store, or against the
    certificates in the file ``tls_ca`` alone. Raises ValueError for a value that cannot be
    used.
    """

    host: str
    port: int = 5038
    tls: bool = False
    tls_ca: str | None = None
    user: str
    secret: str
    timeout: float = 5.0

    def __post_init__(self) -> None:
        try:
            named = bool(self.host.encode("idna"))
        except UnicodeError:
            named = False
        if not named or any(character.isspace() for character in self.host):
            raise ValueError("The manager's host is no host name or address.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The manager's port must be from 1 to 65535.")
        if any(character in self.user + self.secret for character in "\r\n\0"):
            raise ValueError("The manager's user and secret must not hold line ends.")
        if not self.timeout > 0:
            raise ValueError("The manager's timeout must be more than 0 seconds.")

    def __repr__(self) -> str:
        return redacted(self, "secret")


class Manager(ManagerInterface):
    """Logs in for every action and off after it; nothing is kept open in between.

    Made at start, for it reads the certificates then: raises ValueError when ``tls_ca``
    cannot be read as such.
    """

    def __init__(self, settings: ManagerSettings) -> None:
        self._settings = settings
        self._tls = tls_of(settings)

    async def perform(self, action: ManagerAction) -> None:
        require_single_lines(action)
        async with in_our_words(self._settings.timeout):
            reader, writer = await logged_in(self._settings, self._tls, events="off")
            try:
                writer.write(written(action.name, "phoneprov-action", action.fields))
                answer = await read_answer(reader, "phoneprov-action")
                _require_success(answer, _ACTION_REFUSED)
                writer.write(written("Logoff", "phoneprov-logoff", ()))
            finally:
                await hung_up(writer)


async def logged_in(
    settings: ManagerSettings, tls: ssl.SSLContext | None, *, events: Literal["on", "off"]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that has logged in, with or without events. Leaves none behind when it
    fails; to be called within ``in_our_words``."""
    reader, writer = await asyncio.open_connection(
        settings.host, settings.port, ssl=tls, limit=MESSAGE_LIMIT
    )
    try:
        await read_banner(reader)
        login = (("Username", settings.user), ("Secret", settings.secret), ("Events", events))
        writer.write(written("Login", "phoneprov-login", login))
        _require_success(await read_answer(reader, "phoneprov-login"), _LOGIN_REFUSED)
    except BaseException:
        await hung_up(writer)
        raise
    return reader, writer


async def hung_up(writer: asyncio.StreamWriter) -> None:
    """End a connection at once. What is written so far is on its way; waiting for a farewell,
    on TLS above all, would let a slow one turn an accepted action into a failure."""
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def in_our_words(seconds: float) -> AsyncIterator[None]:
    """A conversation with its deadline; raises ``TimedOut`` and ``Refused`` only."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TimedOut("Asterisk's manager interface did not answer in time.") from None
    except ssl.SSLError:
        raise Refused(
            "No trusted TLS connection to Asterisk's manager interface; check its "
            "certificate, PHONEPROV_AMI_TLS and PHONEPROV_AMI_PORT."
        ) from None
    except OSError:
        raise Refused(
            "Asterisk's manager interface cannot be reached or broke off; check "
            "PHONEPROV_AMI_HOST and PHONEPROV_AMI_PORT."
        ) from None
    except Broken:
        raise Refused(
            "What answers at PHONEPROV_AMI_HOST broke off or does not speak Asterisk's "
            "manager protocol; check PHONEPROV_AMI_PORT and PHONEPROV_AMI_TLS."
        ) from None


_LOGIN_REFUSED = (
    "Asterisk's manager interface refused the login; check PHONEPROV_AMI_USER, "
    "PHONEPROV_AMI_SECRET and the account's permitted addresses in manager.conf."
)
_ACTION_REFUSED = "Asterisk refused the action; its log says why."

_KNOWN = (
    ("authentication failed", _LOGIN_REFUSED),
    (
        "permission denied",
        "The manager account may not do this; give it write = system in manager.conf.",
    ),
    (
        "invalid/unknown command",
        "Asterisk does not know this action; load chan_sccp or res_pjsip_notify.",
    ),
    (
        "device not found",
        "Asterisk knows no device of this name; check the phone's MAC and sccp.conf.",
    ),
    (
        "device not registered",
        "The phone is not registered with Asterisk; restart it by hand.",
    ),
    (
        "unable to retrieve endpoint",
        "Asterisk knows no endpoint of this name; check the phone's MAC and pjsip.conf.",
    ),
    (
        "unable to push notify task",
        "Asterisk is too busy to send the order; try again.",
    ),
)


def _require_success(answer: dict[str, str], otherwise: str) -> None:
    """Asterisk's own words choose a sentence of ours and are not repeated."""
    if answer["response"].lower() == "success":
        return
    said = answer.get("message", "").lower()
    raise Refused(next((ours for theirs, ours in _KNOWN if said.startswith(theirs)), otherwise))


def tls_of(settings: ManagerSettings) -> ssl.SSLContext | None:
    """What TLS is spoken with, None for plain. Raises ValueError when ``tls_ca`` cannot be
    read as certificates."""
    if not settings.tls:
        return None
    try:
        return ssl.create_default_context(cafile=settings.tls_ca)
    except OSError:
        raise ValueError(
            f"The file {settings.tls_ca} holds no certificates that can be read."
        ) from None
