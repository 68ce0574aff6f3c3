"""Tables for people: one record a line in a pipe, no wider than the window on a terminal."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import click
from rich.cells import cell_len

from phoneprov_http.main.commands.options import printable

_GAP = "  "
_INDENT = "    "
_LEAST = 24
"""The narrowest last column that can still be read. Below it the cell gets lines of its own."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their headings; without headings where all of ``columns`` are empty.

    On a terminal the last column is wrapped to the width of the window; columns that do not fit
    get lines of their own. In a pipe no line is wrapped or cut. Control characters are escaped.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines([list(columns)] * any(columns) + cells, width):
        click.echo(line)


def table_lines(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """The lines of a table in a window of this width; None is unlimited."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    left = _across([*widths[:-1], 0])
    beside = len(widths) - 1
    while width is not None and beside > 1 and _across(widths[:beside]) > width:
        beside -= 1
    lines: list[str] = []
    for row in rows:
        start = _GAP.join(map(_padded, row[:-1], widths))
        if width is None:
            lines.append(f"{start}{_GAP}{row[-1]}".rstrip())
        elif width - left >= min(_LEAST, widths[-1]):
            last = _wrapped(row[-1], width - left)
            pairs = zip_longest([start], last or [""], fillvalue=" " * (left - len(_GAP)))
            lines += [f"{first}{_GAP}{cell}".rstrip() for first, cell in pairs]
        else:
            lines.append(_GAP.join(map(_padded, row[:beside], widths)).rstrip())
            for cell in row[beside:]:
                lines += [_INDENT + line for line in _wrapped(cell, width - len(_INDENT))]
    return lines


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 10), break_on_hyphens=False)
