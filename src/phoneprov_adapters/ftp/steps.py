"""The settings of an FTP server, and the steps of an upload: deadlines and error messages.

The code of a reply is the same for a wrong password, a server that requires TLS and a full server;
only the text of the reply differs. The text is searched for words, and never quoted in messages.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Literal

import aioftp

from phoneprov_adapters.ftp.client import NoPassive, Tls
from phoneprov_adapters.runtime.networks import is_host
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.fields import SECRET, Redacted

TOTAL_SECONDS = 15.0
"""Seconds for a whole upload. Together with the first request to the phone (1 s), the clearing of
the service session (5 s) and the restart (8 s) a switch ends within 30 seconds."""


class FtpSettings(Redacted, frozen=True, kw_only=True):
    """The settings of one FTP server; with ``host`` None, of the FTP server of each phone.

    ``tls_ca`` is the path of a PEM file with the trusted authorities, None for the system's store.
    ``directory`` is an absolute path or a path below the login folder; empty is the login folder.
    ``timeout`` is the number of seconds for one step (one command, or 64 KiB of a file), ``total``
    the number of seconds for a whole upload. Raises ValueError for an invalid value. The password
    is in no ``repr``.
    """

    host: str | None = None
    port: int = 21
    user: str = "anonymous"
    password: Annotated[str, SECRET] = ""
    tls: Tls = "off"
    tls_ca: str | None = None
    directory: str = ""
    timeout: float = 5.0
    total: float = TOTAL_SECONDS

    def __post_init__(self) -> None:
        if self.host is not None and not is_host(self.host):
            raise ValueError("The FTP host is not a host name or an address.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The FTP port must be from 1 to 65535.")
        for name in ("user", "password", "directory"):
            if any(char in getattr(self, name) for char in "\r\n\0"):
                raise ValueError(f"The FTP {name} must not contain line ends.")
        if self.tls not in {"off", "explicit", "implicit"}:
            raise ValueError("The FTP TLS mode must be off, explicit or implicit.")
        if not (self.timeout > 0 and self.total > 0):
            raise ValueError("The FTP timeouts must be more than 0 seconds.")

    def path_of(self, filename: str) -> str:
        """The path of a file on the server, with a leading slash."""
        folder = self.directory.strip("/")
        return f"/{folder}/{filename}" if folder else f"/{filename}"


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


TLS = "TLS"
TEMPORARY = "the temporary file"
NEW_NAME = "to rename the file"
ADVICE = {
    TLS: (
        "It does not offer explicit TLS: set PHONEPROV_FTP_TLS=off, or =implicit and the port of "
        "implicit TLS, usually 990."
    ),
    TEMPORARY: (
        "Give the account the right to create, rename and delete files in the folder of the "
        "configurations (vsftpd: write_enable=YES, anon_upload_enable=YES for anonymous users, no "
        "deny_file for *.tmp)."
    ),
    NEW_NAME: (
        "Give the account the right to rename files (vsftpd: anon_other_write_enable=YES for "
        "anonymous users; ProFTPD: Limit RNFR RNTO)."
    ),
}
_OOPS = re.compile(r"\bOOPS\b")


def _advice(words: str) -> str:
    """The advice for vsftpd's `500 OOPS`."""
    if "writable root" in words:
        return (
            "The root folder of the account must not be writable for it: chmod a-w, or set "
            "allow_writeable_chroot=YES."
        )
    if "director" in words or "chroot" in words:
        return "It cannot enter the folder of the account: check local_root, and its permissions."
    return "Check vsftpd.conf and the log of vsftpd."


_VERIFY = {
    9: "its certificate is not valid yet; check the clocks of both hosts.",
    10: "its certificate has expired; renew it.",
    18: "its certificate is self-signed; set PHONEPROV_FTP_TLS_CA to a file with it.",
    19: "its authority is not trusted; set PHONEPROV_FTP_TLS_CA to the authority's certificate.",
    20: "its authority is unknown; set PHONEPROV_FTP_TLS_CA to the authority's certificate.",
    21: "its certificate cannot be verified; the server must send the whole chain.",
    23: "its certificate was revoked; renew it.",
    62: "its certificate is for another name; set PHONEPROV_FTP_HOST to a name in it.",
    64: "its certificate is for another address; set PHONEPROV_FTP_HOST to a name in it.",
}
"""By OpenSSL's number of the verification error (X509_V_ERR_...)."""


