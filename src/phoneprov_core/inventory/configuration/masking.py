"""Finds the secrets in a configuration and masks them. Every pattern is linear: a run of characters
is possessive (``++``), and no two starts share one."""

import re
from functools import cache

from phoneprov_core.inventory.configuration.elements import Element, walk
from phoneprov_core.kernel.secrets import Mask, masked_urls, names_secret, stars

_ATTRIBUTE = re.compile(rb"""(?<=[\s"'])([^\s=<>"'/]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_LINES = re.compile(r"[^\r\n]++")
_ELEMENT_IN_TEXT = re.compile(rb"<([^\s<>/!?]++)[^<>]*+>([^<>]++)<")
_ENDS = {b"<!--": b"-->", b"<![C": b"]]>"}


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


def _in_attributes(content: bytes, start: int, end: int) -> list[tuple[int, int]]:
    return [
        (found.start(2) + 1, found.end(2) - 1)
        for found in _ATTRIBUTE.finditer(content, start, end)
        if names_secret(found[1].decode())
    ]


def _hidden(secret: str, mask: Mask) -> str:
    return _LINES.sub(lambda line: mask(line[0]) if line[0].strip() else line[0], secret)
