"""Every change of a phone's state in a batch, without a store."""

import msgspec
import pytest

from phoneprov_core.features.batches.model import BatchState, Counts, PhoneState
from phoneprov_core.features.batches.ports import (
    SKIPPED,
    BatchLease,
    Claim,
    Transition,
    claimed,
    ended,
    postponed,
)
from support.phone_records import a_batch

NOW = "2026-01-31T08:15:30.250Z"
AGAIN = Claim("batch", 3, "00:1B:D4:12:34:56", "attempt", 2, 1, NOW)


def test_claimed_phone_is_retried_once_under_the_lease() -> None:
    assert claimed(BatchLease("batch", "me", 7), NOW) == Transition(
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
        {
            "attempt_uuid": "attempt",
            "attempts": "",
            "cut_off": 1,
            "waiting_since": NOW,
            "message": "busy",
        },
        due_after=30,
    )


def test_only_pending_phones_are_skipped() -> None:
    assert Transition(PhoneState.WAITING, PhoneState.LEFT_OUT) == SKIPPED


@pytest.mark.parametrize("state", BatchState)
def test_running_batch_is_done_at_its_end_and_a_halted_one_keeps_its_state(
    state: BatchState,
) -> None:
    phones = Counts(done=1, failed=2, unknown=3, left_out=4, total=10)
    batch = a_batch(1, state=state, phones=phones)
    end = BatchState.DONE if state is BatchState.RUNNING else state
    assert batch.finished(NOW) == msgspec.structs.replace(batch, state=end, ended_at=NOW)


@pytest.mark.parametrize("phones", [Counts(waiting=1, total=1), Counts(running=1, total=1)])
def test_batch_with_pending_or_running_phones_has_not_ended(phones: Counts) -> None:
    assert a_batch(1, phones=phones).finished(NOW) is None


def test_only_a_running_batch_is_halted() -> None:
    batch = a_batch(1)
    halted = batch.halted(BatchState.STOPPED, "why")
    assert halted == a_batch(1, state=BatchState.STOPPED, message="why")
    assert halted.halted(BatchState.CANCELLED, None) is None
