"""The expected behaviour of a phone, from its last observation and its last deployments, and the
use case of a rehearsal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.ports import BatchesTransaction, NoPhones
from phoneprov_core.features.batches.use_cases import require_future, require_known, selected
from phoneprov_core.features.fleet.states import SeenPhone
from phoneprov_core.features.rehearsal.model import (
    MOST_PHONES,
    Cause,
    Evidence,
    Rehearsal,
    Stage,
    TooLarge,
)
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Confirmation, Deployment, Outcome, StepName
from phoneprov_core.switching.deployments.observation import DeviceInformation
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, REPLY_LOST, SWITCHED_OFF

MOST_REMEMBERED = 5
"""Number of the last deployments of a phone from which its durations are taken."""
SHORTEST_CALL = timedelta(minutes=1)
_SILENT_SECONDS = 3.0
_TO_PHONES = (StepName.CLEAR_SESSION, StepName.RESTART)
_TIMED = (StepName.UPLOAD, StepName.CLEAR_SESSION, StepName.RESTART)
_OF_REACH = re.compile("(could not|cannot) be reached|did not answer|closed the connection")
"""Failures that do not count if the phone or server has answered since."""
_BY_RECORDS = re.compile(
    "The phone has no recorded address|The phone's address|Nothing is uploaded|Level 0 has not"
)
"""Refusals before any call. The present records determine whether they happen again."""


class Failure(Struct, frozen=True):
    """How a step fails: as it failed ``at`` this time, after this number of ``seconds``, or after
    this ``share`` of the duration of a successful step."""

    message: str
    code: str | None = None
    at: str | None = None
    seconds: float = _SILENT_SECONDS
    share: float | None = None

    def raised(self) -> PhoneprovError:
        """The error of the step."""
        return Refused(self.message, code=self.code) if self.code else Refused(self.message)

    @property
    def is_of_reach(self) -> bool:
        """Whether nothing answered."""
        return self.code is None and _OF_REACH.search(self.message) is not None


SILENT = Failure("The phone's web server did not answer when it was last looked at.")


class Durations(Struct, frozen=True):
    """Seconds of each step with the work of the service in it, until a restarted phone is seen
    again, and until a command to a silent phone is given up."""

    upload: float
    clear: float
    restart: float
    away: float
    silent: float


class Behaviour(Struct, frozen=True):
    """The expected behaviour of a phone, and its evidence. ``comes_back`` is False for a phone that
    is not seen again after a restart. ``stated`` is None if its web server is silent. A call lasts
    until ``in_call_until``."""

    cause: Cause
    durations: Durations
    stated: DeviceInformation | None
    is_registered: bool
    comes_back: bool = True
    upload: Failure | None = None
    restart: Failure | None = None
    loads_missed: frozenset[str] = frozenset()
    in_call_until: datetime | None = None


class CallSeen(Struct, frozen=True):
    """A phone that a batch found in a call: the begin of the call, and its end; the end is None if
    the batch still waits for the phone."""

    since: str
    until: str | None


_COMMON = Durations(upload=0.5, clear=0.2, restart=1.5, away=45.0, silent=_SILENT_SECONDS)
_TRANSACTIONS, _STATEMENTS = 7.5, 80
"""Writing transactions of a batch, and all statements, for a phone that it switches and watches; a
statement that reads is a third."""
_WORK_SECONDS, _MOST_WORK_SECONDS = 0.00014, 0.0013


def durations_of(deployments: Sequence[Deployment], usual: Durations | None = None) -> Durations:
    """The mean durations of the steps of some deployments. A step without any record has its
    duration in ``usual``, else that of a common phone."""
    steps: dict[StepName, list[float]] = {name: [] for name in _TIMED}
    away: list[float] = []
    silent: list[float] = []
    for one in deployments:
        took = {step.name: step.duration_ms / 1000 for step in one.steps if step.name in _TIMED}
        for step in one.steps:
            if step.ok and step.name in steps:
                steps[step.name].append(took[step.name])
            elif (
                step.ok is False
                and step.name in _TO_PHONES
                and _OF_REACH.search(step.message or "")
            ):
                silent.append(took[step.name])
        if one.confirmation is Confirmation.CONFIRMED and one.ended_at and one.confirmation_at:
            away.append(max(1.0, _seconds(one.ended_at, one.confirmation_at)))

    def mean(found: Sequence[float], otherwise: float) -> float:
        return fmean(found) if found else otherwise

    known = usual or _COMMON
    return Durations(
        mean(steps[StepName.UPLOAD], known.upload),
        mean(steps[StepName.CLEAR_SESSION], known.clear),
        mean(steps[StepName.RESTART], known.restart),
        mean(away, known.away),
        mean(silent, known.silent),
    )


def _seconds(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


class Work(Struct, frozen=True):
    """Seconds of the service's own work for one statement, and seconds that a deployment waits
    besides. The service executes one statement at a time, which limits the rate of a batch."""

    statement: float
    wait: float = 0.0


def work_of(deployments: Sequence[Deployment]) -> Work:
    """The work of the service, from some deployments.

    Between its steps a deployment waits for one transaction, and for transactions before it. By
    Little's law the number of these transactions is the number that arrives during the wait."""
    spans: list[tuple[float, float]] = []
    waits: list[float] = []
    for one in deployments:
        if one.outcome is Outcome.DEPLOYED and one.ended_at is not None:
            begin = datetime.fromisoformat(one.created_at).timestamp()
            took = _seconds(one.created_at, one.ended_at)
            spans.append((begin, begin + took))
            waits.append(max(0.0, took - sum(step.duration_ms for step in one.steps) / 1000))
    busy, until = 0.0, 0.0
    for begin, end in sorted(spans):
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    if not busy:
        return Work(_WORK_SECONDS)
    waited = fmean(waits)
    others = (sum(end - begin for begin, end in spans) - busy) / busy
    rate = others / fmean(end - begin for begin, end in spans)
    before = 1 + rate * _TRANSACTIONS * waited
    transaction = min(waited / before, _MOST_WORK_SECONDS * _STATEMENTS / _TRANSACTIONS)
    return Work(transaction * _TRANSACTIONS / _STATEMENTS, max(0.0, waited - transaction * before))


