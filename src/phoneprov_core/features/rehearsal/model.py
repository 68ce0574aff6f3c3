"""What a rehearsal answers: the outcome of each phone, with its evidence."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Batch, BatchPhone, PhoneState
from phoneprov_core.features.batches.work import UNCHANGED
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.values import Timestamp
from phoneprov_core.switching.deployments.model import StepName

MOST_PHONES = 5000
"""Maximum number of phones of a rehearsal: its memory and its time grow with them."""
MOST_FAILURES = 20
"""Maximum number of failures that are named with their step."""


class Expected(Enum):
    """The outcome of a phone in a rehearsal."""

    DEPLOYED = "deployed"
    """The phone is switched and restarted, or restarted."""
    FAILED = "failed"
    UNKNOWN = "unknown"
    """There is no evidence, or the reply to a command would be lost as it was last time."""
    POSTPONED = "postponed"
    """The phone is in a call or in use: the batch tries it again later."""
    LEFT_ALONE = "left_alone"
    """The phone stays as it is."""


class Evidence(Enum):
    """What an outcome is known from."""

    LAST_DEPLOYMENT = "last_deployment"
    LAST_SEEN = "last_seen"
    LAST_CALL = "last_call"
    """An earlier batch found the phone in a call."""
    RECORDS = "records"
    """The records decide alone: the phone is not called."""
    NONE = "none"


EvidenceAt = Annotated[Timestamp, schema("Time of the evidence; null if it has none")]
EvidenceOf = Annotated[Evidence, schema("What the outcome is known from")]


class Foretold(Struct, frozen=True):
    """The outcome of one phone."""

    mac: StoredMac
    outcome: Annotated[Expected, schema("Expected outcome")]
    evidence: EvidenceOf
    evidence_at: EvidenceAt | None
    message: Annotated[str, schema("Reason of the outcome")] | None


class ForetoldFailure(Struct, frozen=True):
    """A phone that would fail, with the step at which it would."""

    mac: StoredMac
    step: Annotated[StepName, schema("Step that fails; null if no step begins")] | None
    message: Annotated[str, schema("Reason of the failure")]
    evidence: EvidenceOf
    evidence_at: EvidenceAt | None


class ForetoldCounts(Struct, frozen=True):
    """Number of phones per expected outcome."""

    deployed: Annotated[int, schema("Switched and restarted, or restarted", examples=[117])] = 0
    failed: Annotated[int, schema("Failed", examples=[2])] = 0
    unknown: Annotated[int, schema("Not known", examples=[1])] = 0
    postponed: Annotated[int, schema("In a call or in use, and tried again", examples=[0])] = 0
    left_alone: Annotated[int, schema("Left as they are", examples=[0])] = 0


class TimelineEntry(Struct, frozen=True):
    """A moment of the rehearsal."""

    seconds: Annotated[float, schema("Seconds since the begin of the batch", examples=[312.5])]
    ended: Annotated[int, schema("Phones that have ended by then", examples=[60])]
    message: Annotated[str, schema("What happens", examples=["Half of the phones have ended."])]


class Rehearsal(Struct, frozen=True):
    """What a batch would do, by the records as of a moment."""

    as_of: Annotated[Timestamp, schema("Time of the records on which the rehearsal ran")]
    phones: Annotated[int, schema("All phones of the batch", minimum=1, examples=[120])]
    outcomes: ForetoldCounts
    first_failures: Annotated[
        tuple[ForetoldFailure, ...],
        schema(f"The first {MOST_FAILURES} phones that fail", maxItems=MOST_FAILURES),
    ]
    seconds: Annotated[
        float,
        schema(
            "Expected duration, with that of the batch that undoes it; uncertain if phones are "
            "`postponed` or `unknown`",
            examples=[640.0],
        ),
    ]
    stopped_because: Annotated[str, schema("Why the batch would stop; null if it would not")] | None
    undone: Annotated[int, schema("Phones that would get their earlier configuration back")]
    timeline: Annotated[tuple[TimelineEntry, ...], schema("Moments, oldest first")]
    foretold: Annotated[
        tuple[Foretold, ...],
        schema("Each phone, in the order of the batch", maxItems=MOST_PHONES),
    ]

    @property
    def summary(self) -> str:
        """The result in sentences; they name the time of the records."""
        counts = self.outcomes
        words = [f"{counts.deployed} of {self.phones} phone(s) would be done"]
        for number, what in (
            (counts.failed, "would fail"),
            (counts.postponed, "would be postponed"),
            (counts.left_alone, "would be left alone"),
            (counts.unknown, "is not known" if counts.unknown == 1 else "are not known"),
        ):
            words += [f"{number} {what}"] if number else []
        text = f"As of {clock_time(self.as_of)}: {', '.join(words)}."
        if counts.postponed or counts.unknown:
            text += " The duration is uncertain: phones are postponed, or nothing is known of them."
        if self.stopped_because is not None:
            text += f" The batch would stop: {self.stopped_because}"
        return text


def clock_time(moment: str) -> str:
    """A shown moment to the minute: ``2026-01-31 08:15 UTC``."""
    return f"{moment[:10]} {moment[11:16]} UTC"


def evidence_in_words(one: ForetoldFailure) -> str:
    """What a failure is known from, in a sentence."""
    at = f" of {clock_time(one.evidence_at)}" if one.evidence_at else ""
    return f"Evidence: {_EVIDENCE[one.evidence]}{at}."


_EVIDENCE = {
    Evidence.LAST_DEPLOYMENT: "the last deployment",
    Evidence.LAST_SEEN: "the last look at the phone",
    Evidence.LAST_CALL: "a call",
    Evidence.RECORDS: "the records",
    Evidence.NONE: "none",
}


class TooLarge(Conflict):
    """The batch has more phones than a rehearsal takes."""

    code = "rehearsal_too_large"
    usual = f"A rehearsal takes at most {MOST_PHONES} phones. Rehearse a part of them."


class Stage(Protocol):
    """Where batches are rehearsed."""

    async def __call__(
        self, actor: Actor, new: CreateBatch, macs: Sequence[str], now: datetime
    ) -> Rehearsal:
        """Run the batch of these phones on a twin of the records as of ``now``, with the use cases
        of the service. No write reaches the records, and no packet leaves the twin. The event loop
        is not blocked; a cancellation ends the twin. Raises ``Unavailable`` if it cannot be run,
        or takes too long."""


class Cause(Struct, frozen=True):
    """What is expected of a phone: whether anything is known of it, and from what."""

    evidence: Evidence
    at: str | None = None


def foretell(phone: BatchPhone, cause: Cause, *, was_busy: bool, was_tried: bool) -> Foretold:
    """The outcome of a phone, as the rehearsed batch ended for it. ``was_busy`` is whether it was
    postponed, ``was_tried`` whether a deployment or a command to the phone began."""
    outcome = _EXPECTED[phone.state]
    if outcome is Expected.DEPLOYED and phone.message == UNCHANGED:
        outcome, was_tried = Expected.LEFT_ALONE, False
    if was_busy and outcome is not Expected.LEFT_ALONE:
        outcome = Expected.POSTPONED
    elif not was_tried:
        cause = Cause(Evidence.RECORDS)
    elif cause.evidence is Evidence.NONE:
        outcome = Expected.UNKNOWN
        return Foretold(phone.mac, outcome, cause.evidence, None, NEVER_SEEN)
    return Foretold(phone.mac, outcome, cause.evidence, cause.at, phone.message)


NEVER_SEEN = "The phone was never seen, and nothing was deployed to it."

_EXPECTED = {
    PhoneState.WAITING: Expected.UNKNOWN,
    PhoneState.RUNNING: Expected.UNKNOWN,
    PhoneState.DONE: Expected.DEPLOYED,
    PhoneState.FAILED: Expected.FAILED,
    PhoneState.UNKNOWN: Expected.UNKNOWN,
    PhoneState.LEFT_OUT: Expected.LEFT_ALONE,
}


def counted(foretold: Sequence[Foretold]) -> ForetoldCounts:
    """The number of phones per outcome."""
    return ForetoldCounts(**Counter(one.outcome.value for one in foretold))


_MANY = 20
"""Number of phones from which on the timeline has quarters."""
_QUARTERS = ((0.25, "A quarter"), (0.5, "Half"), (0.75, "Three quarters"))


def timeline_of(
    batch: Batch, ended: Sequence[str], undo: Batch | None, undone: int
) -> tuple[float, tuple[TimelineEntry, ...]]:
    """The duration of a rehearsed batch with its undo, and its moments. ``ended`` are the times
    when its phones ended."""
    begin = datetime.fromisoformat(batch.start_at or batch.created_at)

    def entry(at: str, message: str) -> TimelineEntry:
        seconds = max(0.0, (datetime.fromisoformat(at) - begin).total_seconds())
        return TimelineEntry(round(seconds, 3), sum(one <= at for one in ended), message)

    first = batch.start_at or batch.created_at
    entries = [entry(first, f"The batch begins at {first}.")]
    in_order = sorted(ended)
    for share, words in _QUARTERS:
        if len(in_order) >= _MANY and batch.message is None:
            entries.append(
                entry(
                    in_order[int(len(in_order) * share) - 1], f"{words} of the phones have ended."
                )
            )
    over = batch.ended_at or first
    if batch.message is not None:
        entries.append(entry(over, f"The batch stops: {batch.message}"))
    else:
        entries.append(entry(over, "The last phone has ended."))
    if undo is not None and undo.ended_at is not None:
        over = undo.ended_at
        entries.append(entry(over, f"{undone} phone(s) have their earlier configuration back."))
    return entries[-1].seconds, tuple(entries)
