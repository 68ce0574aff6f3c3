"""The ports in the replies to EPSV and PASV."""

import re

import aioftp

_EXTENDED = re.compile(r"\(([!-~])\1\1(\d{1,5})\1\)")
_HOST_PORT = re.compile(r"(?:\d{1,3},){4}(\d{1,3}),(\d{1,3})")


class BadReply(aioftp.AIOFTPException):
    """The server's reply does not conform to the protocol."""


def port_of_epsv(text: str) -> int:
    """The port of a 229 reply (RFC 2428, section 3). Raises ``BadReply``."""
    found = _EXTENDED.search(text)
    if found is None:
        raise BadReply
    return _port(int(found[2]))


def port_of_pasv(text: str) -> int:
    """The port of a 227 reply (RFC 959, section 4.2). Its address is not used. Raises
    ``BadReply``."""
    found = _HOST_PORT.search(text)
    if found is None:
        raise BadReply
    return _port(int(found[1]) * 256 + int(found[2]))


def _port(number: int) -> int:
    if not 1 <= number <= 65535:
        raise BadReply
    return number
