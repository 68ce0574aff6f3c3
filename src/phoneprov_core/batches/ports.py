"""Ports of batches: their store, and their journal."""

from collections.abc import Callable, Sequence
from typing import Protocol

from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.audit.ports import AuditStore
from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import Batch, BatchPhone, BatchState, Counts
from phoneprov_core.batches.transitions import (
    BatchItem,
    Claim,
    FirstPhones,
    Hold,
    PlannedVariant,
    Transition,
)
from phoneprov_core.deployments.ports import DeploymentsTransaction
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.store import NewestRows, Rows
from phoneprov_core.phones.ports import PhoneStore, SignsOfLife


class NoPhones(Conflict):
    """The filters select no active phone."""

    code = "no_phones"
    usual = "No active phone matches the filters."


class BatchStore(NewestRows[Batch], Protocol):
    """Batches, by uuid, and their phones. A batch is open until it has an ``ended_at``. Leases and
    waiting times use the clock of the database. A worker passes its ``Hold`` to prove that its
    lease is valid."""

    async def add(self, batch: Batch) -> None:
        """Store a new batch, without phones yet."""

    async def add_phones(self, phones: Sequence[BatchItem]) -> None:
        """Add phones to a batch, in one statement. Raises ``Conflict`` if a phone is in the batch
        already, ``NotFound`` if the batch does not exist."""

    async def pin(
        self, batch: Batch, variants: Sequence[PlannedVariant], *, revisions: bool
    ) -> None:
        """Keep the variants of templates that there are, and for each phone of the batch the
        profile that it gets: its own, that of the batch, or else that of its current deployment;
        with ``revisions`` also the newest one of that profile."""

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

    async def any_free(self) -> bool:
        """Whether an open batch exists that no worker holds."""

    async def take(self, holder: str, seconds: int) -> Hold | None:
        """Acquire an open batch that no worker holds for ``seconds``, in one statement; None if
        there is none. A planned batch is not acquired before its time."""

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        """Extend the lease to ``seconds`` from now: the state of the batch, or None if the lease
        was lost. No other worker acquires the batch until the transaction ends."""

    async def release(self, hold: Hold) -> None:
        """Release the batch, unless the lease was lost."""

    async def release_of(self, process: str) -> None:
        """Release every batch that workers of this process acquired; to be called only when the
        process has ended."""

    async def claim(
        self, hold: Hold, most: int, transition: Transition, *, first: int | None = None
    ) -> list[Claim]:
        """Apply a transition to at most ``most`` phones that are due, in one statement: those never
        tried first, then those that were due first, then by position; with ``first`` only of the
        phones up to this position. Returns them by position. To be called after ``keep`` in its
        transaction."""

    async def first_phones(self, batch_uuid: str, first: int, now: str) -> list[FirstPhones]:
        """The phones of a batch up to the position ``first``, in groups with the same state and
        confirmation, as of a shown moment; without locking them, and in one pass."""

    async def last_start(self, batch_uuid: str) -> str | None:
        """When a phone of a batch was started last, or None."""

    async def tried(self, batch_uuid: str, after: int, most: int) -> list[Claim]:
        """At most ``most`` phones after this position that were claimed at least once, as they were
        claimed last, by position."""

    async def abandoned(self, hold: Hold, most: int) -> list[Claim]:
        """At most ``most`` running phones that were claimed under an earlier lease."""

    async def move(self, claim: Claim, transition: Transition) -> bool:
        """Apply a transition to a claimed phone. Returns False and changes nothing if the phone is
        no longer in its first state under this claim."""

    async def move_all(self, batch_uuid: str, transition: Transition) -> None:
        """Apply a transition to every phone of a batch that is in its first state."""


class SeenFirmware(Protocol):
    """What is known of a phone from looking at it."""

    @property
    def reported_load(self) -> str | None: ...


class SeenPhones(SignsOfLife, Protocol):
    """What was seen of phones."""

    async def find(self, mac: str) -> SeenFirmware | None:
        """What is known of a phone, or None."""


class BatchesTransaction(DeploymentsTransaction, Protocol):
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
