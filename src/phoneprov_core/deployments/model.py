"""Deployments: the record of each time a configuration was put onto a phone.

The record is made before anything is sent, completed at the end, and told later whether the
phone was seen to come back.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import MacAddress, Uuid, schema
from phoneprov_core.kernel.times import Timestamp
from phoneprov_core.profiles.model import RevisionNumber, Sha256


class Outcome(Enum):
    """How a deployment ended, or that it has not."""

    RUNNING = "running"
    DEPLOYED = "deployed"
    """The file is in place, read back and compared."""
    FAILED = "failed"
    """The file could not be put in place; the old one is there, whole."""
    UNKNOWN = "unknown"
    """The upload failed after the rename was sent, or in an adapter that did not say how: the
    file is the old one or the new one. ``place`` is the file's name."""
    INTERRUPTED = "interrupted"
    """The process ended half-way. With a ``place`` the file is there; without one nobody
    knows whether it is the old one or the new one, but it is whole."""


class StepName(Enum):
    """The steps of a deployment, in their order."""

    UPLOAD = "upload"
    CLEAR_SESSION = "clear_session"
    RESTART = "restart"


class Action(Enum):
    """The operation that a deployment belongs to."""

    SWITCH = "switch"
    ROLLBACK = "rollback"
    LOGIN = "login"
    """A user logged in at the phone with a PIN."""
    LOGOUT = "logout"
    """The phone gets its default profile back."""
    EXPIRY = "expiry"
    """Like ``LOGOUT``, at the end of the login time."""


class Confirmation(Enum):
    """Whether the phone was seen to come back behind the order to restart."""

    NONE = "none"
    """Nobody looks: it was not restarted, or there is no means to see it."""
    PENDING = "pending"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"


class Step(Struct, frozen=True):
    """One step: whether it succeeded, a sentence when there is something to say, and how
    many milliseconds it took."""

    name: StepName
    ok: bool
    message: str | None
    duration_ms: Annotated[int, schema(minimum=0)]


class Deployment(Struct, frozen=True):
    """One revision of a profile on its way to one phone."""

    uuid: Uuid
    mac: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])]
    number: Annotated[
        int, schema(description="Grows with each deployment of this phone", minimum=1)
    ]
    action: Action
    profile_uuid: Uuid
    profile_name: str
    revision: RevisionNumber
    sha256: Sha256 | None
    size: Annotated[int, schema(description="In bytes", minimum=0)]
    owner_uuid: Annotated[Uuid, schema(description="Whose profile it was")]
    user_uuid: Annotated[
        Uuid, schema(description="Who asked for it; all zeros for the person at the machine")
    ]
    filename: str
    place: (
        Annotated[
            str,
            schema(
                description=(
                    "Where the file is; null until it is there. With the outcome `unknown` only "
                    "its name"
                )
            ),
        ]
        | None
    )
    outcome: Outcome
    failed_step: StepName | None
    message: Annotated[str, schema(description="Why it failed")] | None
    steps: tuple[Step, ...]
    restart: (
        Annotated[str, schema(description="`ok`, or what kept the phone from being restarted")]
        | None
    )
    confirmation: Confirmation
    confirmation_message: Annotated[str, schema(description="What was seen")] | None
    confirmation_by: Annotated[Timestamp, schema(description="Until when it is waited for")] | None
    confirmation_at: Annotated[Timestamp, schema(description="When it was decided")] | None
    created_at: Timestamp
    ended_at: Timestamp | None

    def brought_other_than(self, other: Deployment) -> bool:
        """Whether the two brought different configurations. Where a hash was not kept, different
        revisions count as different."""
        if self.sha256 is not None and other.sha256 is not None:
            return self.sha256 != other.sha256
        return (self.profile_uuid, self.revision) != (other.profile_uuid, other.revision)

    def as_of(self, now: str) -> Deployment:
        """What is true of it at a shown moment: a confirmation that is waited for longer than
        it should be is not coming, for whoever watched is gone."""
        by = self.confirmation_by
        if self.confirmation is not Confirmation.PENDING or by is None or now <= by:
            return self
        return msgspec.structs.replace(
            self,
            confirmation=Confirmation.NOT_CONFIRMED,
            confirmation_message="The watch was cut off before the phone was seen back.",
            confirmation_at=by,
        )


class Wanted(Command, frozen=True, kw_only=True):
    """Which deployments a list shows; None of a field means all."""

    mac: MacAddress | None = None
    profile_uuid: Uuid | None = None
    outcome: Literal["running", "deployed", "failed", "unknown", "interrupted"] | None = None
    current: Annotated[
        bool, schema(description="Only what is on each phone now, as far as is known")
    ] = False
    before: (
        Annotated[
            Uuid,
            schema(
                description="Newest first, after this deployment, without a total; "
                "ffffffff-ffff-ffff-ffff-ffffffffffff begins with the newest"
            ),
        ]
        | None
    ) = None
