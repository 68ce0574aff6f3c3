"""Deployments: the record of each switch, made before it begins and completed at its end."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from phoneprov_core.kernel.times import Timestamp


class Outcome(Enum):
    """How a deployment ended, or that it has not."""

    RUNNING = "running"
    DEPLOYED = "deployed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class StepName(Enum):
    """The steps of a switch, in their order."""

    UPLOAD = "upload"
    CLEAR_SESSION = "clear_session"
    RESTART = "restart"


class Step(Struct, frozen=True):
    """One step: whether it succeeded, a sentence when there is something to say, and how
    many milliseconds it took."""

    name: StepName
    ok: bool
    message: str | None
    duration_ms: int


class Deployment(Struct, frozen=True):
    """One switch of one phone. ``sha256`` is the hash, in hex, of the exact bytes."""

    uuid: str
    mac: str
    profile_uuid: str
    profile_name: str
    user_uuid: str
    sha256: str
    size: int
    outcome: Outcome
    steps: tuple[Step, ...]
    created_at: Timestamp
    ended_at: Timestamp | None