def _why(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        unknown = "its certificate cannot be verified; check it and PHONEPROV_FTP_TLS_CA."
        return _VERIFY.get(error.verify_code, unknown)
    if error.reason in {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"}:
        return (
            "it answers without TLS; set PHONEPROV_FTP_TLS=explicit, usually port 21, or =implicit "
            "with the port of implicit TLS, usually 990."
        )
    return "check the TLS versions of both, PHONEPROV_FTP_TLS and PHONEPROV_FTP_PORT."


class ServerRefused(Refused):
    """The server refused a command with the number ``reply`` (RFC 959, 4.2)."""

    def __init__(self, message: str, *, reply: str) -> None:
        super().__init__(message)
        self.reply = reply


class Steps:
    """The deadlines of one upload, in seconds: ``timeout`` for each step, ``total`` for all steps.

    ``server`` is the ``host:port`` for messages. The time begins when the object is created
    (``began``, by the clock of the running event loop).
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
        """Seconds that the next step may take."""
        return min(self.timeout, self.left())

    @asynccontextmanager
    async def step(
        self, doing: str, what: str = "a command", *, is_clear: bool = False
    ) -> AsyncIterator[None]:
        """Run one step with its deadline. ``doing`` (the step) and ``what`` (the object of the
        command) are parts of messages. ``is_clear`` is true for a login without TLS.

        Raises ``TimedOut``, ``ServerRefused`` for a reply that refuses ``what``, and ``Refused``
        for other failures of the server or the network. The cause of an error is dropped, because
        it contains the server's text.
        """
        try:
            async with asyncio.timeout(self.rest()):
                yield
        except TimeoutError:
            raise self.late(doing) from None
        except aioftp.StatusCodeError as exc:
            raise self._refused(exc, doing, what, is_clear=is_clear) from None
        except ssl.SSLError as error:
            raise Refused(
                f"TLS with the FTP server {self.server} failed while {doing}: {_why(error)}"
            ) from None
        except OSError:
            raise self._gone(doing) from None
        except RuntimeError as error:
            # uvloop raises it for an operation on a connection that was just reset.
            if "closed" not in str(error):
                raise
            raise self._gone(doing) from None
        except NoPassive:
            raise Refused(
                f"The FTP server {self.server} refuses passive data connections while {doing}. "
                "Allow PASV or EPSV (vsftpd: pasv_enable=YES)."
            ) from None
        except aioftp.AIOFTPException:
            raise Refused(
                f"The FTP server {self.server} sent a reply that is not FTP while {doing}."
            ) from None

    def late(self, doing: str) -> TimedOut:
        """The error of a step that exceeded its deadline."""
        hint = ""
        if doing == CONNECTING:
            hint = (
                " Check that the server is on, and check PHONEPROV_FTP_HOST and PHONEPROV_FTP_PORT."
                " A server with implicit TLS sends no greeting without TLS: set "
                "PHONEPROV_FTP_TLS=implicit; its port is usually 990."
            )
        return TimedOut(f"The FTP server {self.server} did not answer in time while {doing}.{hint}")

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
        if _OOPS.search(words):
            message = (
                f"{server} (vsftpd) failed while {doing} (reply {reply} OOPS). {_advice(words)}"
            )
        elif what in ADVICE and reply.startswith("5") and meaning in {None, "tls"}:
            message = f"{server} refused {what} while {doing} (reply {reply}). {ADVICE[what]}"
        elif meaning == "tls" and is_clear:
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
    """The reason for a refused login. To a login without TLS, vsftpd answers 530, ProFTPD 550 and
    Pure-FTPd 421. With too many clients, vsftpd and Pure-FTPd answer 421, ProFTPD 530."""
    if _TLS.search(words):
        return "tls"
    return "full" if reply == "421" or _FULL.search(words) else None


def _meaning_at_upload(reply: str, words: str) -> _Meaning | None:
    """The reason for a refused file: no space, by the codes 452 and 552 (RFC 959, section 4.2.2),
    or by the text of another refusal. With a full disk, vsftpd answers 451 "Failure writing to
    local file", Pure-FTPd 451 "Error during write to file", ProFTPD 451 "Transfer aborted.
    Input/output error"."""
    is_space = reply in _MAYBE_SPACE_REPLIES and _SPACE.search(words)
    return "space" if reply in _SPACE_REPLIES or is_space else None
