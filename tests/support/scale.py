"""Length of races, faults and cost tests, and the figures that they measure.

The ordinary run is short and makes the same random choices each time. ``PHONEPROV_TESTS=long`` runs
the tests at full length with new random choices; ``PHONEPROV_SEED`` repeats those of another run.
"""

import os
import random
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

LONG = os.environ.get("PHONEPROV_TESTS") == "long"
SEED = int(os.environ.get("PHONEPROV_SEED") or (LONG and random.SystemRandom().randrange(10**6)))
figures: list[str] = []


long_only = pytest.mark.skipif(not LONG, reason="measures: PHONEPROV_TESTS=long")
"""Marks tests that measure, or that take minutes; the make targets of the long forms run them."""


def rounds(short: T, long: T) -> T:
    """The value for the ordinary run, or for the long run."""
    return long if LONG else short


def random_choices(what: str) -> random.Random:
    """A random generator for one purpose."""
    return random.Random(f"{SEED} {what}")


def note(figure: str) -> None:
    """Keep a figure for the end of the run."""
    figures.append(figure)


def spread(seconds: Sequence[float]) -> str:
    """The duration since a moment, in milliseconds."""
    if not seconds:
        return "never"
    ordered = sorted(seconds)
    half, most = ordered[len(ordered) // 2], ordered[(len(ordered) * 99) // 100]
    return (
        f"median {half * 1000:.0f} ms, p99 {most * 1000:.0f} ms, "
        f"at most {ordered[-1] * 1000:.0f} ms"
    )
