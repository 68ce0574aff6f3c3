"""Ports to uploaders, phones and the manager interface, and their errors."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Protocol, runtime_checkable

from msgspec import Struct

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.fields import SECRET, Redacted

REPLACED_ANOTHER = (
    "the file on the server was not the file that was deployed last: another program may have "
    "changed or removed it"
)
"""The note of an upload that replaced another file than ``Upload.replaces``."""


class Content(Struct, frozen=True):
    """What a file should contain: its number of bytes, and their SHA-256 in hex."""

    size: int
    sha256: str


class LeaseCheck(Protocol):
    """The method of leases with which a holder finds out whether the lease was lost."""

    async def is_held(
        self, mac: str, holder: str, fence: int, *, even_expired: bool = False
    ) -> bool:
        """Whether the holder has the lease of the phone."""


class LeasedTransaction(Protocol):
    """A transaction in which a lease can be looked at."""

    @property
    def leases(self) -> LeaseCheck: ...


class Proceed(Protocol):
    """Asks whether a command may be sent that cannot be taken back: the rename of a file onto its
    final name, or a restart."""

    async def __call__(self, tx: LeasedTransaction | None = None) -> None:
        """Returns if it may; in the transaction ``tx`` if that is what changes the file. Else
        raises an error with the code ``OUTCOME_UNKNOWN``."""


async def always(tx: LeasedTransaction | None = None) -> None:
    """The command belongs to no lease."""


class Upload(Redacted, frozen=True):
    """One configuration file to be uploaded.

    ``phone_ip`` is the address from the inventory, canonical text, or None if there is none that
    level 0 answers for; an uploader with a configured server ignores it. ``filename`` is one path
    segment of ``[A-Za-z0-9._-]``. ``content`` is the exact content of the file. ``attempt`` is
    unique to this upload and fit for a file name. ``replaces`` is the content of the file that this
    one should replace, None if it is not known. ``proceed`` is awaited immediately before the
    rename: a paused process may have lost the phone's lease to another process. ``more_follow`` is
    whether further uploads follow within seconds, as in a batch, and no earlier one for this file
    was interrupted a short time ago: the uploader may keep its session for a few seconds, and use
    a listing that is as old.
    """

    phone_ip: str | None
    filename: str
    content: Annotated[bytes, SECRET]
    attempt: str
    replaces: Content | None = None
    proceed: Proceed = always
    more_follow: bool = False


class Uploaded(Struct, frozen=True):
    """The result of an upload: its place (``host:port/path``, no secrets), how many bytes, their
    SHA-256 in hex, and notes for the log (such as that the rename was not atomic)."""

    place: str
    size: int
    sha256: str
    notes: tuple[str, ...] = ()


class ConfigUploader(Protocol):
    """Puts a configuration file where the phone reads it."""

    async def upload(self, upload: Upload) -> Uploaded:
        """Put the complete file under its final name and verify it there.

        The content goes to a temporary name in the same folder, is verified, renamed onto the final
        name and verified again, also when a file of the same size or content is there. Temporary
        files that earlier attempts for the same file name left are removed. The old file is
        unchanged until the rename. If it is another one than ``replaces``, or is missing, the note
        ``REPLACED_ANOTHER`` says so. Immediately before the rename ``proceed`` of the upload is
        awaited; what that raises is passed on, and no further command is sent.

        A cancellation is passed on within 20 seconds; after it
        nothing is written, and the final name is the old file or the new one, whole. The event
        loop is not blocked.

        Raises ``Refused`` when the server cannot be reached, refuses a step or returns other
        content than was sent, ``TimedOut`` when it does not answer within the deadline of a step or
        of the whole, ``Conflict`` when the phone's address is missing or is not allowed to be
        called. After an error the final name is the old file, whole; when the uploader could not
        find out whether it is the old file or the new one, the error's code is ``OUTCOME_UNKNOWN``.
        Messages name the step that failed (connecting, logging in, uploading, verifying, renaming)
        and never contain the server's text or a password.
        """


class FilesOnServer(Protocol):
    """One session on the server of the uploads, which changes nothing. Names are as in
    ``Upload.filename``. ``listing`` and ``read`` raise ``Refused`` and ``TimedOut`` like
    ``ConfigUploader.upload``; after that the session cannot be used any more."""

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        """Those of these files that the folder contains, each with what the server shows of it,
        such as size and time of the last change: a text that stays the same while the file does,
        and that is only compared with itself. None if the server lists no files, or more than
        16 MiB of them."""

    def place(self, name: str) -> str:
        """The place of a file, as in ``Uploaded``."""

    async def read(self, name: str, limit: int) -> bytes | None:
        """The first ``limit`` bytes of a file; None if the server refuses them, as for a file that
        does not exist or that the account may not read."""


@runtime_checkable
class ReadsFiles(Protocol):
    """A ``ConfigUploader`` whose files can be read back. An uploader need not have this. A look at
    a phone's own server carries no login: both methods raise ``AddressNotConfirmed`` if it would
    need one."""

    def server_of(self, phone_ip: str | None) -> str:
        """The server of the phone at this address (``host:port``, no secrets): phones with the
        same one share a folder. Raises ``Conflict`` like ``upload``."""

    def opened(
        self, phone_ip: str | None, seconds: float | None = None
    ) -> AbstractAsyncContextManager[FilesOnServer]:
        """Log in on the server of the phone at this address, and log out at the end. All of it
        together ends within ``seconds``; without it each call has a deadline of its own, of at most
        a minute. Raises like ``upload``."""


class KeyPress(Struct, frozen=True):
    """One command to a phone's web server and the pause after it, in seconds. With ``may_be_empty``
    an empty reply with status 200 is success, too: multiplatform firmware sends no other."""

    uri: str
    pause: float = 0.0
    may_be_empty: bool = False


class PhoneCommands(Protocol):
    """The phone's own web server, which carries out commands (CGI/Execute)."""

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        """Send each command in a request of its own, in order, one in flight, with its pause.
        ``proceed`` is awaited immediately before each command is written, when its connection is
        open; what that raises is passed on, and nothing more is sent.

        With ``mac`` the phone is asked for its MAC first, and nothing is sent to another one:
        raises ``Refused`` with both MACs in the message. A phone that does not state its MAC is
        sent the commands.

        Raises ``Refused`` if the phone cannot be reached or answers anything but success
        (the message contains the phone's error number, never its raw reply), ``TimedOut`` if
        it does not answer within the deadline of the whole call, ``Conflict`` if the address
        is not allowed to be called. Nothing is sent after the first failure. When the last
        command was sent and its reply was lost, was late or cannot be read, the error's code is
        ``REPLY_LOST``: a phone that restarts may do so before it replies.
        """


