"""Every change of a phone's state in a batch, without a store."""

import pytest

from phoneprov_core.batches.model import BatchState, PhoneState
from phoneprov_core.batches.transitions import (
    SKIPPED,
    Hold,
    Transition,
    Turn,
    claimed,
    ended,
    final,
    postponed,
)

NOW = "2026-01-31T08:15:30.250Z"
AGAIN = Turn("batch", 3, "00:1B:D4:12:34:56", "attempt", 2, 1, NOW)


def test_claimed_phone_is_retried_once_under_the_lease() -> None:
    assert claimed(Hold("batch", "me", 7), NOW) == Transition(
        PhoneState.WAITING,
        PhoneState.RUNNING,
        {"fence": 7, "started_at": NOW, "message": None},
        tries=1,
    )


@pytest.mark.parametrize("state", [PhoneState.DONE, PhoneState.FAILED])
def test_only_a_running_phone_ends(state: PhoneState) -> None:
    assert ended(state, NOW, message="no", deployment_uuid="record") == Transition(
        PhoneState.RUNNING,
        state,
        {"ended_at": NOW, "message": "no", "deployment_uuid": "record"},
    )


@pytest.mark.parametrize("batch", [*BatchState, None])
def test_postponed_phone_is_pending_only_in_a_running_batch(batch: BatchState | None) -> None:
    is_running = batch is BatchState.RUNNING

    assert postponed(AGAIN, 30, "busy", batch) == Transition(
        PhoneState.RUNNING,
        PhoneState.WAITING if is_running else PhoneState.LEFT_OUT,
        {"attempt_uuid": "attempt", "cut_off": 1, "waiting_since": NOW, "message": "busy"},
        due_after=30,
    )


def test_only_pending_phones_are_skipped() -> None:
    assert Transition(PhoneState.WAITING, PhoneState.LEFT_OUT) == SKIPPED


def test_running_batch_is_done_at_its_end_and_a_halted_one_keeps_its_state() -> None:
    assert {state: final(state) for state in BatchState} == {
        BatchState.RUNNING: BatchState.DONE,
        BatchState.DONE: BatchState.DONE,
        BatchState.STOPPED: BatchState.STOPPED,
        BatchState.CANCELLED: BatchState.CANCELLED,
    }
