"""Positions in a template: Jinja2 knows lines only. Every token gets its offset in the source, plus
one, in the place of its line. Nodes, errors and the generated code carry that number unchanged, and
``position`` makes line and column of it."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from jinja2 import TemplateSyntaxError
from jinja2.lexer import Lexer

_LINE_END = re.compile(r"\r\n|\r|\n")
_TWO = re.compile("\r\n")


def position(source: str, place: int) -> tuple[int, int]:
    """Line and column, both from 1, of a place in the source."""
    offset = min(max(place - 1, 0), len(source))
    ends = [end.end() for end in _LINE_END.finditer(source, 0, offset)]
    return len(ends) + 1, offset - (ends[-1] if ends else 0) + 1


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
        at = 0
        tokens = super().tokeniter(source, name, filename, state)
        while True:
            try:
                token = next(tokens, None)
            except TemplateSyntaxError as error:
                start = at + bisect_left(pairs, at)
                raise TemplateSyntaxError(str(error.message), start + 1) from None
            if token is None:
                return
            _, kind, value = token
            # White space before a tag with a minus sign is not part of any token.
            begin = normal.find(value, at)
            at = begin + len(value)
            start = begin + bisect_left(pairs, begin)
            original = source[start : at + bisect_left(pairs, at)]
            yield start + 1, kind, original
