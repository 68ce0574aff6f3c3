"""Batches: many phones that are switched or restarted, paced, one record for all of it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Check, Command, Rule, invalid, settle
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import MacAddress, OptionalLine, Uuid, schema
from phoneprov_core.kernel.times import Timestamp
from phoneprov_core.phones.model import Phone, bare_model
from phoneprov_core.profiles.model import RevisionNumber

MOST_MACS = 5000
MOST_AT_ONCE = 100
MOST_PER_MINUTE = 6000
MOST_WAIT_MINUTES = 24 * 60


class BatchAction(Enum):
    """What is done to each phone."""

    SWITCH = "switch"
    RESTART = "restart"


class BatchState(Enum):
    """Where a batch stands. In all but the first no further phone is begun."""

    RUNNING = "running"
    DONE = "done"
    """Every phone was worked on."""
    STOPPED = "stopped"
    """Too large a share of its phones had failed."""
    CANCELLED = "cancelled"


class PhoneState(Enum):
    """Where one phone of a batch stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    """Switched, and told to restart; or told to restart."""
    FAILED = "failed"
    LEFT_OUT = "left_out"
    """The batch was stopped or cancelled before its turn."""


class Counts(Struct, frozen=True):
    """How many phones of a batch stand where, and how many there are."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    left_out: int = 0
    total: int = 0

    @property
    def ended(self) -> int:
        """Those that were worked on to an end."""
        return self.done + self.failed


class Batch(Struct, frozen=True):
    """One batch, with its phones as they were counted when it was read."""

    uuid: Uuid
    action: BatchAction
    profile_uuid: (
        Annotated[Uuid, schema(description="Null where each phone keeps the profile that is on it")]
        | None
    )
    profile_name: str | None
    revision: Annotated[RevisionNumber, schema(description="What each phone is given")] | None
    model: str | None
    location: str | None
    software_type: str | None
    at_once: int
    per_minute: int | None
    stop_after_failures: int | None
    wait_minutes: int
    user_uuid: Annotated[
        Uuid, schema(description="Who started it; all zeros for the person at the machine")
    ]
    state: BatchState
    message: Annotated[str, schema(description="Why it was stopped")] | None
    created_at: Timestamp
    ended_at: Annotated[Timestamp, schema(description="When its last phone was let go")] | None
    phones: Counts = Counts()


class BatchPhone(Struct, frozen=True):
    """One phone of a batch."""

    position: Annotated[int, schema(description="Its place in the batch, from 1", minimum=1)]
    mac: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])]
    state: PhoneState
    tries: Annotated[int, schema(description="How often its turn came", minimum=0)]
    deployment_uuid: Annotated[Uuid, schema(description="The record of its switch")] | None
    message: (
        Annotated[str, schema(description="Why it failed, or what it waits for; null when well")]
        | None
    )
    started_at: Annotated[Timestamp, schema(description="When its last turn came")] | None
    ended_at: Timestamp | None


class BatchEntry(Struct, frozen=True):
    """A phone on its way into a batch. ``attempt_uuid`` will be that of its deployment."""

    position: int
    mac: str
    attempt_uuid: str


class Turn(Struct, frozen=True):
    """A phone whose turn it is.

    ``attempt_uuid`` names the attempt: the deployment's uuid, and the holder of the phone's
    lease. ``cut_off`` counts the attempts that a crash cut off, ``waiting_since`` is when the
    phone was first found busy.
    """

    batch_uuid: str
    position: int
    mac: str
    attempt_uuid: str
    fence: int
    cut_off: int
    waiting_since: str | None


class Hold(Struct, frozen=True):
    """The right to work on a batch: who has it, and a number that grows with every taking."""

    batch_uuid: str
    holder: str
    fence: int


def _from_to(least: int, most: int) -> Rule:
    def rule(value: int) -> int:
        if not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return rule


def _macs(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values.each(values.mac, most=MOST_MACS)(given)))


class NewBatch(Command, frozen=True, kw_only=True):
    """Which phones, what is done to them, and how fast.

    The phones are listed in ``macs``, or are all active ones that agree with ``model``,
    ``location`` and ``software_type``, as far as these are given. A switch brings the newest
    revision of one profile, or ``revision`` of it, or without ``profile_uuid`` the newest
    revision of the profile that is on each phone.
    """

    action: Literal["switch", "restart"]
    profile_uuid: Uuid | None = None
    revision: Annotated[int, schema(minimum=1, maximum=2**31 - 1)] | None = None
    macs: (
        Annotated[
            tuple[MacAddress, ...],
            Check(_macs),
            schema(minItems=1, maxItems=MOST_MACS, examples=[["00:1B:D4:12:34:56"]]),
        ]
        | None
    ) = None
    model: Annotated[OptionalLine, schema(examples=["7945"])] | None = None
    location: Annotated[OptionalLine, schema(examples=["2nd floor"])] | None = None
    software_type: Annotated[OptionalLine, schema(examples=["SCCP"])] | None = None
    at_once: Annotated[
        int,
        Check(_from_to(1, MOST_AT_ONCE)),
        schema(description="So many at a time", minimum=1, maximum=MOST_AT_ONCE),
    ] = 10
    per_minute: (
        Annotated[
            int,
            Check(_from_to(1, MOST_PER_MINUTE)),
            schema(
                description="So many are begun a minute; null for as fast as it goes",
                minimum=1,
                maximum=MOST_PER_MINUTE,
            ),
        ]
        | None
    ) = None
    stop_after_failures: (
        Annotated[
            int,
            Check(_from_to(1, 100)),
            schema(
                description="Stop when so many per cent of those worked on, of 10 at least, "
                "have failed; null for never",
                minimum=1,
                maximum=100,
            ),
        ]
        | None
    ) = 25
    wait_minutes: Annotated[
        int,
        Check(_from_to(0, MOST_WAIT_MINUTES)),
        schema(
            description="How long a phone that is in a call is waited for",
            minimum=0,
            maximum=MOST_WAIT_MINUTES,
        ),
    ] = 60

    def __post_init__(self) -> None:
        settle(self)
        problems = []
        if self.revision is not None and not 1 <= self.revision < 2**31:
            problems.append(Problem("revision", "must be a whole number of at least 1"))
        if self.action == "restart" and self.profile_uuid is not None:
            problems.append(Problem("profile_uuid", "must not stand beside the action restart"))
        if self.revision is not None and self.profile_uuid is None:
            problems.append(Problem("profile_uuid", "is required beside revision"))
        filters = [name for name in _FILTERS if getattr(self, name)]
        if self.macs is not None and not self.macs:
            problems.append(Problem("macs", "must name at least one phone"))
        if self.macs is not None and filters:
            problems.append(Problem(filters[0], "must not stand beside macs"))
        if self.macs is None and not filters:
            problems.append(
                Problem("macs", "is required, or one of model, location and software_type")
            )
        if problems:
            raise invalid(problems)

    def selects(self, phone: Phone) -> bool:
        """Whether an active phone agrees with every filter that is set. Upper and lower case
        are the same, and models are compared without their trimmings."""
        return (
            phone.is_active
            and (not self.model or bare_model(self.model) == bare_model(phone.model or ""))
            and _agrees(self.location, phone.location)
            and _agrees(self.software_type, phone.software_type)
        )


_FILTERS = ("model", "location", "software_type")


def _agrees(wanted: str | None, recorded: str | None) -> bool:
    return not wanted or wanted.strip().casefold() == (recorded or "").strip().casefold()


class WantedPhones(Command, frozen=True, kw_only=True):
    """Which phones of a batch a list shows; None means all."""

    state: Literal["waiting", "running", "done", "failed", "left_out"] | None = None
    after: (
        Annotated[
            int,
            Check(_from_to(0, 2**31 - 1)),
            schema(description="Begin after this position, without a total"),
        ]
        | None
    ) = None
