"""Firmware loads: which files a phone fetches for one.

A phone is given the name of a load, such as ``SCCP45.9-4-2SR3-1S``. It fetches ``<name>.loads``,
which lists the other files among bytes of a signature, and then those.
"""

import re

LARGEST = 64 * 1024
"""Maximum size of a list, in bytes; real ones have less than 2 KiB."""

_LETTER = rb"[A-Za-z0-9._-]"
_NAME = re.compile(
    rb"(?<!%b)[A-Za-z0-9]%b{2,62}\.(?:sbn|sebn|sgn|bin|sb2|zz|elf)(?!%b)" % ((_LETTER,) * 3)
)


def list_name(load: str) -> str:
    """The name of the list of a load."""
    return load if load.lower().endswith(".loads") else f"{load}.loads"


def listed_files(content: bytes) -> list[str]:
    """The names of files in a list, each once, in their order."""
    names = (name.decode("ascii") for name in _NAME.findall(content[:LARGEST]))
    return list(dict.fromkeys(names))
