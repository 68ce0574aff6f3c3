"""The steps of an upload: deadlines and error messages.

The number of a reply does not distinguish a wrong password from a server that requires TLS or is
full; the text does. The text is only searched, never repeated.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import aioftp

from phoneprov_core.kernel.errors import Refused, TimedOut

CONNECTING = "connecting"
LOGGING_IN = "logging in"
UPLOADING = "uploading"
VERIFYING = "verifying"
RENAMING = "renaming"

_Meaning = Literal["tls", "full", "space"]

_TLS = re.compile(r"\b(tls|ssl|ftps)\b|encrypt|cleartext|clear text", re.IGNORECASE)
_FULL = re.compile(r"too many|maximum|limit|\bfull\b|\bbusy\b|try (again )?later", re.IGNORECASE)
_SPACE = re.compile(
    r"no space|space left|disk|quota|insufficient|exceeded|writ(e|ing) to|input/output error",
    re.IGNORECASE,
)

_SPACE_REPLIES = {"452", "552"}
_MAYBE_SPACE_REPLIES = {"426", "450", "451", "550", "553"}


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
            meaning = _meaning_at_login(reply, words)
        elif doing == UPLOADING:
            meaning = _meaning_at_upload(reply, words)
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


def _meaning_at_login(reply: str, words: str) -> _Meaning | None:
    """Why a server refuses a client: vsftpd answers 530 to a login without TLS, ProFTPD 550,
    Pure-FTPd 421; a full vsftpd or Pure-FTPd answers 421, a full ProFTPD 530."""
    if _TLS.search(words):
        return "tls"
    return "full" if reply == "421" or _FULL.search(words) else None


def _meaning_at_upload(reply: str, words: str) -> _Meaning | None:
    """Why a server refuses a file: 452 and 552 (RFC 959, section 4.2.2), or another refusal with
    such a text. With a full disk, vsftpd answers 451 "Failure writing to local file", Pure-FTPd
    451 "Error during write to file", ProFTPD 451 "Transfer aborted. Input/output error"."""
    is_space = reply in _MAYBE_SPACE_REPLIES and _SPACE.search(words)
    return "space" if reply in _SPACE_REPLIES or is_space else None
