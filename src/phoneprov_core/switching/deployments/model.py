"""The record of a deployment, its steps and outcomes, and the errors of a switch."""

from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.inventory.profiles.model import RevisionNumber, Sha256, TemplateRevision
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.commands import QueryCommand
from phoneprov_core.kernel.fields import (
    CreatedAt,
    DurationMs,
    EndedAt,
    MacAddress,
    Moment,
    RecordUuid,
    Size,
    StoredMac,
    Uuid,
    schema,
)
from phoneprov_core.kernel.ports import Before
from phoneprov_core.kernel.values import Timestamp, timestamp
from phoneprov_core.switching.devices.ports import Content

GRACE_SECONDS = 10
"""Seconds after the deadline of a watch by which its result is recorded, unless it was
interrupted."""

INTERRUPTED = "The watch was interrupted before the phone was seen again."
NOT_SEEN = (
    "It is not known whether the phone registered again: its watch was interrupted, and it was not "
    "seen to register since the watch was resumed."
)

RESTARTED = "ok"
"""The ``restart`` of a record when the command was accepted."""

RESTART_BEGUN = "The restart may have been sent to the phone; its result is not recorded."
"""The ``restart`` of a record from the moment before the command is sent until its result."""

_READABLE = "{} of the configuration; null if the caller may not read what is in it"


class Outcome(Enum):
    """The outcome of a deployment, or that it is running."""

    RUNNING = "running"
    DEPLOYED = "deployed"
    """The file is in place, read back and compared."""
    FAILED = "failed"
    """The upload failed; the complete old file is in place."""
    UNKNOWN = "unknown"
    """The upload failed after the rename was sent, or an adapter failed without a known error: the
    file is the old one or the new one. ``place`` is the file's name."""
    INTERRUPTED = "interrupted"
    """The process ended before the deployment did, or was paused for longer than its lease. With a
    ``place`` the new file was put in place; without one it is the old or the new file, complete in
    both cases. Without a ``restart`` no restart was sent."""


class StepName(Enum):
    """The steps of a deployment, in their order."""

    UPLOAD = "upload"
    CLEAR_SESSION = "clear_session"
    RESTART = "restart"
    LINES = "lines"
    """The lines at the phone are read back from the exchange, once the phone is confirmed."""


class Action(Enum):
    """The kind of request."""

    SWITCH = "switch"
    ROLLBACK = "rollback"
    LOGIN = "login"
    """A user logged in at the phone with a PIN."""
    LOGOUT = "logout"
    """The phone gets its default profile back."""
    EXPIRY = "expiry"
    """Like ``LOGOUT``, at the end of the login time."""


class Confirmation(Enum):
    """Whether the phone was seen to register again after the restart."""

    NONE = "none"
    """Not watched; the message of the confirmation says why."""
    PENDING = "pending"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"


class Step(Struct, frozen=True):
    """The result of one step: success, an optional message, and the duration in milliseconds."""

    name: Annotated[StepName, schema("Step")]
    ok: (
        Annotated[
            bool,
            schema(
                "Whether the step succeeded; null if that is not known: a command was sent, and "
                "its reply was lost",
                examples=[True],
            ),
        ]
        | None
    )
    message: Annotated[str, schema("Details of the step")] | None
    duration_ms: DurationMs


