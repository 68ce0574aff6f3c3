"""What the contract of ``ConfigUploader`` needs: an uploader, and a folder that the test can
read."""

from collections.abc import Callable
from dataclasses import dataclass, field

from phoneprov_core.switching.devices.ports import ConfigUploader, Upload

NAME = "SEP001122334455.cnf.xml"
OLD = b"<old>" + b"o" * 20_000 + b"</old>"
PROFILE = ("<device>" + "Größe ☎ 電話\n" * 1300 + "</device>").encode()
LARGEST = bytes(range(256)) * 2000
MOST_SECONDS = 21
MOST_BLOCKED_SECONDS = 3
LATER_SECONDS = 0.4
"""Seconds in which a cancelled upload could write although it must not."""

CANARY = "canary-in-the-configuration"
IP = "127.0.0.1"
"""The address of the phone that uploads are for."""


def an_upload(
    content: bytes, *, name: str = NAME, attempt: str = "a-1", ip: str | None = IP
) -> Upload:
    """An upload for the phone at ``IP``."""
    return Upload(ip, name, content, attempt)


def _hidden(name: str) -> str:
    return f".{name}.dead-1.tmp"


@dataclass(frozen=True)
class UploaderRig:
    """An uploader, and the folder that it uploads to.

    ``read`` and ``write`` access the folder directly, also during an upload: a file that is being
    renamed may be missing. ``server`` is the prefix of places. ``broken`` is the uploader with a
    fault, such as a wrong password or an unreachable server: each of its uploads must fail.
    ``silent`` is the uploader with a server that accepts the login and never answers, with a
    deadline of at most 20 seconds, and ``lying`` with one that returns other content than it was
    sent; None if the fault is not possible, as for a folder. ``leftover`` returns the name of a
    temporary file of an earlier attempt for a file name. ``secrets`` are the passwords and tokens
    that ``uploader``, ``broken``, ``silent`` and ``lying`` know: no message may contain one.
    """

    uploader: ConfigUploader
    server: str
    read: Callable[[], dict[str, bytes]]
    write: Callable[[str, bytes], object]
    broken: ConfigUploader
    silent: ConfigUploader | None = None
    lying: ConfigUploader | None = None
    leftover: Callable[[str], str] = field(default_factory=lambda: _hidden)
    secrets: tuple[str, ...] = ()
