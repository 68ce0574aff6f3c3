"""Temporary names of an upload, in the folder of the final name."""

import re
from typing import NamedTuple

from phoneprov_core.devices.ports import Upload
from phoneprov_core.kernel.errors import Refused

_SEGMENT = re.compile(r"[A-Za-z0-9._-]{1,255}")
_MARK = "phoneprov-"
_HIDDEN = re.compile(r"\.([^/]+)\.[A-Za-z0-9_-]+\.tmp")
_TEST = re.compile(r"phoneprov-test-([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f-]{21}\.xml")
_LONGEST_TEST = 10 * 60 * 1000
"""Milliseconds after which a test file was left by a process that was killed."""
_PLAIN = re.compile(rf"([^/]+)\.{_MARK}[A-Za-z0-9_-]+\.tmp")


def check_names(upload: Upload) -> None:
    """Raises ``Refused`` when a name of the upload is more than one plain path segment.

    The core guarantees that it never is; a path or a line end would become another file or another
    command on the server, so it is checked again.
    """
    for name in (upload.filename, upload.attempt):
        check_name(name)


def check_name(name: str) -> None:
    """Raises ``Refused`` when a name is more than one plain path segment."""
    if _SEGMENT.fullmatch(name) is None or name in {".", ".."}:
        raise Refused("The configuration file has a name that cannot be used for uploading.")


class Names(NamedTuple):
    """``temporary`` is the name of the content before it is renamed to the final name, ``aside``
    that of the old file on a server that does not rename onto a file."""

    temporary: str
    aside: str


def hidden_names(upload: Upload) -> Names:
    """Names that begin with a dot, so that listings and phones do not show them."""
    start = f".{upload.filename}.{upload.attempt}"
    return Names(f"{start}.tmp", f"{start}-old.tmp")


def plain_names(upload: Upload) -> Names:
    """Names for a server that refuses those that begin with a dot (vsftpd with ``deny_file``,
    Pure-FTPd with ``-x``)."""
    start = f"{upload.filename}.{_MARK}{upload.attempt}"
    return Names(f"{start}.tmp", f"{start}-old.tmp")


def file_of_leftover(name: str) -> str | None:
    """The file name for which an attempt may have left this file, None if it is not a leftover.

    The identifier of the attempt has no dot, so that temporary files of ``a.b`` are not taken for
    those of ``a``.
    """
    if not name.endswith(".tmp"):
        return None
    found = _HIDDEN.fullmatch(name) or _PLAIN.fullmatch(name)
    return found[1] if found else None


def name_of_test(attempt: str) -> str:
    """The name of a test file; ``attempt`` is a UUID of version 7, which begins with its time."""
    return f"phoneprov-test-{attempt}.xml"


def is_left_test(name: str, now: str) -> bool:
    """Whether this is a test file, or a temporary one for it, that was left before the test file
    ``now`` was made."""
    found, own = _TEST.fullmatch(file_of_leftover(name) or name), _TEST.fullmatch(now)
    return bool(found and own) and _moment(found) + _LONGEST_TEST < _moment(own)


def _moment(found: re.Match[str] | None) -> int:
    return int(found[1] + found[2], 16) if found else 0
