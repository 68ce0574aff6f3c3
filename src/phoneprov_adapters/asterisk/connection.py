"""The connection to Asterisk's manager interface, which all users in this process share.

One login serves actions, lists and events at the same time: with ``allowmultiplelogin = no`` in
manager.conf, Asterisk refuses a second login of the same account.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from math import inf
from typing import Annotated, TypeVar

from phoneprov_adapters.asterisk.session import (
    MESSAGE_LIMIT,
    Answer,
    Broken,
    Messages,
    Session,
    Silent,
    abort,
    written,
)
from phoneprov_adapters.runtime.networks import connected, is_host, looked_up
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.fields import SECRET, Redacted

Result = TypeVar("Result")

LOGIN_SECONDS = 4.0
"""Seconds to connect and to log in: the time that the port ``PhoneWatch`` allows for the beginning
of a watch."""

_WHAT = "Asterisk's manager interface (PHONEPROV_AMI_HOST)"
_MARGIN_SECONDS = 0.05
"""A DNS lookup ends so much before the deadline of the login, so that the caller gets the message
of the lookup."""

FAILURE_SECONDS = 10.0
"""Seconds before a failed connection or login is tried again. The watch and the restart of one
switch are up to 8 seconds apart: so a wrong secret is sent only once, and a port that does not
answer costs only one deadline."""


class ManagerSettings(Redacted, frozen=True, kw_only=True):
    """Address and login of the manager interface; ``timeout`` is the seconds for a whole call.

    With ``tls`` the certificate is verified against the system's store or, if ``tls_ca`` is set,
    only against the certificates in this file. Raises ValueError for an invalid value.
    """

    host: str
    port: int = 5038
    tls: bool = False
    tls_ca: str | None = None
    user: str
    secret: Annotated[str, SECRET]
    timeout: float = 5.0

    def __post_init__(self) -> None:
        if not is_host(self.host):
            raise ValueError("The manager's host is not a host name or an address.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The manager's port must be from 1 to 65535.")
        if any(character in self.user + self.secret for character in "\r\n\0"):
            raise ValueError("The manager's user and secret must not contain line ends.")
        if not self.timeout > 0:
            raise ValueError("The manager's timeout must be more than 0 seconds.")


def tls_of(settings: ManagerSettings) -> ssl.SSLContext | None:
    """The TLS context, None for plain TCP. Raises ValueError if ``tls_ca`` cannot be read as
    certificates."""
    if not settings.tls:
        return None
    try:
        return ssl.create_default_context(cafile=settings.tls_ca)
    except OSError:
        raise ValueError(
            f"The file {settings.tls_ca} cannot be read or contains no certificates."
        ) from None


class ManagerConnection:
    """Logs in when the first session is needed, and logs off after the last one. Raises ValueError
    like ``tls_of``."""

    def __init__(self, settings: ManagerSettings) -> None:
        self._settings = settings
        self._tls = tls_of(settings)
        self._session: Session | None = None
        self._one_at_a_time = asyncio.Lock()
        self._failure: Refused | TimedOut | None = None
        self._failed_until = 0.0

    async def run(
        self,
        work: Callable[[Session], Awaitable[Result]],
        may_repeat: Callable[[], bool] = lambda: True,
    ) -> Result:
        """Perform actions on a session; the login and all actions share one ``timeout``. If the
        connection is lost and ``may_repeat`` returns True, the actions are repeated once on a new
        connection. Raises ``Refused`` and ``TimedOut``."""
        deadline = asyncio.get_running_loop().time() + self._settings.timeout
        is_again = False
        while True:
            session = await self.acquire(deadline)
            try:
                async with _deadline_at(deadline):
                    try:
                        return await work(session)
                    except Broken:
                        if is_again or not may_repeat():
                            raise
            finally:
                await self.release(session)
            is_again = True

    async def acquire(self, deadline: float = inf) -> Session:
        """A session, to be released with ``release``. Raises ``Refused`` and ``TimedOut`` within 4
        seconds, and before the deadline."""
        seconds = min(self._settings.timeout, LOGIN_SECONDS)
        deadline = min(asyncio.get_running_loop().time() + seconds, deadline)
        async with _deadline_at(deadline):
            await self._one_at_a_time.acquire()
        try:
            if self._session is None or not self._session.is_open:
                self._session = await self._logged_in(deadline)
            self._session.users += 1
            return self._session
        finally:
            self._one_at_a_time.release()

    async def release(self, session: Session) -> None:
        """Release a session; the last release logs off."""
        session.users -= 1
        # A session that is not ``_session`` was replaced because its connection was lost.
        if session.users or self._session is not session:
            return
        async with self._one_at_a_time:
            if not session.users:
                self._session = None
                await session.end()

    async def _logged_in(self, deadline: float) -> Session:
        loop = asyncio.get_running_loop()
        if self._failure is not None and loop.time() < self._failed_until:
            raise type(self._failure)(self._failure.message)
        self._failure = None
        try:
            host, port = self._settings.host, self._settings.port
            seconds = deadline - loop.time() - _MARGIN_SECONDS
            addresses = await looked_up(host, port, _WHAT, seconds)
            async with _deadline_at(deadline):
                return await self._connected(addresses)
        except (Refused, TimedOut) as failure:
            self._failure = failure
            self._failed_until = loop.time() + FAILURE_SECONDS
            raise

    async def _connected(self, addresses: Sequence[str]) -> Session:
        settings = self._settings
        name = settings.host if self._tls else None
        reader, writer = await connected(
            addresses, settings.port, ssl=self._tls, server_hostname=name, limit=MESSAGE_LIMIT
        )
        try:
            messages = Messages(reader)
            await messages.banner()
            login = (
                ("Username", settings.user),
                ("Secret", settings.secret),
                ("Events", "system,call,user"),
            )
            writer.write(written("Login", "phoneprov-login", login))
            answer = Answer(await messages.response("phoneprov-login"))
            if not answer.ok:
                raise Refused(LOGIN_REFUSED)
        except BaseException:
            await abort(writer)
            raise
        return Session(messages, writer)


LOGIN_REFUSED = (
    "Asterisk's manager interface refused the login; check PHONEPROV_AMI_USER, "
    "PHONEPROV_AMI_SECRET and the account's permitted addresses in manager.conf."
)


@asynccontextmanager
async def _deadline_at(deadline: float) -> AsyncIterator[None]:
    """Run a block with a deadline; translates errors to ``TimedOut`` and ``Refused``."""
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except (TimeoutError, Silent):
        raise TimedOut("Asterisk's manager interface did not answer in time.") from None
    except ssl.SSLError:
        raise Refused(
            "No trusted TLS connection to Asterisk's manager interface; check its "
            "certificate, PHONEPROV_AMI_TLS, PHONEPROV_AMI_TLS_CA and PHONEPROV_AMI_PORT."
        ) from None
    except OSError:
        raise Refused(
            "Asterisk's manager interface cannot be reached or closed the connection; check "
            "PHONEPROV_AMI_HOST and PHONEPROV_AMI_PORT."
        ) from None
    except Broken:
        raise Refused(
            "The server at PHONEPROV_AMI_HOST closed the connection or does not speak "
            "Asterisk's manager protocol; check PHONEPROV_AMI_PORT and PHONEPROV_AMI_TLS."
        ) from None
