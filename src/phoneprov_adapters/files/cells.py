"""Cells that a spreadsheet does not take for formulas.

A cell that begins with ``= + - @``, a tab or a line break is carried out by spreadsheets. Such
a cell leaves with an apostrophe in front, which is taken away again when it comes in; so is
one that has apostrophes before such a character already. What leaves so comes in as it was. A
telephone number, ``+`` with digits and blanks, is no formula and leaves as it is.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"\+[0-9]+(?: [0-9]+)*", re.ASCII)


def harmless(text: str) -> str:
    """The text as it may stand in a spreadsheet."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def meant(cell: str) -> str:
    """The text that ``harmless`` made this cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def is_unicode(text: str) -> bool:
    """Whether text that was read with ``surrogateescape`` was in UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
