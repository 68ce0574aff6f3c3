"""Cells that a spreadsheet does not take for formulas.

Spreadsheets execute a cell that begins with ``= + - @``, a tab or a line break. Such a cell is
exported with a leading apostrophe, which an import removes; so is a cell with apostrophes before
such a character, so that an import restores every exported cell. A telephone number, ``+`` with
digits and blanks, is not a formula and is not changed.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"\+[0-9]+(?: [0-9]+)*", re.ASCII)


def harmless(text: str) -> str:
    """The text in a form that a spreadsheet does not execute."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def meant(cell: str) -> str:
    """The original text of such a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def is_unicode(text: str) -> bool:
    """Whether text that was decoded with ``surrogateescape`` was valid UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
