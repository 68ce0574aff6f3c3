"""Rules for stopping a batch and for waiting for a phone."""

from datetime import timedelta

from phoneprov_core.batches.model import Batch, Counts
from phoneprov_core.kernel.system import Clock, shown

JUDGED_FROM = 10
"""Minimum number of processed phones before the share of failures counts."""

MOST_CUT_OFF = 3
"""Number of interrupted attempts after which a phone is given up: it may be the cause."""

LOOK_AGAIN_SECONDS = 30
"""Seconds until a busy phone is tried again."""


def too_many_failures(share: int | None, counts: Counts) -> bool:
    """Whether the share of failed phones reached this percentage."""
    if share is None or counts.ended < JUDGED_FROM:
        return False
    return counts.failed * 100 >= share * counts.ended


def stopped_because(counts: Counts) -> str:
    """Why a batch was stopped, in a sentence."""
    return (
        f"{counts.failed} of the {counts.ended} processed phones failed; "
        "correct the cause and start another batch for the rest."
    )


def waited_long_enough(batch: Batch, waiting_since: str, clock: Clock) -> bool:
    """Whether a phone that was first found busy at that time is given up."""
    patience = timedelta(minutes=batch.wait_minutes)
    return waiting_since <= shown(clock() - patience)
