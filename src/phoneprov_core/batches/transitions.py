"""The phones of a batch that are being processed, and the rules of their states. A store applies a
``Transition`` in one statement, only to phones that are still in its first state."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.batches.model import BatchState, PhoneState
from phoneprov_core.deployments.model import Confirmation


class BatchItem(Struct, frozen=True):
    """A phone of a batch with its claim, as a store keeps it.

    ``attempt_uuid`` names the attempt: it is the uuid of the deployment, and the holder of the
    phone's lease. ``fence`` is that of the batch's lease under which the phone was claimed.
    ``cut_off`` is the number of attempts that a crash interrupted, ``waiting_since`` the time when
    the phone was first found busy. ``profile_uuid`` is the profile of this phone, None for that of
    the batch; ``undoes`` the deployment that is undone. ``attempts`` are the uuids, separated by
    spaces, of earlier attempts that a crash interrupted, in an undo also those that are undone:
    what they brought is not what was there before. ``planned_profile`` and ``planned_revision`` are
    the profile that the phone would have got when the batch was created, and its newest revision
    then; None where any may be deployed. The phone is due from ``not_before`` on, in
    milliseconds of the database's clock.
    """

    batch_uuid: str
    position: int
    mac: str
    attempt_uuid: str
    state: PhoneState = PhoneState.WAITING
    tries: int = 0
    cut_off: int = 0
    fence: int = 0
    not_before: int = 0
    waiting_since: str | None = None
    deployment_uuid: str | None = None
    message: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    profile_uuid: str | None = None
    undoes: str | None = None
    attempts: str = ""
    planned_profile: str | None = None
    planned_revision: int | None = None


class Claim(Struct, frozen=True):
    """A phone that was claimed for processing: fields of ``BatchItem``."""

    batch_uuid: str
    position: int
    mac: str
    attempt_uuid: str
    fence: int
    cut_off: int
    waiting_since: str | None
    profile_uuid: str | None = None
    undoes: str | None = None
    attempts: str = ""
    planned_profile: str | None = None
    planned_revision: int | None = None

    def again(self, attempt_uuid: str) -> "Claim":
        """The next attempt after one that a crash interrupted."""
        attempts = f"{self.attempts} {self.attempt_uuid}".strip()
        return replace(self, attempt_uuid=attempt_uuid, cut_off=self.cut_off + 1, attempts=attempts)


class PlannedVariant(Struct, frozen=True, array_like=True):
    """A variant of a template when a batch was created."""

    uuid: str
    name: str
    model: str | None
    software_type: str | None
    revision: int


class FirstPhones(Struct, frozen=True):
    """Those of the first phones that have the same state and confirmation: the lowest position, and
    the time when the last of them ended.

    ``confirmation`` is None without a deployment of this batch. ``is_lost`` says that the
    deployment was removed, or that its watch ended without a result.
    """

    state: PhoneState
    confirmation: Confirmation | None
    is_lost: bool
    position: int
    ended_at: str | None

    @property
    def are_missed(self) -> bool:
        """Whether they will not be confirmed."""
        if self.state is PhoneState.DONE:
            missed = {Confirmation.NONE, Confirmation.NOT_CONFIRMED}
            return self.is_lost or self.confirmation in missed
        return self.state in {PhoneState.FAILED, PhoneState.UNKNOWN}


class Hold(Struct, frozen=True):
    """A lease of a batch: its holder, and a number that grows with every acquisition."""

    batch_uuid: str
    holder: str
    fence: int


class Transition(Struct, frozen=True):
    """A change of a phone in the state ``of``: the new state, the fields that are set, the attempts
    that are added, and the seconds after which it is due (None leaves that as it is)."""

    of: PhoneState
    to: PhoneState
    sets: Mapping[str, str | int | None] = {}
    tries: int = 0
    due_after: int | None = None


UNMOVED = Transition(PhoneState.RUNNING, PhoneState.RUNNING)
"""The phone is still running under its claim."""

SKIPPED = Transition(PhoneState.WAITING, PhoneState.LEFT_OUT)
"""The batch no longer starts phones."""


def claimed(hold: Hold, now: str) -> Transition:
    """An attempt begins under this lease."""
    sets: dict[str, str | int | None] = {"fence": hold.fence, "started_at": now, "message": None}
    return Transition(PhoneState.WAITING, PhoneState.RUNNING, sets, tries=1)


def watched_again(again: Claim) -> Transition:
    """A phone that was switched is switched again, since the watch of its restart was
    interrupted."""
    sets: dict[str, str | int | None] = {
        "attempt_uuid": again.attempt_uuid,
        "attempts": again.attempts,
        "cut_off": again.cut_off,
        "deployment_uuid": None,
        "ended_at": None,
        "message": "The watch of its restart was interrupted; it is switched again.",
    }
    return Transition(PhoneState.DONE, PhoneState.WAITING, sets, due_after=0)


def ended(
    state: PhoneState, now: str, *, message: str | None = None, deployment_uuid: str | None = None
) -> Transition:
    """The result of a phone is known."""
    sets = {"ended_at": now, "message": message, "deployment_uuid": deployment_uuid}
    return Transition(PhoneState.RUNNING, state, sets)


def postponed(
    again: Claim, seconds: int, message: str | None, batch: BatchState | None
) -> Transition:
    """The phone is pending again, due after ``seconds``, with attempts, ``cut_off`` and
    ``waiting_since`` of ``again``. In a batch that is not running it is skipped instead."""
    state = PhoneState.WAITING if batch is BatchState.RUNNING else PhoneState.LEFT_OUT
    names = ("attempt_uuid", "attempts", "cut_off", "waiting_since")
    sets = {name: getattr(again, name) for name in names}
    return Transition(PhoneState.RUNNING, state, {**sets, "message": message}, due_after=seconds)
