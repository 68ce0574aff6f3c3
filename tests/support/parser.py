"""A parser for tests with inputs of any kind."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Parser(NamedTuple):
    """``corpus``: valid and known invalid inputs; ``words``: its tokens; ``takes``: whether it
    accepted an input, False for a refusal by an error of phoneprov."""

    corpus: Sequence[bytes]
    words: Sequence[bytes]
    takes: Callable[[bytes], bool]


def text_of(content: bytes) -> str:
    """Any text, with lone surrogates too."""
    return content.decode("utf-8", "surrogateescape")
