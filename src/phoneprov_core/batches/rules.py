"""When a batch is stopped, and how long a phone is waited for."""

from __future__ import annotations

from datetime import timedelta

from phoneprov_core.batches.model import Batch, Counts
from phoneprov_core.kernel.times import Clock, shown

JUDGED_FROM = 10
"""So many phones have to be worked on before the share of failures means anything."""

MOST_CUT_OFF = 3
"""A phone whose work was cut off so many times is perhaps why."""

LOOK_AGAIN_SECONDS = 30
"""How long a phone that was busy is left alone."""


def too_many_failures(share: int | None, counts: Counts) -> bool:
    """Whether so many per cent of those worked on have failed."""
    if share is None or counts.ended < JUDGED_FROM:
        return False
    return counts.failed * 100 >= share * counts.ended


def stopped_because(counts: Counts) -> str:
    """Why a batch was stopped, in a sentence."""
    return (
        f"{counts.failed} of the {counts.ended} phones worked on failed; "
        "put right what kept them from it and start another batch for the rest."
    )


def waited_long_enough(batch: Batch, waiting_since: str, clock: Clock) -> bool:
    """Whether a phone that was first found busy at that moment is given up."""
    patience = timedelta(minutes=batch.wait_minutes)
    return waiting_since <= shown(clock() - patience)
