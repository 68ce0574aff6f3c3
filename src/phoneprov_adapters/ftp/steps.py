"""The steps of an upload: their deadlines, and our own words for what goes wrong in them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aioftp

from phoneprov_core.kernel.errors import Refused, TimedOut


class ServerRefused(Refused):
    """The server answered a command with ``reply``, a number that says no (RFC 959, 4.2)."""

    def __init__(self, message: str, *, reply: str) -> None:
        super().__init__(message)
        self.reply = reply


class Steps:
    """The clock of one upload: no step is longer than ``timeout``, all end within ``total``.

    Both are seconds. ``server`` is the ``host:port`` that messages name. The clock starts
    when it is made (``began``, by the loop's clock), which takes a running event loop.
    """

    def __init__(self, server: str, timeout: float, total: float) -> None:
        self.server = server
        self._timeout = timeout
        self.began = asyncio.get_running_loop().time()
        self._end = self.began + total

    def rest(self) -> float:
        """Seconds until the end of one more step."""
        return min(self._timeout, self._end - asyncio.get_running_loop().time())

    @asynccontextmanager
    async def step(self, doing: str, what: str = "a command") -> AsyncIterator[None]:
        """What is awaited within is one step; ``doing`` and ``what`` go into the message.

        Raises ``TimedOut``, ``ServerRefused`` for a reply that says no to ``what``,
        ``Refused`` for everything else that a server or a network can do. The cause is
        dropped, for it holds the server's words.
        """
        try:
            async with asyncio.timeout(self.rest()):
                yield
        except TimeoutError:
            raise TimedOut(
                f"The FTP server {self.server} did not answer in time while {doing}."
            ) from None
        except aioftp.StatusCodeError as exc:
            reply = str(exc.received_codes[-1])
            raise ServerRefused(
                f"The FTP server {self.server} refused {what} while {doing} (reply {reply}).",
                reply=reply,
            ) from None
        except ssl.SSLError:
            raise Refused(
                f"TLS with the FTP server {self.server} failed while {doing}; "
                "check its certificate, the authority and the TLS mode that are set."
            ) from None
        except OSError:
            raise Refused(
                f"The FTP server {self.server} could not be reached or hung up while {doing}."
            ) from None
        except aioftp.AIOFTPException:
            raise Refused(
                f"The FTP server {self.server} answered nonsense while {doing}."
            ) from None
