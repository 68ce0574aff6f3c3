"""The steps of an upload: deadlines and error messages."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aioftp

from phoneprov_adapters.ftp.replies import meaning_at_login, meaning_at_upload
from phoneprov_core.kernel.errors import Refused, TimedOut

CONNECTING = "connecting"
LOGGING_IN = "logging in"
UPLOADING = "uploading"
VERIFYING = "verifying"
RENAMING = "renaming"


class ServerRefused(Refused):
    """The server refused a command with the number ``reply`` (RFC 959, 4.2)."""

    def __init__(self, message: str, *, reply: str) -> None:
        super().__init__(message)
        self.reply = reply


class Steps:
    """The clock of one upload: no step is longer than ``timeout``, all end within ``total``.

    Both are seconds. ``server`` is the ``host:port`` in messages. The clock starts when the object
    is created (``began``, by the loop's clock), in a running event loop.
    """

    def __init__(self, server: str, timeout: float, total: float) -> None:
        self.server = server
        self.timeout = timeout
        self.began = asyncio.get_running_loop().time()
        self._end = self.began + total

    def left(self) -> float:
        """Seconds until the end of all steps; negative after it."""
        return self._end - asyncio.get_running_loop().time()

    def rest(self) -> float:
        """Seconds until the end of one more step."""
        return min(self.timeout, self.left())

    @asynccontextmanager
    async def step(
        self, doing: str, what: str = "a command", *, is_clear: bool = False
    ) -> AsyncIterator[None]:
        """One step; ``doing`` and ``what`` are parts of the message. ``is_clear`` is true for a
        login without TLS.

        Raises ``TimedOut``, ``ServerRefused`` for a reply that refuses ``what``, ``Refused`` for
        every other failure of a server or a network. The cause is dropped, since it contains the
        server's text.
        """
        try:
            async with asyncio.timeout(self.rest()):
                yield
        except TimeoutError:
            raise self.late(doing) from None
        except aioftp.StatusCodeError as exc:
            raise self._refused(exc, doing, what, is_clear=is_clear) from None
        except ssl.SSLError:
            raise Refused(
                f"TLS with the FTP server {self.server} failed while {doing}; "
                "check its certificate, the authority and the TLS mode that are set."
            ) from None
        except OSError:
            raise self._gone(doing) from None
        except RuntimeError as error:
            # uvloop raises it for an operation on a connection that was just reset.
            if "closed" not in str(error):
                raise
            raise self._gone(doing) from None
        except aioftp.AIOFTPException:
            raise Refused(
                f"The FTP server {self.server} sent a reply that is not FTP while {doing}."
            ) from None

    def late(self, doing: str) -> TimedOut:
        """The error of a step whose deadline passed."""
        return TimedOut(f"The FTP server {self.server} did not answer in time while {doing}.")

    def _gone(self, doing: str) -> Refused:
        return Refused(
            f"The FTP server {self.server} could not be reached or closed the connection "
            f"while {doing}."
        )

    def _refused(
        self, exc: aioftp.StatusCodeError, doing: str, what: str, *, is_clear: bool
    ) -> ServerRefused:
        reply = str(exc.received_codes[-1])
        words = " ".join(exc.info)
        meaning = None
        if doing in {CONNECTING, LOGGING_IN}:
            meaning = meaning_at_login(reply, words)
        elif doing == UPLOADING:
            meaning = meaning_at_upload(reply, words)
        server = f"The FTP server {self.server}"
        if meaning == "tls" and is_clear:
            message = (
                f"{server} requires TLS while {doing} (reply {reply}). "
                "Set PHONEPROV_FTP_TLS=explicit."
            )
        elif meaning == "full":
            message = (
                f"{server} accepts no more logins at the moment while {doing} (reply {reply}). "
                "Try again later."
            )
        elif meaning == "space":
            message = (
                f"{server} could not store the file while {doing} (reply {reply}): its disk is "
                "full, a quota is used up, or the disk has an error."
            )
        else:
            message = f"{server} refused {what} while {doing} (reply {reply})."
        return ServerRefused(message, reply=reply)
