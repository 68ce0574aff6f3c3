"""Batches: one record for switching or restarting many phones at a limited rate."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Check, Command, invalid, settle
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import (
    CreatedAt,
    EndedAt,
    MacAddress,
    OptionalLine,
    RecordUuid,
    StoredMac,
    Uuid,
    schema,
)
from phoneprov_core.kernel.times import Timestamp
from phoneprov_core.phones.model import Phone, bare_model

MOST_MACS = 5000
MOST_AT_ONCE = 100
MOST_PER_MINUTE = 6000
MOST_WAIT_MINUTES = 24 * 60


class BatchAction(Enum):
    """The action on each phone."""

    SWITCH = "switch"
    RESTART = "restart"


class BatchState(Enum):
    """State of a batch. Only a running batch starts further phones."""

    RUNNING = "running"
    DONE = "done"
    """Every phone was processed."""
    STOPPED = "stopped"
    """Too large a share of its phones failed."""
    CANCELLED = "cancelled"


class PhoneState(Enum):
    """State of one phone of a batch."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    """Switched and restarted, or restarted."""
    FAILED = "failed"
    LEFT_OUT = "left_out"
    """The batch was stopped or cancelled before this phone was started."""


AtOnce = Annotated[
    int,
    Check(values.from_to(1, MOST_AT_ONCE)),
    schema(description="Maximum phones at a time", minimum=1, maximum=MOST_AT_ONCE, examples=[5]),
]
PerMinute = Annotated[
    int,
    Check(values.from_to(1, MOST_PER_MINUTE)),
    schema(
        description="Maximum phones started per minute; null for no limit",
        minimum=1,
        maximum=MOST_PER_MINUTE,
        examples=[30],
    ),
]
StopAfterFailures = Annotated[
    int,
    Check(values.from_to(1, 100)),
    schema(
        description="Stop when this percentage of the finished phones has failed, "
        "counted from 10 phones on; null for never",
        minimum=1,
        maximum=100,
        examples=[25],
    ),
]
WaitMinutes = Annotated[
    int,
    Check(values.from_to(0, MOST_WAIT_MINUTES)),
    schema(
        description="Maximum minutes to wait for a phone that is in a call",
        minimum=0,
        maximum=MOST_WAIT_MINUTES,
        examples=[60],
    ),
]
ModelFilter = Annotated[
    OptionalLine,
    schema(
        description="Only phones of this model; compared without prefix and trailing G",
        examples=["7945"],
    ),
]
LocationFilter = Annotated[
    OptionalLine,
    schema(description="Only phones at this location; case is ignored", examples=["2nd floor"]),
]
FamilyFilter = Annotated[
    OptionalLine, schema(description="Only phones of this firmware family", examples=["SCCP"])
]
ProfileToSwitch = Annotated[
    Uuid, schema(description="UUID of the profile; null if each phone keeps its current profile")
]
RevisionToSwitch = Annotated[
    int,
    schema(
        description="Revision of the profile; null for the newest one",
        minimum=1,
        maximum=2**31 - 1,
        examples=[2],
    ),
]


class Counts(Struct, frozen=True):
    """Number of phones of a batch per state, and in total."""

    waiting: Annotated[int, schema(description="Pending", examples=[118])] = 0
    running: Annotated[int, schema(description="Running", examples=[5])] = 0
    done: Annotated[int, schema(description="Switched or restarted", examples=[75])] = 0
    failed: Annotated[int, schema(description="Failed", examples=[2])] = 0
    left_out: Annotated[
        int,
        schema(description="Not started, because the batch was stopped or cancelled", examples=[0]),
    ] = 0
    total: Annotated[int, schema(description="All phones of the batch", examples=[200])] = 0

    @property
    def ended(self) -> int:
        """Number of phones that were processed: succeeded or failed."""
        return self.done + self.failed


class Batch(Struct, frozen=True):
    """One batch, with the counts of its phones at the time of reading."""

    uuid: RecordUuid
    action: Annotated[BatchAction, schema(description="Action on each phone")]
    profile_uuid: ProfileToSwitch | None
    profile_name: (
        Annotated[
            str,
            schema(
                description="Name of the profile when the batch was started", examples=["The lobby"]
            ),
        ]
        | None
    )
    revision: RevisionToSwitch | None
    model: ModelFilter | None
    location: LocationFilter | None
    software_type: FamilyFilter | None
    at_once: AtOnce
    per_minute: PerMinute | None
    stop_after_failures: StopAfterFailures | None
    wait_minutes: WaitMinutes
    user_uuid: Annotated[
        Uuid, schema(description="Account that started the batch; all zeros for the command line")
    ]
    state: Annotated[BatchState, schema(description="State of the batch")]
    message: Annotated[str, schema(description="Reason why the batch was stopped")] | None
    created_at: CreatedAt
    ended_at: (
        Annotated[Timestamp, schema(description="Time when its last phone ended; null until then")]
        | None
    )
    phones: Annotated[Counts, schema(description="Number of phones per state")] = Counts()


class BatchPhone(Struct, frozen=True):
    """One phone of a batch."""

    position: Annotated[
        int, schema(description="Position in the batch, from 1", minimum=1, examples=[1])
    ]
    mac: StoredMac
    state: Annotated[PhoneState, schema(description="State of the phone in the batch")]
    tries: Annotated[int, schema(description="Number of attempts", minimum=0, examples=[1])]
    deployment_uuid: Annotated[Uuid, schema(description="UUID of the deployment")] | None
    message: (
        Annotated[str, schema(description="Reason of the failure, or of the wait; null otherwise")]
        | None
    )
    started_at: Annotated[Timestamp, schema(description="Time of the last attempt")] | None
    ended_at: EndedAt | None


class BatchEntry(Struct, frozen=True):
    """A phone that is added to a batch. ``attempt_uuid`` becomes the uuid of its deployment."""

    position: int
    mac: str
    attempt_uuid: str


class Turn(Struct, frozen=True):
    """A phone that was claimed for processing.

    ``attempt_uuid`` names the attempt: the deployment's uuid, and the holder of the phone's lease.
    ``cut_off`` is the number of attempts that a crash interrupted, ``waiting_since`` the time when
    the phone was first found busy.
    """

    batch_uuid: str
    position: int
    mac: str
    attempt_uuid: str
    fence: int
    cut_off: int
    waiting_since: str | None


class Hold(Struct, frozen=True):
    """A lease of a batch: its holder, and a number that grows with every acquisition."""

    batch_uuid: str
    holder: str
    fence: int


def _macs(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values.each(values.mac, most=MOST_MACS)(given)))


_FILTERS = ("model", "location", "software_type")
_TEXT = {"type": "string"}
_NULL = {"type": "null"}
_LISTED = {
    "required": ["macs"],
    "properties": {
        "macs": {"type": "array"},
        **{name: {"enum": [None, ""]} for name in _FILTERS},
    },
}
_FILTERED = {
    "properties": {"macs": _NULL},
    "anyOf": [
        {"required": [name], "properties": {name: {**_TEXT, "minLength": 1}}} for name in _FILTERS
    ],
}
_PROFILE = {"required": ["profile_uuid"], "properties": {"profile_uuid": _TEXT}}
_SWITCH = {"properties": {"action": {"const": "switch"}}}
_TOGETHER = {
    "allOf": [
        {"oneOf": [_LISTED, _FILTERED]},
        {"anyOf": [{"properties": {"revision": _NULL}}, _PROFILE]},
        {"anyOf": [_SWITCH, {"properties": {"profile_uuid": _NULL}}]},
    ]
}
"""Which fields need and which exclude each other, for the description alone."""


class NewBatch(Command, frozen=True, kw_only=True):
    """A batch to be started: its phones, the action and the rate.

    The phones are listed in ``macs``, or are all active ones that match the given filters
    ``model``, ``location`` and ``software_type``. A switch deploys the newest revision of one
    profile, or its ``revision``; without ``profile_uuid`` the newest revision of the profile that
    is on each phone.
    """

    action: Annotated[Literal["switch", "restart"], schema(description="Action on each phone")]
    profile_uuid: ProfileToSwitch | None = None
    revision: RevisionToSwitch | None = None
    macs: (
        Annotated[
            tuple[MacAddress, ...],
            Check(_macs),
            schema(
                description="MAC addresses of the phones, in the order in which they are switched",
                minItems=1,
                maxItems=MOST_MACS,
                examples=[["00:1B:D4:12:34:56"]],
            ),
        ]
        | None
    ) = None
    model: ModelFilter | None = None
    location: LocationFilter | None = None
    software_type: FamilyFilter | None = None
    at_once: AtOnce = 10
    per_minute: PerMinute | None = None
    stop_after_failures: StopAfterFailures | None = 25
    wait_minutes: WaitMinutes = 60

    JSON_SCHEMA: ClassVar[dict[str, Any]] = _TOGETHER

    def __post_init__(self) -> None:
        settle(self)
        problems = []
        if self.revision is not None and not 1 <= self.revision < 2**31:
            problems.append(Problem("revision", "must be a whole number of at least 1"))
        if self.action == "restart" and self.profile_uuid is not None:
            problems.append(Problem("profile_uuid", "is not allowed with `action=restart`"))
        if self.revision is not None and self.profile_uuid is None:
            problems.append(Problem("profile_uuid", "is required with `revision`"))
        filters = [name for name in _FILTERS if getattr(self, name)]
        if self.macs is not None and not self.macs:
            problems.append(Problem("macs", "must name at least one phone"))
        if self.macs is not None and filters:
            problems.append(Problem(filters[0], "is not allowed with `macs`"))
        if self.macs is None and not filters:
            problems.append(
                Problem("macs", "is required, or one of model, location and software_type")
            )
        if problems:
            raise invalid(problems)

    def selects(self, phone: Phone) -> bool:
        """Whether an active phone matches every filter that is set. Case is ignored, and models are
        compared in their bare form."""
        return (
            phone.is_active
            and (not self.model or bare_model(self.model) == bare_model(phone.model or ""))
            and _agrees(self.location, phone.location)
            and _agrees(self.software_type, phone.software_type)
        )


def _agrees(wanted: str | None, recorded: str | None) -> bool:
    return not wanted or wanted.strip().casefold() == (recorded or "").strip().casefold()


class WantedPhones(Command, frozen=True, kw_only=True):
    """Filter for a list of a batch's phones; None means all."""

    state: (
        Annotated[
            Literal["waiting", "running", "done", "failed", "left_out"],
            schema(description="Only phones in this state"),
        ]
        | None
    ) = None
    after: (
        Annotated[
            int,
            Check(values.from_to(0, 2**31 - 1)),
            schema(
                description=(
                    "Begin after the phone at this position, without a total; 0 begins with the "
                    "first. Not allowed with `offset`"
                ),
                minimum=0,
                maximum=2**31 - 1,
            ),
        ]
        | None
    ) = None
