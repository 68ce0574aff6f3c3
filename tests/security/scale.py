"""How long the tests of security run, and what they measured.

In the ordinary run of the tests they are short. ``PHONEPROV_SECURITY=long`` makes them as long
as the promises are worded; their figures are shown at the end.
"""

from __future__ import annotations

import os

LONG = os.environ.get("PHONEPROV_SECURITY") == "long"
figures: list[str] = []


def rounds(short: int, long: int) -> int:
    """How many rounds to go."""
    return long if LONG else short


def note(figure: str) -> None:
    """Keep a figure for the end of the run."""
    figures.append(figure)