def server_failure(newest: Sequence[Deployment]) -> Failure | None:
    """How the next upload to a server fails, from its newest deployments, the newest first; None if
    it does not. One upload in which nothing answered may have been a disturbance; two are not."""
    failures = [failed_upload(one) for one in newest[:2]]
    first = failures[0] if failures else None
    if first is None or (first.is_of_reach and None in failures):
        return None
    return first


def share_of_upload(failed: Sequence[tuple[Failure, Sequence[Deployment]]]) -> float | None:
    """The share of the duration of an upload after which a server refuses it, from failures with
    the deployments of their phones. None if it is not known, or if nothing answered: then the
    deadline decides."""
    took, usual = 0.0, 0.0
    for failure, deployments in failed:
        steps = [step for one in deployments for step in one.steps if step.name is StepName.UPLOAD]
        done = [step.duration_ms / 1000 for step in steps if step.ok]
        if done and not failure.is_of_reach:
            took += failure.seconds
            usual += fmean(done)
    return took / usual if usual else None


def failed_upload(deployment: Deployment) -> Failure | None:
    """How the upload of a deployment failed; None if it did not, or if no server was called."""
    message = deployment.message
    if deployment.failed_step is not StepName.UPLOAD or not message or _BY_RECORDS.match(message):
        return None
    is_unknown = deployment.outcome is Outcome.UNKNOWN
    code = OUTCOME_UNKNOWN if is_unknown else None
    took = _failing_seconds(deployment, StepName.UPLOAD)
    return Failure(message, code, deployment.ended_at, took)


def _failed_restart(deployment: Deployment) -> Failure | None:
    message = deployment.restart
    if message in {None, SWITCHED_OFF} or deployment.restarted or _BY_RECORDS.match(message or ""):
        return None
    code = REPLY_LOST if deployment.restarted is None else None
    took = _failing_seconds(deployment, StepName.RESTART)
    return Failure(message or "", code, deployment.ended_at, took)


def _failing_seconds(deployment: Deployment, name: StepName) -> float:
    took = [one.duration_ms / 1000 for one in deployment.steps if one.name is name and not one.ok]
    return took[0] if took else _SILENT_SECONDS


