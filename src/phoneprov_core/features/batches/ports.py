"""The store of batches, and the transitions between the states of a batch and its phones."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.batches.commands import WantedPhones
from phoneprov_core.features.batches.model import Batch, BatchPhone, BatchState, Counts, PhoneState
from phoneprov_core.features.history.use_cases import WayBackTransaction
from phoneprov_core.features.templates.recipes import RecipeTransaction
from phoneprov_core.inventory.phones.use_cases import PhoneStore, SignsOfLife
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.ports import NewestRows, Rows
from phoneprov_core.people.access import AssignmentStore
from phoneprov_core.people.audit import AuditStore
from phoneprov_core.switching.deployments.model import Confirmation


class BatchItem(Struct, frozen=True):
    """A phone of a batch with its claim, as a store keeps it.

    ``attempt_uuid`` names the attempt: it is the uuid of the deployment, and the holder of the
    phone's lease. ``fence`` is the fence of the batch's lease under which the phone was claimed.
    ``cut_off`` is the number of attempts that a crash interrupted, ``waiting_since`` the time when
    the phone was first found busy. ``profile_uuid`` is the profile of this phone, None for the
    profile of the batch; ``undoes`` is the deployment to undo. ``attempts`` are the uuids,
    separated by spaces, of earlier attempts that a crash interrupted, in an undo also the undone
    attempts: their configuration is not the previous one. ``planned_profile`` and
    ``planned_revision`` are the profile that the phone would have got when the batch was created,
    and its newest revision then; None if any profile or revision may be deployed. ``is_sent`` is
    whether the restart that this attempt consists of may have been sent. The phone is due from
    ``not_before`` on, in milliseconds of the database's clock.
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
    is_sent: bool = False


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
    is_sent: bool = False

    def again(self, attempt_uuid: str) -> "Claim":
        """The next attempt after an attempt that a crash interrupted."""
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
    """A group of the first phones with the same state and confirmation: the lowest position, and
    the time when the last phone of the group ended.

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
        """Whether the phones of the group cannot be confirmed any more."""
        if self.state is PhoneState.DONE:
            missed = {Confirmation.NONE, Confirmation.NOT_CONFIRMED}
            return self.is_lost or self.confirmation in missed
        return self.state in {PhoneState.FAILED, PhoneState.UNKNOWN, PhoneState.LEFT_OUT}


class BatchLease(Struct, frozen=True):
    """A lease of a batch: its holder, and a number that grows with every acquisition."""

    batch_uuid: str
    holder: str
    fence: int


class Transition(Struct, frozen=True):
    """A change of a phone in the state ``of``: the new state, the fields that are set, the attempts
    that are added, and the seconds until the phone is due (None changes nothing)."""

    of: PhoneState
    to: PhoneState
    sets: Mapping[str, str | int | None] = {}
    tries: int = 0
    due_after: int | None = None


UNMOVED = Transition(PhoneState.RUNNING, PhoneState.RUNNING)
"""The phone is still running under its claim."""

SENT = Transition(PhoneState.RUNNING, PhoneState.RUNNING, {"is_sent": True})
"""The restart of the phone may have been sent from now on."""

SKIPPED = Transition(PhoneState.WAITING, PhoneState.LEFT_OUT)
"""The batch no longer starts phones."""


def claimed(hold: BatchLease, now: str) -> Transition:
    """An attempt begins under this lease."""
    sets: dict[str, str | int | None] = {"fence": hold.fence, "started_at": now, "message": None}
    return Transition(PhoneState.WAITING, PhoneState.RUNNING, sets, tries=1)


def watched_again(of: PhoneState, again: Claim) -> Transition:
    """A phone of this state that was switched is switched again, since the watch of its restart
    was interrupted."""
    sets: dict[str, str | int | None] = {
        "attempt_uuid": again.attempt_uuid,
        "attempts": again.attempts,
        "cut_off": again.cut_off,
        "deployment_uuid": None,
        "ended_at": None,
        "message": "The watch of its restart was interrupted; it is switched again.",
    }
    return Transition(of, PhoneState.WAITING, sets, due_after=0)


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


class NoPhones(Conflict):
    """The filters select no active phone."""

    code = "no_phones"
    usual = "No active phone matches the filters."


class BatchStore(NewestRows[Batch], Protocol):
    """Batches, by uuid, and their phones. A batch is open until it has an ``ended_at``. Leases and
    waiting times use the clock of the database. A worker passes its ``BatchLease``, which must be
    valid."""

    async def add(self, batch: Batch) -> None:
        """Store a new batch, without phones yet."""

    async def add_phones(self, phones: Sequence[BatchItem]) -> None:
        """Add phones to a batch, in one statement. Raises ``Conflict`` if a phone is in the batch
        already, ``NotFound`` if the batch does not exist."""

    async def pin(
        self, batch: Batch, variants: Sequence[PlannedVariant], *, revisions: bool
    ) -> None:
        """Keep all variants of templates, and for each phone of the batch its new profile: its own,
        else the profile of the batch, else the profile of its current deployment; with
        ``revisions`` also the newest revision of this profile."""

    async def pinned(self, batch_uuid: str) -> list[PlannedVariant]:
        """The variants that were kept; none for a batch that was not pinned."""

    async def items(self, batch_uuid: str, after: int, most: int) -> list[Claim]:
        """At most ``most`` phones of a batch after this position, by position."""

    async def find(self, key: str) -> Batch | None:
        """The batch with the counts of its phones, or None. In a writing transaction no other
        transaction changes the batch until this one ends."""

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> Rows[BatchPhone]:
        """The phones of a batch that match the filter, by position. They have no owner."""

    async def counts(self, batch_uuid: str) -> Counts:
        """Number of phones of a batch per state."""

    async def state(self, batch_uuid: str) -> BatchState | None:
        """The state, or None. In a writing transaction no other changes it until the end."""

    async def put(self, batch: Batch) -> None:
        """Replace the record of a batch, without the counts of its phones. Raises ``NotFound`` if
        it does not exist."""

    async def open_with(self, macs: Sequence[str], profiles: Sequence[str]) -> list[Batch]:
        """The open batches, the oldest first, that have not started one of these phones yet, or
        will bring one of these profiles to a phone."""

    async def any_free(self) -> bool:
        """Whether an open batch exists that no worker holds."""

    async def take(self, holder: str, seconds: int) -> BatchLease | None:
        """Acquire an open batch that no worker holds for ``seconds``, in one statement; None if
        there is none. A planned batch is not acquired before its time."""

    async def keep(self, hold: BatchLease, seconds: int) -> BatchState | None:
        """Extend the lease to ``seconds`` from now: the state of the batch, or None if the lease
        was lost. No other worker acquires the batch until the transaction ends."""

    async def release(self, hold: BatchLease) -> None:
        """Release the batch, unless the lease was lost."""

    async def release_of(self, process: str) -> None:
        """Release every batch that workers of this process acquired; to be called only when the
        process has ended."""

    async def claim(
        self, hold: BatchLease, most: int, transition: Transition, *, first: int | None = None
    ) -> list[Claim]:
        """Apply a transition to at most ``most`` phones that are due, in one statement: phones
        never tried first, then by due time, then by position; with ``first`` only of the phones up
        to this position. Returns them by position. To be called after ``keep`` in its
        transaction."""

    async def first_phones(self, batch_uuid: str, first: int, now: str) -> list[FirstPhones]:
        """The phones of a batch up to the position ``first``, in groups with the same state and
        confirmation, as of a shown moment; without locking them, and in one pass."""

    async def last_start(self, batch_uuid: str) -> str | None:
        """When a phone of a batch was started last, or None."""

    async def tried(self, batch_uuid: str, after: int, most: int) -> list[Claim]:
        """At most ``most`` phones after this position that were claimed at least once, as they were
        claimed last, by position."""

    async def abandoned(self, hold: BatchLease, most: int) -> list[Claim]:
        """At most ``most`` running phones that were claimed under an earlier lease."""

    async def move(self, claim: Claim, transition: Transition) -> bool:
        """Apply a transition to a claimed phone. Returns False and changes nothing if the phone is
        no longer in its first state under this claim."""

    async def move_all(self, batch_uuid: str, transition: Transition) -> None:
        """Apply a transition to every phone of a batch that is in its first state."""


class SeenFirmware(Protocol):
    """The observation of a phone."""

    @property
    def reported_load(self) -> str | None: ...


class SeenPhones(SignsOfLife, Protocol):
    """Observations of phones."""

    async def find(self, mac: str) -> SeenFirmware | None:
        """The observation of a phone, or None."""


class BatchesTransaction(WayBackTransaction, RecipeTransaction, Protocol):
    """Stores that batches use."""

    @property
    def batches(self) -> BatchStore: ...
    @property
    def phones(self) -> PhoneStore: ...
    @property
    def audit(self) -> AuditStore: ...
    @property
    def fleet(self) -> SeenPhones: ...
    @property
    def assignments(self) -> AssignmentStore: ...


BatchJournal = Callable[[Batch], None]
"""Port: called once for each batch, after it ended."""
