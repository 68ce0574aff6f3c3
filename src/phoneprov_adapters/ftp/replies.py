"""The meaning of a server's refusal.

The reply number alone does not distinguish a wrong password from a server that requires TLS or is
full; the text does. The text is only searched, never repeated.
"""

from __future__ import annotations

import re
from typing import Literal

Meaning = Literal["tls", "full", "space"]

_TLS = re.compile(r"\b(tls|ssl|ftps)\b|encrypt|cleartext|clear text", re.IGNORECASE)
_FULL = re.compile(r"too many|maximum|limit|\bfull\b|\bbusy\b|try (again )?later", re.IGNORECASE)
_SPACE = re.compile(
    r"no space|space left|disk|quota|insufficient|exceeded|writ(e|ing) to|input/output error",
    re.IGNORECASE,
)

_SPACE_REPLIES = {"452", "552"}
_MAYBE_SPACE_REPLIES = {"426", "450", "451", "550", "553"}


def meaning_at_login(reply: str, words: str) -> Meaning | None:
    """Why a server refuses a client: vsftpd answers 530 to a login without TLS, ProFTPD 550,
    Pure-FTPd 421; a full vsftpd or Pure-FTPd answers 421, a full ProFTPD 530."""
    if _TLS.search(words):
        return "tls"
    return "full" if reply == "421" or _FULL.search(words) else None


def meaning_at_upload(reply: str, words: str) -> Meaning | None:
    """Why a server refuses a file: 452 and 552 (RFC 959, section 4.2.2), or another refusal with
    such a text. With a full disk, vsftpd answers 451 "Failure writing to local file", Pure-FTPd
    451 "Error during write to file", ProFTPD 451 "Transfer aborted. Input/output error"."""
    is_space = reply in _MAYBE_SPACE_REPLIES and _SPACE.search(words)
    return "space" if reply in _SPACE_REPLIES or is_space else None