class ManagerAction(Struct, frozen=True):
    """One action for Asterisk's manager interface: its name and its fields in order. A field may
    occur more than once (``Variable``). Names and values hold no line ends."""

    name: str
    fields: tuple[tuple[str, str], ...]


class ManagerInterface(Protocol):
    """Asterisk's manager interface."""

    async def perform(
        self, action: ManagerAction, phone_ip: str | None = None, proceed: Proceed = always
    ) -> None:
        """Perform one action; returns when Asterisk accepted it. ``proceed`` is awaited immediately
        before the action is written; what that raises is passed on, and nothing is sent.

        Before a ``PJSIPNotify`` the contacts of its ``Endpoint`` are looked up, since Asterisk
        sends it to all of them. Without one the phone is not registered; one at another address
        than ``phone_ip`` is another phone, and so are contacts at several addresses if ``phone_ip``
        is None. Both raise ``Refused``, and nothing is sent.

        Raises ``Refused`` if the manager cannot be reached, refuses the login or the action (the
        message is our own text), ``TimedOut`` if it does not answer within the deadline of the
        whole call, ``Invalid`` if a field holds CR or LF, before anything is sent. When the action
        was sent and its response was lost or late, the error's code is ``REPLY_LOST``.
        """


class PhoneDriver(Protocol):
    """Sends commands to the phones of one make once their configuration is in place.

    Both methods take the phone's record in the inventory; a login is sent to its ``login_ip``
    only. They raise ``Refused`` if the phone, or
    the server that passes the command on, cannot be reached or refuses it, or if another phone
    answers at the recorded address; ``TimedOut`` if it does not answer within the deadline of the
    whole call; and ``Conflict`` if the command cannot be sent at all: the phone's address is needed
    and missing or is not allowed to be called, or no way to reach it is configured. When the
    command was sent and its reply was lost or late, the error's code is ``REPLY_LOST``. Messages
    are the driver's own words and never contain a password or text of the phone. A switch has 30 s
    in all; a driver uses at most 8 s for each call.
    """

    async def leave_services(self, phone: Phone) -> None:
        """Have the phone close its services (menus, directories), which showed the data of its
        previous user; it is not restarted. For a make without services this returns at once."""

    async def restart(
        self, phone: Phone, software_type: str | None, proceed: Proceed = always
    ) -> None:
        """Request one restart, after which the phone reads its configuration again; returns when
        the command was accepted, which may be before the phone carries it out.

        ``software_type`` is the firmware family of the phone's record or else of the profile,
        None if neither states it. After a failure the phone can be called again. ``proceed`` is
        awaited immediately before each command that is part of the restart: it keeps that the
        phone may restart, and a paused process may have lost the phone's lease to another process.
        What it raises is passed on, and no further command is sent.
        """


@runtime_checkable
class ForgetsCalls(Protocol):
    """A ``PhoneDriver`` whose phones can forget their calls. A driver need not have this."""

    async def forget_calls(self, phone: Phone) -> None:
        """Clear the lists of calls on the phone. Raises like the methods of ``PhoneDriver``."""


class Calls(Protocol):
    """Finds out whether phones are in a call."""

    async def in_call(self, phone: Phone) -> bool:
        """Whether the phone is known to be in a call. The result may be a few seconds old. Raises
        ``Refused`` and ``TimedOut`` if it cannot be found out."""


async def is_in_call(calls: Calls | None, phone: Phone) -> bool:
    """Whether the phone is known to be in a call; False if calls cannot be observed (None) or the
    state cannot be found out."""
    if calls is None:
        return False
    try:
        return await calls.in_call(phone)
    except PhoneprovError:
        return False
