"""Where a configuration holds secrets, and what it looks like without them."""

from __future__ import annotations

import re
from collections.abc import Callable

from phoneprov_core.configuration.elements import Element, walk

Mask = Callable[[str], str]
"""What is shown in place of a secret."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STEMS = ("password", "passwd", "passphrase", "passcode", "secret")
_WORDS = frozenset(
    {"pass", "pwd", "pin", "pins", "psk", "community", "communities", "token", "credential"}
)
_LOGIN = frozenset({"name", "id", "user", "username"})
# A key may be one to press: what stands before the word tells.
_KINDS_OF_KEY = frozenset(
    {
        "access", "api", "auth", "authentication", "crypt", "eap", "encryption", "master",
        "preshared", "priv", "privacy", "private", "radius", "session", "shared", "signing",
        "snmp", "ssh", "wep", "wpa",
    }
)  # fmt: skip
# Anchored to what stands before it, so that a long word is looked at once.
_ATTRIBUTE = re.compile(rb"""(?<=[\s"'])([^\s=<>"'/]+)\s*=\s*("[^"]*"|'[^']*')""")
_LINES = re.compile(r"[^\r\n]+")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ELEMENT_IN_COMMENT = re.compile(rb"<([^\s<>/!?]+)[^<>]*>([^<>]+)<")
_USER_IN_URL = re.compile(r"(?<=://)[^\s/<>\"'@?#]+(?=@)")
_IN_QUERY = re.compile(r"(?<=[?&;])([\w.-]+)=([^&;#\s<>\"']+)")


def speaks_of_secret(name: str) -> bool:
    """Whether an element or attribute of this name holds what not everybody may read:
    a password, a PIN, a key, an SNMP community, the name for a login.

    Names are judged by their words, so that ``spanToPCPort`` holds no PIN and
    ``holdResumeKey`` is a key to press.
    """
    folded = name.casefold()
    if any(stem in folded for stem in _STEMS):
        return True
    words = [word.casefold() for word in _WORD.findall(name)]
    if _WORDS & set(words):
        return True
    if words[:1] == ["auth"] and _LOGIN & set(words):
        return True
    return words[-1:] in (["key"], ["keys"]) and bool(_KINDS_OF_KEY & set(words))


def has_secret_in_url(text: str) -> bool:
    """Whether a URL in a text brings a login along, or a secret among its parameters."""
    return bool(_USER_IN_URL.search(text)) or any(
        speaks_of_secret(found[1]) for found in _IN_QUERY.finditer(text)
    )


def stars(_secret: str) -> str:
    """The plain mask."""
    return "***"


class NumberedStars:
    """A mask that tells secrets apart without telling them: ``***1`` is never ``***2``, and
    the same secret has the same number wherever one mask was used."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        return f"***{self._numbers.setdefault(secret, len(self._numbers) + 1)}"


def masked(xml: str, mask: Mask = stars) -> str:
    """The configuration with each secret masked; everything else, every line and its number
    included, is as it was. What is empty stays empty. Elements in comments and the logins in
    URLs are looked at as well.

    ``xml`` is a configuration that can be one (see ``well_formed``).
    """
    content = xml.encode()
    places: list[tuple[int, int]] = []

    def note(element: Element) -> None:
        if speaks_of_secret(element.name):
            places.append((element.content, element.end))
        if any(speaks_of_secret(name) for name in element.attributes):
            places.extend(_in_attributes(content, element.start, element.content))

    walk(content, note)
    for comment in _COMMENT.finditer(content):
        places += [
            found.span(2)
            for found in _ELEMENT_IN_COMMENT.finditer(content, *comment.span())
            if speaks_of_secret(found[1].decode())
        ]
        places += _in_attributes(content, *comment.span())
    pieces: list[str] = []
    done = 0
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        # An element without content ends before its content would begin; what lies in a
        # secret is masked with it.
        if start < done or end <= start:
            continue
        pieces += [content[done:start].decode(), _hidden(content[start:end].decode(), mask)]
        done = end
    pieces.append(content[done:].decode())
    text = _USER_IN_URL.sub(lambda found: mask(found[0]), "".join(pieces))
    return _IN_QUERY.sub(lambda found: _parameter(found[1], found[2], mask), text)


def _in_attributes(content: bytes, start: int, end: int) -> list[tuple[int, int]]:
    return [
        (found.start(2) + 1, found.end(2) - 1)
        for found in _ATTRIBUTE.finditer(content, start, end)
        if speaks_of_secret(found[1].decode())
    ]


def _parameter(name: str, value: str, mask: Mask) -> str:
    return f"{name}={mask(value) if speaks_of_secret(name) else value}"


def _hidden(secret: str, mask: Mask) -> str:
    return _LINES.sub(lambda line: mask(line[0]) if line[0].strip() else line[0], secret)
