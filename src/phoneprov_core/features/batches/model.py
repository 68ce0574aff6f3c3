"""Batches: one record for switching or restarting many phones at a limited rate."""

from enum import Enum
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel import values
from phoneprov_core.kernel.fields import (
    Check,
    CreatedAt,
    EndedAt,
    OptionalLine,
    RecordUuid,
    StoredMac,
    Uuid,
    schema,
    within,
)
from phoneprov_core.kernel.values import Timestamp

MOST_AT_ONCE = 100
MOST_PER_MINUTE = 6000
MOST_WAIT_MINUTES = 24 * 60


class BatchAction(Enum):
    """The action on each phone."""

    SWITCH = "switch"
    RESTART = "restart"
    UNDO = "undo"
    """Each phone gets back what was there before a deployment of another batch."""


class BatchState(Enum):
    """State of a batch. Only a running batch starts further phones."""

    PLANNED = "planned"
    """It begins at its ``start_at``."""
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
    UNKNOWN = "unknown"
    """The reply to a command was lost: whether it has the new file, or restarts, is not known."""
    LEFT_OUT = "left_out"
    """The batch was stopped or cancelled before this phone was started."""


AtOnce = Annotated[int, within(1, MOST_AT_ONCE, "Maximum phones at a time", examples=[5])]
PerMinute = Annotated[
    int,
    within(
        1, MOST_PER_MINUTE, "Maximum phones started per minute; null for no limit", examples=[30]
    ),
]
StopAfterFailures = Annotated[
    int,
    within(
        1,
        100,
        "Stop when this percentage of the finished phones has failed or is unknown, "
        "counted from 10 phones on; null for never",
        examples=[25],
    ),
]
WaitMinutes = Annotated[
    int,
    within(
        0, MOST_WAIT_MINUTES, "Maximum minutes to wait for a phone that is in a call", examples=[60]
    ),
]
ModelFilter = Annotated[
    OptionalLine,
    schema("Only phones of this model; compared without prefix and trailing G", examples=["7945"]),
]
LocationFilter = Annotated[
    OptionalLine, schema("Only phones at this location; case is ignored", examples=["2nd floor"])
]
FamilyFilter = Annotated[
    OptionalLine, schema("Only phones of this firmware family", examples=["SCCP"])
]
ProfileToSwitch = Annotated[
    Uuid, schema("UUID of the profile; null if each phone keeps its current profile")
]
RevisionToSwitch = Annotated[
    int,
    schema(
        "Revision of the profile; null for the newest one",
        minimum=1,
        maximum=2**31 - 1,
        examples=[2],
    ),
]

MOST_FIRST = 1000
TemplateFilter = Annotated[
    OptionalLine,
    schema("Only phones whose configuration was rendered from this template", examples=["office"]),
]
StartAt = Annotated[
    str,
    Check(values.moment),
    schema(
        "Time when the batch begins, with an offset or in UTC; null: at once",
        format="date-time",
        examples=["2026-01-31T20:00:00+01:00"],
    ),
]
AsOf = Annotated[
    str,
    Check(values.moment),
    schema(
        "Earlier moment, with an offset or in UTC: each phone gets back what was on it then; null "
        "for a switch",
        format="date-time",
        examples=["2026-01-26T18:00:00+01:00"],
    ),
]
CanarySize = Annotated[
    int,
    within(
        1,
        MOST_FIRST,
        "Number of phones that are switched first; the others follow when all of these are "
        "confirmed, otherwise the batch stops",
        examples=[5],
    ),
]
FirstMinutes = Annotated[
    int,
    within(
        1,
        MOST_WAIT_MINUTES,
        "Maximum minutes to wait for the confirmation of the first phones",
        examples=[10],
    ),
]
UndoOnStop = Annotated[
    bool,
    schema(
        "Whether a stop is followed by a batch that restores the changed phones", examples=[False]
    ),
]
OnlyChanged = Annotated[
    bool,
    schema(
        "Whether phones that run exactly this configuration for the same user are left unchanged",
        examples=[False],
    ),
]
Newest = Annotated[
    bool,
    schema(
        "Whether a phone whose profile or template changed since the batch was created gets the "
        "newest text; otherwise it is left alone",
        examples=[False],
    ),
]
MOST_DAYS = 90
"""Maximum number of days to the beginning of a planned batch."""

