"""How long races, faults and costs are tried, and what was measured meanwhile.

In the ordinary run of the tests they are short. ``PHONEPROV_TESTS=long`` makes them as long as
the promises are worded; their figures are shown at the end. ``PHONEPROV_SEED`` names the number
that a run's random choices come from, to repeat it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

LONG = os.environ.get("PHONEPROV_TESTS") == "long"
SEED = int(os.environ.get("PHONEPROV_SEED") or random.SystemRandom().randrange(10**6))
figures: list[str] = []


def rounds(short: T, long: T) -> T:
    """How many rounds to go, or which."""
    return long if LONG else short


def chances(what: str) -> random.Random:
    """Random choices for one purpose."""
    return random.Random(f"{SEED} {what}")


def note(figure: str) -> None:
    """Keep a figure for the end of the run."""
    figures.append(figure)


def spread(seconds: Sequence[float]) -> str:
    """How long something took, in milliseconds."""
    if not seconds:
        return "never"
    ordered = sorted(seconds)
    half, most = ordered[len(ordered) // 2], ordered[(len(ordered) * 99) // 100]
    return (
        f"median {half * 1000:.0f} ms, p99 {most * 1000:.0f} ms, "
        f"at most {ordered[-1] * 1000:.0f} ms"
    )
