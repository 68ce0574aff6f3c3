"""Parsing of requested file names."""

import re

from phoneprov_core.kernel.addresses import mac as canonical_mac

MAX_NAME = 255
"""Characters of a requested name; RFC 1350 sets no limit, file systems do."""

_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")
# CTLSEP<MAC>.tlv, ITLSEP<MAC>.tlv, SEP<MAC>.cnf.xml, SEP<MAC>.cnf.xml.sgn and the like.
_DEVICE = re.compile(r"(?:CTL|ITL)?(?:SEP|SIP)?([0-9A-F]{12})(?:\..*)?", re.IGNORECASE)


def plain_name(requested: str) -> str | None:
    """The name without a leading slash, in lower case; None for a name that leads elsewhere.

    A name is printable ASCII without backslash, and no segment of it is empty or begins with a
    dot: hidden files include the unfinished uploads of FTP servers, with whole configurations.
    Phones put a slash before the names of locale files and mix upper and lower case.
    """
    name = requested.removeprefix("/")
    if not _PRINTABLE.fullmatch(name) or "\\" in name:
        return None
    if any(not segment or segment.startswith(".") for segment in name.split("/")):
        return None
    return name.lower()


def mac_in(name: str) -> str | None:
    """The canonical MAC in the last segment of a name; None if the name holds none."""
    found = _DEVICE.fullmatch(name.rpartition("/")[2])
    if found is None:
        return None
    try:
        return canonical_mac(found[1])
    except ValueError:
        return None
