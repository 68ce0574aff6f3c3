"""What a phone is expected to do, from its records."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from phoneprov_core.features.batches.model import BatchPhone, PhoneState
from phoneprov_core.features.batches.work import UNCHANGED
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.features.rehearsal.foresight import (
    Behaviour,
    CallSeen,
    Failure,
    Work,
    durations_of,
    expected_of,
    failed_upload,
    server_failure,
    share_of_upload,
    work_of,
)
from phoneprov_core.features.rehearsal.model import (
    NEVER_SEEN,
    Cause,
    Evidence,
    Expected,
    foretell,
)
from phoneprov_core.switching.deployments.model import (
    Confirmation,
    Deployment,
    Outcome,
    Step,
    StepName,
)
from phoneprov_core.switching.errors import (
    NO_UPLOAD,
    AddressNotAllowed,
    AddressNotConfirmed,
    NoAddress,
)
from support.phone_records import a_deployment, a_phone
from support.records import a_mac

MAC = a_mac(1)
PHONE_RECORD = a_phone(1)
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
EARLY, LATE = "2026-03-02T08:00:00.000Z", "2026-03-02T08:30:00.000Z"
UNREACHED = "The FTP server 10.0.0.5:21 could not be reached or closed the connection."
FULL = "The FTP server 10.0.0.5:21 could not store the file (reply 552): its disk is full."
REFUSED = "The phone refused the login (HTTP 401)."


def deployed(at: str = EARLY, **changes: Any) -> Deployment:
    steps = (
        Step(StepName.UPLOAD, True, None, 400),
        Step(StepName.CLEAR_SESSION, True, None, 100),
        Step(StepName.RESTART, True, None, 1000),
    )
    ended = timestamp_after(at, 2)
    fields: dict[str, Any] = {
        "outcome": Outcome.DEPLOYED,
        "steps": steps,
        "restart": "ok",
        "created_at": at,
        "ended_at": ended,
        "confirmation": Confirmation.CONFIRMED,
        "confirmation_at": timestamp_after(ended, 40),
        "load": None,
        **changes,
    }
    return a_deployment(1, MAC, **fields)


def timestamp_after(at: str, seconds: float) -> str:
    then = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    return then.isoformat(timespec="milliseconds")[:23] + "Z"


def failed(message: str, at: str = EARLY) -> Deployment:
    return deployed(
        at,
        outcome=Outcome.FAILED,
        failed_step=StepName.UPLOAD,
        message=message,
        steps=(Step(StepName.UPLOAD, False, message, 50),),
        restart=None,
        confirmation=Confirmation.NONE,
    )


def seen(at: str = LATE, **changes: Any) -> SeenPhone:
    fields: dict[str, Any] = {"seen_at": at, "answers": True, "reported_mac": MAC, **changes}
    return SeenPhone(MAC, FleetState.FINE, at, **fields)


def expected(
    *newest: Deployment, look: SeenPhone | None = None, call: CallSeen | None = None, **more: Any
) -> Behaviour:
    values: dict[str, Any] = {"server": None, "is_own_server": False, "now": NOW, **more}
    return expected_of(PHONE_RECORD, look, newest, call, usual=durations_of(()), **values)


def test_phone_without_records_has_no_evidence() -> None:
    assert expected().cause == Cause(Evidence.NONE)


def test_newest_evidence_is_named() -> None:
    assert expected(deployed()).cause.evidence is Evidence.LAST_DEPLOYMENT
    assert expected(deployed(), look=seen(LATE)).cause == Cause(Evidence.LAST_SEEN, LATE)
    before = seen("2026-03-02T07:00:00.000Z")
    assert expected(deployed(), look=before).cause.evidence is Evidence.LAST_DEPLOYMENT


def test_durations_are_those_of_the_phone_else_the_usual_ones() -> None:
    took = expected(deployed()).durations
    assert (took.upload, took.clear, took.restart) == (0.4, 0.1, 1.0)
    assert took.away == 40.0
    assert expected().durations == durations_of(())


def under_way(at_once: int, work: float) -> list[Deployment]:
    """Deployments of two seconds each, with this wait for the service, some of them at a time."""
    return [
        deployed(
            timestamp_after(EARLY, number * 2 / at_once),
            ended_at=timestamp_after(EARLY, number * 2 / at_once + 2),
            steps=(Step(StepName.UPLOAD, True, None, round(2000 - 1000 * work)),),
        )
        for number in range(200)
    ]


def test_work_of_the_service_is_the_wait_between_the_steps_without_that_for_others() -> None:
    of_transaction = 7.5 / 80
    assert work_of(()) == work_of([failed(FULL)]) == Work(0.00014)
    assert work_of(under_way(1, 0.01)).statement == pytest.approx(0.01 * of_transaction)
    # 20 at a time come ten a second, each with 7.5 transactions: a wait of 30 ms is one of 10 ms
    # with two others before it.
    work = work_of(under_way(20, 0.03))
    assert work.statement == pytest.approx(0.01 * of_transaction, rel=0.1)
    assert work.wait == pytest.approx(0)


def test_wait_that_is_too_long_for_work_is_none() -> None:
    """The service stood still, or the database is far: others do not wait for it."""
    work = work_of([deployed()])
    assert work.statement == pytest.approx(0.0013)
    assert work.wait == pytest.approx(0.5 - 0.0013 * 80 / 7.5)


def test_silent_phone_fails_unless_a_later_deployment_restarted_it() -> None:
    silent = seen(LATE, answers=False)
    assert expected(deployed(EARLY), look=silent).stated is None
    assert expected(deployed("2026-03-02T08:45:00.000Z"), look=silent).stated is not None


def test_refused_restart_repeats_after_a_look_and_an_unreached_one_does_not() -> None:
    refused = deployed(restart=REFUSED)
    assert expected(refused, look=seen(LATE)).restart == Failure(REFUSED, None, refused.ended_at)
    unreached = deployed(restart="The phone's web server cannot be reached; check it.")
    assert expected(unreached, look=seen(LATE)).restart is None
    assert expected(unreached).restart is not None


def test_lost_reply_repeats_as_unknown() -> None:
    steps = (Step(StepName.RESTART, None, "late", 10),)
    lost = expected(deployed(restart="late", steps=steps)).restart
    assert lost is not None
    assert lost.code == "reply_lost"


@pytest.mark.parametrize(
    "why", [NoAddress.usual, AddressNotConfirmed.usual, NO_UPLOAD, AddressNotAllowed.usual]
)
def test_refusal_by_the_records_of_that_time_is_not_repeated(why: str) -> None:
    """What was refused may be allowed by the records of now, which the twin has."""
    assert server_failure([failed(why), failed(why)]) is None
    assert expected(failed(why), is_own_server=True).upload is None
    assert expected(deployed(restart=why)).restart is None


def test_upload_to_the_phones_own_server_fails_as_last_time() -> None:
    own = expected(failed(FULL), is_own_server=True)
    assert own.upload is not None
    assert own.upload.message == FULL
    assert expected(failed(UNREACHED), look=seen(LATE), is_own_server=True).upload is None
    assert expected(failed(FULL), look=seen(LATE), is_own_server=True).upload is not None


@pytest.mark.parametrize(
    ("newest", "fails"),
    [
        ([], False),
        ([deployed()], False),
        ([failed(FULL), deployed()], True),
        ([deployed(), failed(FULL)], False),
        ([failed(UNREACHED), deployed()], False),
        ([failed(UNREACHED), failed(UNREACHED)], True),
        ([failed(UNREACHED), failed(FULL)], True),
    ],
)
def test_common_server_fails_by_its_newest_uploads(newest: list[Deployment], fails: bool) -> None:
    assert (server_failure(newest) is not None) == fails


def test_refused_upload_takes_the_share_of_an_upload_that_it_took() -> None:
    refused = failed_upload(failed(FULL))
    assert refused is not None
    share = share_of_upload([(refused, [failed(FULL), deployed()])])
    assert share == pytest.approx(0.05 / 0.4)
    upload = expected(deployed(), server=replace(refused, share=share)).upload
    assert upload is not None
    assert upload.seconds == pytest.approx(0.05)
    assert share_of_upload([(refused, [failed(FULL)])]) is None
    unreached = failed_upload(failed(UNREACHED))
    assert unreached is not None
    assert share_of_upload([(unreached, [deployed()])]) is None


def test_failure_of_the_common_server_is_evidence_for_each_phone() -> None:
    server = Failure(FULL, None, LATE)
    assert expected(server=server).cause == Cause(Evidence.LAST_DEPLOYMENT, LATE)


def test_phone_that_did_not_return_is_not_expected_back_until_it_was_seen() -> None:
    missed = deployed(confirmation=Confirmation.NOT_CONFIRMED, confirmation_message="Not seen.")
    assert not expected(missed).comes_back
    assert expected(missed, look=seen(LATE)).comes_back


def test_load_that_did_not_arrive_is_not_expected_to() -> None:
    missed = deployed(
        load="SCCP45", confirmation=Confirmation.NOT_CONFIRMED, confirmation_message="It runs X."
    )
    assert expected(missed, look=seen(LATE)).loads_missed == {"SCCP45"}
    runs = seen(LATE, expected_load="SCCP45", runs_expected=True)
    assert not expected(missed, look=runs).loads_missed


def test_call_is_expected_to_last_as_long_again() -> None:
    still = CallSeen("2026-03-02T08:50:00.000Z", None)
    found = expected(call=still)
    assert found.in_call_until == NOW + timedelta(minutes=10)
    assert found.cause.evidence is Evidence.LAST_CALL
    over = CallSeen("2026-03-02T08:00:00.000Z", "2026-03-02T08:20:00.000Z")
    assert expected(call=over).in_call_until is None
    given_up = CallSeen("2026-03-02T07:50:00.000Z", "2026-03-02T08:50:00.000Z")
    assert expected(call=given_up).in_call_until == datetime(2026, 3, 2, 9, 50, tzinfo=UTC)
    assert expected(deployed("2026-03-02T08:55:00.000Z"), call=given_up).in_call_until is None


PHONE = BatchPhone(1, MAC, PhoneState.DONE, 1, "u", None, None, EARLY, LATE)
KNOWN = Cause(Evidence.LAST_SEEN, LATE)


@pytest.mark.parametrize(
    ("phone", "cause", "busy", "tried", "outcome", "evidence"),
    [
        (PHONE, KNOWN, False, True, Expected.DEPLOYED, Evidence.LAST_SEEN),
        (PHONE, KNOWN, True, True, Expected.POSTPONED, Evidence.LAST_SEEN),
        (PHONE, Cause(Evidence.NONE), False, True, Expected.UNKNOWN, Evidence.NONE),
        (
            replace(PHONE, state=PhoneState.FAILED, message="It does not fit."),
            Cause(Evidence.NONE), False, False, Expected.FAILED, Evidence.RECORDS,
        ),
        (
            replace(PHONE, message=UNCHANGED),
            KNOWN, False, False, Expected.LEFT_ALONE, Evidence.RECORDS,
        ),
        (
            replace(PHONE, state=PhoneState.LEFT_OUT),
            KNOWN, True, False, Expected.LEFT_ALONE, Evidence.RECORDS,
        ),
    ],
)  # fmt: skip
def test_outcome_of_a_phone_names_its_evidence(
    phone: BatchPhone,
    cause: Cause,
    busy: bool,
    tried: bool,
    outcome: Expected,
    evidence: Evidence,
) -> None:
    found = foretell(phone, cause, was_busy=busy, was_tried=tried)
    assert (found.outcome, found.evidence) == (outcome, evidence)
    if outcome is Expected.UNKNOWN:
        assert found.message == NEVER_SEEN
