"""The names an upload uses beside the final one, all hidden and in the same folder."""

from __future__ import annotations

import re

from phoneprov_core.devices.ports import Upload
from phoneprov_core.kernel.errors import Refused

_SEGMENT = re.compile(r"[A-Za-z0-9._-]{1,255}")


def check_names(upload: Upload) -> None:
    """Raises ``Refused`` when a name of the upload is more than one plain path segment.

    The core promises that it never is; a path or a line end that slipped through would
    become another file or another command on the server, so it is looked at once more.
    """
    for name in (upload.filename, upload.attempt):
        if _SEGMENT.fullmatch(name) is None or name in {".", ".."}:
            raise Refused("The configuration file has a name that cannot be used for uploading.")


def temporary_name(upload: Upload) -> str:
    """Where the content goes before it is renamed onto the final name."""
    return f".{upload.filename}.{upload.attempt}.tmp"


def aside_name(upload: Upload) -> str:
    """Where the old file waits while a server that does not rename onto a file is served."""
    return f".{upload.filename}.{upload.attempt}-old.tmp"


def may_be_leftover(name: str) -> bool:
    """Whether an attempt for any file may have left ``name`` behind."""
    return name.startswith(".") and name.endswith(".tmp")


def is_leftover(name: str, filename: str) -> bool:
    """Whether an attempt for this file name left ``name`` behind.

    What stands for the attempt has no dot, so that a file ``a`` never takes the temporary
    files of a file ``a.b`` for its own.
    """
    pattern = rf"\.{re.escape(filename)}\.[A-Za-z0-9_-]+\.tmp"
    return re.fullmatch(pattern, name) is not None
