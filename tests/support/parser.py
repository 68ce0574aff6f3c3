"""What a parser is to those who try it with inputs of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Parser(NamedTuple):
    """``corpus``: good inputs, and bad ones that were thought of; ``words``: what it looks
    for; ``takes``: whether it took an input, False when it refused it as it should."""

    corpus: Sequence[bytes]
    words: Sequence[bytes]
    takes: Callable[[bytes], bool]


def text_of(content: bytes) -> str:
    """Any text, also such as cannot be encoded."""
    return content.decode("utf-8", "surrogateescape")
