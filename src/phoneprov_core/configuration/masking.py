"""Finds the secrets in a configuration and masks them. Every pattern is linear: a run of characters
is possessive (``++``), and no two starts share one."""

import re
from collections.abc import Callable
from functools import cache

from phoneprov_core.configuration.elements import Element, walk

Mask = Callable[[str], str]
"""The text in place of a secret."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STEM = re.compile("passw(?:or)?d|passphrase|passcode|secret")
_WORDS = frozenset(
    {"pass", "pwd", "pin", "pins", "psk", "community", "communities", "token", "credential"}
)
_LOGIN = frozenset({"name", "id", "user", "username"})
# "Key" alone may be one to press: another word of the name decides.
_KINDS_OF_KEY = frozenset(
    {
        "access", "api", "auth", "authentication", "crypt", "eap", "encryption", "master",
        "preshared", "priv", "privacy", "private", "radius", "session", "shared", "signing",
        "snmp", "ssh", "wep", "wpa",
    }
)  # fmt: skip
_ATTRIBUTE = re.compile(rb"""(?<=[\s"'])([^\s=<>"'/]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_LINES = re.compile(r"[^\r\n]++")
_ELEMENT_IN_TEXT = re.compile(rb"<([^\s<>/!?]++)[^<>]*+>([^<>]++)<")
_USER_IN_URL = re.compile(r"(?<=://)[^\s/<>\"'?#]+(?=@)")
_IN_QUERY = re.compile(r"(?<=[?&;#])([\w.-]++)=([^&;#\s<>\"']++)")
_PARAMETERS = frozenset({"apikey", "auth", "key", "session", "sig", "signature"})
_ENDS = {b"<!--": b"-->", b"<![C": b"]]>"}


def names_secret(name: str) -> bool:
    """Whether an element or attribute of this name holds a secret: a password, a PIN, a key, an
    SNMP community, a login name. The words of the name decide: ``spanToPCPort`` holds no PIN, and
    ``holdResumeKey`` is a key to press."""
    if _STEM.search(name.casefold()):
        return True
    words = [word.casefold() for word in _WORD.findall(name)]
    if not words:
        return False
    return (
        not _WORDS.isdisjoint(words)
        or (words[0] == "auth" and not _LOGIN.isdisjoint(words))
        or (words[-1] in {"key", "keys"} and not _KINDS_OF_KEY.isdisjoint(words))
    )


def has_secret_in_url(text: str) -> bool:
    """Whether a URL in a text contains a login or a parameter that is a secret."""
    return bool(_USER_IN_URL.search(text)) or any(
        _is_secret_parameter(found[1]) for found in _IN_QUERY.finditer(text)
    )


def stars(_secret: str) -> str:
    """The plain mask."""
    return "***"


class NumberedStars:
    """A mask that numbers secrets: equal secrets have the same number wherever one instance is
    used, different secrets have different numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        return f"***{self._numbers.setdefault(secret, len(self._numbers) + 1)}"


Places = tuple[tuple[int, int], ...]
"""Begin and end of places in a text, as byte offsets."""


def repeated(old: str, places: Places, new: str) -> Places:
    """The places of a text that have the same content as one of ``places`` in the old text."""
    before, after = old.encode(), new.encode()
    found: list[tuple[int, int]] = []
    for secret in {before[start:end] for start, end in places if start < end}:
        at = after.find(secret)
        while at >= 0:
            found.append((at, at + len(secret)))
            at = after.find(secret, at + len(secret))
    return tuple(found)


def blanked(content: bytes, places: Places) -> bytes:
    """The content with stars at these places; no other position changes."""
    hidden = bytearray(content)
    for start, end in places:
        hidden[start:end] = b"*" * (end - start)
    return bytes(hidden)


def masked(xml: str, mask: Mask = stars, known: Places = ()) -> str:
    """The configuration with each secret masked. All other text and the number of lines stay
    the same; an empty secret stays empty. Comments, CDATA sections, processing instructions and
    the logins and parameters of URLs are searched too. ``known`` are places of other secrets.

    ``xml`` is a configuration without a fault (see ``well_formed``).
    """
    content = xml.encode()
    places: list[tuple[int, int]] = [*known]
    is_secret = cache(names_secret)  # for this text only

    def note(element: Element) -> None:
        if is_secret(element.name):
            places.append((element.content, element.end))
        if any(map(is_secret, element.attributes)):
            places.extend(_in_attributes(content, element.start, element.content))

    def search(start: int) -> None:
        end = content.index(_ENDS.get(content[start : start + 4], b"?>"), start)
        places.extend(
            found.span(2)
            for found in _ELEMENT_IN_TEXT.finditer(content, start + 1, end)
            if names_secret(found[1].decode())
        )
        places.extend(_in_attributes(content, start, end))

    walk(content, note, search)
    pieces: list[str] = []
    done = 0
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        # A secret inside another one is masked with it. An empty-element tag has no content.
        if start < done or end <= start:
            continue
        pieces += [content[done:start].decode(), _hidden(content[start:end].decode(), mask)]
        done = end
    pieces.append(content[done:].decode())
    return masked_urls("".join(pieces), mask)


def masked_urls(text: str, mask: Mask = stars) -> str:
    """The text with the logins, and the parameters that are secrets, of URLs in it masked."""
    text = _USER_IN_URL.sub(lambda found: mask(found[0]), text)
    return _IN_QUERY.sub(lambda found: _parameter(found[1], found[2], mask), text)


def _in_attributes(content: bytes, start: int, end: int) -> list[tuple[int, int]]:
    return [
        (found.start(2) + 1, found.end(2) - 1)
        for found in _ATTRIBUTE.finditer(content, start, end)
        if names_secret(found[1].decode())
    ]


def _parameter(name: str, value: str, mask: Mask) -> str:
    return f"{name}={mask(value) if _is_secret_parameter(name) else value}"


def _is_secret_parameter(name: str) -> bool:
    """Some words name secrets in URLs only: the element ``key`` is a key of the phone."""
    return names_secret(name) or name.casefold() in _PARAMETERS


def _hidden(secret: str, mask: Mask) -> str:
    return _LINES.sub(lambda line: mask(line[0]) if line[0].strip() else line[0], secret)