class Deployment(Struct, frozen=True):
    """One deployment of a revision of a profile to a phone."""

    uuid: RecordUuid
    mac: StoredMac
    number: Annotated[
        int, schema("Number that grows with each deployment of the phone", minimum=1, examples=[3])
    ]
    action: Annotated[Action, schema("Requested action")]
    profile_uuid: Annotated[Uuid, schema("UUID of the profile, which may be deleted")]
    profile_name: Annotated[
        str, schema("Name of the profile at that time", examples=["Ada at the front desk"])
    ]
    revision: RevisionNumber
    sha256: Annotated[Sha256, schema(_READABLE.format("SHA-256"))] | None
    size: Annotated[Size, schema(_READABLE.format("Number of bytes"))] | None
    owner_uuid: Annotated[Uuid, schema("UUID of the owner of the profile at that time")]
    user_uuid: Annotated[Uuid, schema("Account that requested it; all zeros for the command line")]
    filename: Annotated[
        str, schema("Name of the file on the server", examples=["SEP001BD4123456.cnf.xml"])
    ]
    place: (
        Annotated[
            str,
            schema(
                "Server and path of the file; null until it is uploaded. If the "
                "outcome is `unknown`, the name only",
                examples=["provisioning.example.com:21/SEP001BD4123456.cnf.xml"],
            ),
        ]
        | None
    )
    outcome: Annotated[
        Outcome,
        schema(
            "`deployed`: the file is in place and was verified. `failed`: the old"
            " file is in place, complete. `unknown`: the old or the new file is "
            "in place. `interrupted`: the service ended during the deployment; "
            "the file is complete"
        ),
    ]
    failed_step: Annotated[StepName, schema("Step that failed")] | None
    message: (
        Annotated[
            str,
            schema("Reason of the failure, or what a rollback did not give back: an ended login"),
        ]
        | None
    )
    steps: Annotated[tuple[Step, ...], schema("Steps in the order in which they ran")]
    restart: (
        Annotated[
            str,
            schema(
                "`ok`, or why the phone was not restarted, or why that is not known",
                examples=["ok"],
            ),
        ]
        | None
    )
    confirmation: Annotated[
        Confirmation,
        schema(
            "Whether the phone registered again after the restart, and runs the load that its "
            "configuration names; `none` if this is not watched: `confirmation_message` says why"
        ),
    ]
    confirmation_message: (
        Annotated[str, schema("Observation, or why the phone is not watched")] | None
    )
    confirmation_by: Annotated[Timestamp, schema("Deadline of the confirmation")] | None
    confirmation_at: Annotated[Timestamp, schema("Time of the confirmation")] | None
    created_at: CreatedAt
    ended_at: EndedAt | None
    template_uuid: (
        Annotated[Uuid, schema("UUID of the template that it was rendered from; null without one")]
        | None
    ) = None
    template_revision: (
        Annotated[TemplateRevision, schema("Revision of the template at that time")] | None
    ) = None
    template_name: (
        Annotated[str, schema("Name of the template at that time", examples=["office"])] | None
    ) = None

    load: (
        Annotated[
            str,
            schema(
                "Firmware load that the configuration names; null if it names none",
                examples=["SCCP45.9-4-2SR3-1S"],
            ),
        ]
        | None
    ) = None

    @property
    def awaits_load(self) -> bool:
        """Whether its phone was seen to restart, and its load may still arrive."""
        is_pending = self.confirmation is Confirmation.PENDING
        return is_pending and self.confirmation_message is not None

    @property
    def was_interrupted(self) -> bool:
        """Whether it is not known if the phone was seen, because its watch was interrupted."""
        is_missed = self.confirmation is Confirmation.NOT_CONFIRMED
        return is_missed and self.confirmation_message in {INTERRUPTED, NOT_SEEN}

    def seen_again(self, message: str, now: datetime, load_minutes: int) -> Self:
        """The deployment after its phone was seen to restart. It is confirmed at once, or, if its
        configuration names a firmware load, when the phone runs this load. The phone has
        ``load_minutes`` minutes to load it; with 0 the load is not compared."""
        if self.load is None or not load_minutes:
            return self.decided(Confirmation.CONFIRMED, message, timestamp(now))
        by = now + timedelta(minutes=load_minutes, seconds=GRACE_SECONDS)
        pending = self.decided(Confirmation.PENDING, message, None)
        return replace(pending, confirmation_by=timestamp(by))

    def decided(self, confirmation: Confirmation, message: str, at: str | None) -> Self:
        """The deployment with what was observed at this moment."""
        return replace(
            self, confirmation=confirmation, confirmation_message=message, confirmation_at=at
        )

    @property
    def restarted(self) -> bool | None:
        """Whether the command to restart was accepted; None if its reply was lost."""
        lost = any(step.name is StepName.RESTART and step.ok is None for step in self.steps)
        return None if lost else self.restart == RESTARTED

    @property
    def may_have_restarted(self) -> bool:
        """Whether the deployment was interrupted after the file was put in place and the restart
        may have been sent. Repeating it could restart the phone twice."""
        is_interrupted = self.outcome is Outcome.INTERRUPTED
        return is_interrupted and self.place is not None and self.restarted is None

    def restart_begins(self, deadline: str | None) -> Self:
        """The record immediately before the restart is sent, with the deadline of its watch."""
        step = Step(StepName.RESTART, None, RESTART_BEGUN, 0)
        return replace(
            self, steps=(*self.steps, step), restart=RESTART_BEGUN, confirmation_by=deadline
        )

    @property
    def content(self) -> Content | None:
        """Size and hash of the uploaded file; None if the record hides them."""
        if self.size is None or self.sha256 is None:
            return None
        return Content(self.size, self.sha256)

    @property
    def is_certain(self) -> bool:
        """Whether its file is known to be in place."""
        return self.place is not None and self.outcome is not Outcome.UNKNOWN

    def brought_other_than(self, other: Self) -> bool:
        """Whether the two deployments have different configurations."""
        return self.sha256 != other.sha256

    def as_of(self, now: str) -> Self:
        """The deployment as shown at this moment. A confirmation that is still pending after its
        timeout is shown as not confirmed, because its watch no longer runs."""
        by = self.confirmation_by
        if self.confirmation is not Confirmation.PENDING or by is None or now <= by:
            return self
        why = INTERRUPTED
        if self.awaits_load:
            arrived = f"It is not known whether the load {self.load} arrived"
            why = f"{self.confirmation_message} {arrived}: the watch was interrupted."
        return self.decided(Confirmation.NOT_CONFIRMED, why, by)


class DeploymentFilter(QueryCommand, frozen=True, kw_only=True):
    """Filter for a list of deployments; None in a field means all."""

    mac: Annotated[MacAddress, schema("Only deployments to this phone")] | None = None
    profile_uuid: Annotated[Uuid, schema("Only deployments of this profile")] | None = None
    outcome: (
        Annotated[
            Literal["running", "deployed", "failed", "unknown", "interrupted"],
            schema("Only deployments with this outcome"),
        ]
        | None
    ) = None
    since: Annotated[Moment, schema("Only deployments of this moment or later")] | None = None
    until: Annotated[Moment, schema("Only deployments before this moment")] | None = None
    current: Annotated[bool, schema("Only what is on each phone now, as far as is known")] = False
    before: Before | None = None


def may_read(actor: Actor, deployment: Deployment) -> bool:
    """Whether the caller may read the deployed configuration: level 0 may, and the owner of a
    profile with a text of its own. A template holds secrets of the office, and passwords of lines
    are rendered into it."""
    is_own = deployment.template_uuid is None and actor.user_uuid == deployment.owner_uuid
    return is_own or actor.holds(SUPERADMIN)


def shown_to(actor: Actor, deployment: Deployment) -> Deployment:
    """The deployment without hash and size if the caller may not read the configuration: with a
    masked text and its hash, short secrets can be guessed offline."""
    if may_read(actor, deployment):
        return deployment
    return replace(deployment, sha256=None, size=None)