PLANNER_LOST_RIGHT = "planner_lost_right"


class Counts(Struct, frozen=True):
    """Number of phones of a batch per state, and in total."""

    waiting: Annotated[int, schema("Pending", examples=[118])] = 0
    running: Annotated[int, schema("Running", examples=[5])] = 0
    done: Annotated[int, schema("Switched or restarted", examples=[75])] = 0
    failed: Annotated[int, schema("Failed", examples=[2])] = 0
    unknown: Annotated[
        int, schema("Not known, because the reply to a command was lost", examples=[0])
    ] = 0
    left_out: Annotated[
        int, schema("Not started, because the batch was stopped or cancelled", examples=[0])
    ] = 0
    total: Annotated[int, schema("All phones of the batch", examples=[200])] = 0

    @property
    def ended(self) -> int:
        """Number of phones that were processed."""
        return self.done + self.failed + self.unknown


class Batch(Struct, frozen=True):
    """One batch, with the counts of its phones at the time of reading."""

    uuid: RecordUuid
    action: Annotated[BatchAction, schema("Action on each phone")]
    profile_uuid: ProfileToSwitch | None
    profile_name: (
        Annotated[
            str, schema("Name of the profile when the batch was started", examples=["The lobby"])
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
        Uuid, schema("Account that started the batch; all zeros for the command line")
    ]
    state: Annotated[BatchState, schema("State of the batch")]
    message: Annotated[str, schema("Reason why the batch was stopped")] | None
    created_at: CreatedAt
    ended_at: Annotated[Timestamp, schema("Time when its last phone ended; null until then")] | None
    phones: Annotated[Counts, schema("Number of phones per state")] = Counts()
    template: TemplateFilter | None = None
    start_at: StartAt | None = None
    first: CanarySize | None = None
    first_minutes: FirstMinutes = 10
    undo_on_stop: UndoOnStop = False
    only_changed: OnlyChanged = False
    undo_of: (
        Annotated[Uuid, schema("UUID of the batch that this one undoes; null otherwise")] | None
    ) = None
    undone_by: (
        Annotated[Uuid, schema("UUID of the batch that undoes this one; null otherwise")] | None
    ) = None
    newest: Newest = False
    as_of: AsOf | None = None
    code: (
        Annotated[
            Literal["planner_lost_right"],
            schema(
                "Reason of the stop for programs: its account is no longer active or does not hold "
                "level 0; null otherwise"
            ),
        ]
        | None
    ) = None

    def begun(self) -> "Batch":
        """The planned batch when its time has come."""
        return replace(self, state=BatchState.RUNNING)

    def halted(
        self, state: BatchState, message: str | None, code: str | None = None
    ) -> "Batch | None":
        """The batch in this state, without further phones; None if it is not running or planned."""
        if self.state not in {BatchState.RUNNING, BatchState.PLANNED}:
            return None
        return replace(self, state=state, message=message, code=code)

    def finished(self, now: str) -> "Batch | None":
        """The batch when its last phone ended: a running one becomes done. None before."""
        if self.phones.waiting or self.phones.running:
            return None
        is_running = self.state is BatchState.RUNNING
        state = BatchState.DONE if is_running else self.state
        return replace(self, state=state, ended_at=now)


class BatchPhone(Struct, frozen=True):
    """One phone of a batch."""

    position: Annotated[int, schema("Position in the batch, from 1", minimum=1, examples=[1])]
    mac: StoredMac
    state: Annotated[PhoneState, schema("State of the phone in the batch")]
    tries: Annotated[int, schema("Number of attempts", minimum=0, examples=[1])]
    deployment_uuid: Annotated[Uuid, schema("UUID of the deployment")] | None
    profile_uuid: (
        Annotated[Uuid, schema("Profile of this phone; null for that of the batch")] | None
    )
    message: Annotated[str, schema("Reason of the state, or of the wait; null otherwise")] | None
    started_at: Annotated[Timestamp, schema("Time of the last attempt")] | None
    ended_at: EndedAt | None
