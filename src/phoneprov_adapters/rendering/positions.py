"""Positions in a template: Jinja2 knows lines only. Every token gets its offset in the source, plus
one, instead of its line. Nodes, errors and the generated code carry this number unchanged, and
``position`` converts it to line and column."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from jinja2 import TemplateSyntaxError
from jinja2.lexer import Lexer

_LINE_END = re.compile(r"\r\n|\r|\n")
_TWO = re.compile("\r\n")


_UNCLOSED = {"comment_begin": "comment tag", "raw_begin": "raw directive"}


class Positions:
    """Lines and columns of a source."""

    def __init__(self, source: str) -> None:
        self._ends = [end.end() for end in _LINE_END.finditer(source)]
        self._length = len(source)

    def of(self, place: int) -> tuple[int, int]:
        """Line and column, both from 1, of a place."""
        offset = min(max(place - 1, 0), self._length)
        lines = bisect_right(self._ends, offset)
        return lines + 1, offset - (self._ends[lines - 1] if lines else 0) + 1


class PlacedLexer(Lexer):
    """Jinja2's lexer with places in the position of lines, and without a change of line ends."""

    def _normalize_newlines(self, value: str) -> str:
        return value

    def tokeniter(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> Iterator[tuple[int, str, str]]:
        # Jinja2 reads CR LF as LF: the offsets differ by the pairs before.
        pairs = [pair.start() - number for number, pair in enumerate(_TWO.finditer(source))]
        normal = _LINE_END.sub("\n", source)
        at, start, kind = 0, 0, ""
        tokens = super().tokeniter(source, name, filename, state)
        while True:
            try:
                token = next(tokens, None)
            except TemplateSyntaxError as error:
                start = at + bisect_left(pairs, at)
                raise TemplateSyntaxError(str(error.message), start + 1) from None
            if token is None:
                # Jinja2 ignores a tag that begins at the end of the source.
                if kind in _UNCLOSED:
                    raise TemplateSyntaxError(f"Missing end of {_UNCLOSED[kind]}", start + 1)
                return
            _, kind, value = token
            # White space before a tag with a minus sign is not part of any token.
            begin = normal.find(value, at)
            at = begin + len(value)
            start = begin + bisect_left(pairs, begin)
            original = source[start : at + bisect_left(pairs, at)]
            yield start + 1, kind, original