def expected_of(
    phone: Phone,
    seen: SeenPhone | None,
    newest: Sequence[Deployment],
    call: CallSeen | None,
    *,
    usual: Durations,
    server: Failure | None,
    is_own_server: bool,
    now: datetime,
) -> Behaviour:
    """The next behaviour of the phone. ``newest`` are its last ended deployments, the newest first;
    ``server`` is how uploads to the common server fail. The newest evidence counts; a failure in
    which something answered repeats until a deployment succeeds."""
    last = next(iter(newest), None)
    last_at = None if last is None else last.ended_at or last.created_at
    upload, restart = server, None
    comes_back, missed = True, frozenset[str]()
    seen_since = bool(seen and seen.answers and seen.seen_at and seen.seen_at > (last_at or ""))
    stated = _stated(phone, seen)
    is_silent = seen is not None and seen.answers is False
    if last is not None and last_at is not None:
        if is_own_server:
            upload = failed_upload(last)
        restart = _failed_restart(last)
        if seen_since:
            upload = None if is_own_server and upload and upload.is_of_reach else upload
            restart = None if restart and restart.is_of_reach else restart
        elif last.confirmation is Confirmation.NOT_CONFIRMED and not last.was_interrupted:
            comes_back = last.restarted is not True or last.confirmation_message is None
        if is_silent and last.restarted and seen is not None and last_at > seen.since:
            is_silent = False
        if (
            last.load
            and last.confirmation is Confirmation.NOT_CONFIRMED
            and (seen is None or seen.runs_expected is not True)
        ):
            missed = frozenset({last.load})
    if seen is not None and seen.runs_expected is False and seen.expected_load:
        missed |= {seen.expected_load}
    cause = _cause(seen, last, last_at, is_silent=is_silent, seen_since=seen_since)
    if server is not None and not is_own_server:
        cause = Cause(Evidence.LAST_DEPLOYMENT, server.at)
    until = _until(call, last_at, now)
    if until is not None and call is not None:
        cause = Cause(Evidence.LAST_CALL, call.until or timestamp(now))
    durations = durations_of([one for one in newest if one.steps][:MOST_REMEMBERED], usual)
    if upload is not None and upload.share is not None:
        upload = replace(upload, seconds=upload.share * durations.upload)
    return Behaviour(
        cause,
        durations,
        None if is_silent else stated,
        is_registered=not (seen and seen.is_registered is False),
        comes_back=comes_back,
        upload=upload,
        restart=restart,
        loads_missed=missed,
        in_call_until=until,
    )


def _stated(phone: Phone, seen: SeenPhone | None) -> DeviceInformation:
    if seen is None:
        return DeviceInformation(phone.mac, phone.model)
    return DeviceInformation(
        seen.reported_mac or phone.mac,
        seen.reported_model or phone.model,
        seen.reported_load,
        seen.serial,
    )


def _cause(
    seen: SeenPhone | None,
    last: Deployment | None,
    last_at: str | None,
    *,
    is_silent: bool,
    seen_since: bool,
) -> Cause:
    if seen is not None and (is_silent or seen_since or not seen.is_own):
        return Cause(Evidence.LAST_SEEN, seen.since if is_silent else seen.seen_at)
    if last is not None:
        return Cause(Evidence.LAST_DEPLOYMENT, last_at)
    if seen is not None and seen.seen_at is not None:
        return Cause(Evidence.LAST_SEEN, seen.seen_at)
    return Cause(Evidence.NONE)


def _until(call: CallSeen | None, last_at: str | None, now: datetime) -> datetime | None:
    """The expected end of a call: it lasts twice as long as it had lasted at the last observation,
    and at least a minute longer. None if this end has passed."""
    if call is None or (last_at is not None and call.until is not None and last_at > call.until):
        return None
    seen = datetime.fromisoformat(call.until) if call.until else now
    until = seen + max(seen - datetime.fromisoformat(call.since), SHORTEST_CALL)
    return until if until > now else None


@dataclass(frozen=True)
class RehearseBatch:
    """Runs a batch on a copy of the records. It requires level 0, like the batch."""

    database: ReadAndWrite[BatchesTransaction]
    stage: Stage
    clock: Clock

    async def __call__(self, actor: Actor, new: CreateBatch) -> Rehearsal:
        """Raises like the start of the batch, ``TooLarge``, and ``Unavailable``."""
        require_superadmin(actor)
        require_future(new, self.clock)
        now = self.clock()
        async with self.database.read() as tx:
            await require_known(tx, new)
        macs: list[str] = []
        async for piece in selected(self.database.read, new, timestamp(now)):
            macs += (mac for mac, _ in piece)
            if len(macs) > MOST_PHONES:
                raise TooLarge
        if not macs:
            raise NoPhones
        return await self.stage(actor, new, macs, now)
