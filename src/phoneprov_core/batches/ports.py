"""Ports of batches: their store, and calls, timers and events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from phoneprov_core.audit.ports import AuditStore
from phoneprov_core.batches.model import (
    Batch,
    BatchEntry,
    BatchPhone,
    BatchState,
    Counts,
    Hold,
    PhoneState,
    Turn,
    WantedPhones,
)
from phoneprov_core.deployments.ports import DeploymentsTransaction
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore


class NoPhones(Conflict):
    """The filters select no active phone."""

    code = "no_phones"
    usual = "No active phone matches the filters."


class BatchPhones(Protocol):
    """The phones of one batch that match a filter."""

    async def count(self, owner: str | None = None) -> int:
        """Number of phones. ``owner`` is not used."""
        ...

    async def rows(
        self,
        limit: int,
        *,
        after: BatchPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[BatchPhone]:
        """At most ``limit`` phones by position, starting after ``after``, without the first
        ``offset``. ``owner`` is not used."""
        ...

    async def page(self, limit: int, after: int) -> list[BatchPhone]:
        """At most ``limit`` phones after the position ``after``, by position."""
        ...


class BatchStore(Protocol):
    """Batches, by uuid, and their phones.

    A batch is open until it has an ``ended_at``. Leases and waiting times use the clock of the
    database. A worker passes its ``Hold`` to prove that its lease is valid.
    """

    async def add(self, batch: Batch) -> None:
        """Store a new batch, without phones yet."""
        ...

    async def add_phones(self, batch_uuid: str, entries: Sequence[BatchEntry]) -> None:
        """Add phones to a batch, pending. Raises ``Conflict`` if a phone is in the batch already,
        ``NotFound`` if the batch does not exist."""
        ...

    async def find(self, key: str) -> Batch | None:
        """The batch with the counts of its phones, or None. In a writing transaction no other
        transaction changes the batch until this one ends."""
        ...

    async def count(self, owner: str | None = None) -> int:
        """Number of batches, or of those that ``owner`` started."""
        ...

    async def rows(
        self, limit: int, *, after: Batch | None = None, offset: int = 0, owner: str | None = None
    ) -> list[Batch]:
        """At most ``limit`` batches, oldest first (by creation, then uuid), starting after
        ``after``, without the first ``offset``; only those that ``owner`` started if given."""
        ...

    async def newest(self, limit: int, *, before: Batch | None = None) -> list[Batch]:
        """At most ``limit`` batches, newest first (by creation, then uuid), after ``before``."""
        ...

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> BatchPhones:
        """The phones of a batch that match the filter."""
        ...

    async def counts(self, batch_uuid: str) -> Counts:
        """Number of phones of a batch per state."""
        ...

    async def halt(self, batch_uuid: str, state: BatchState, message: str | None) -> bool:
        """Stop starting phones: a running batch gets this state, and its pending phones are
        skipped. Returns False and changes nothing if the batch is not running."""
        ...

    async def any_free(self) -> bool:
        """Whether an open batch exists that no worker holds."""
        ...

    async def take(self, holder: str, seconds: int) -> Hold | None:
        """Acquire an open batch that no worker holds for ``seconds``, in one statement; None if
        there is none."""
        ...

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        """Extend the lease to ``seconds`` from now: the state of the batch, or None if the lease
        was lost. No other worker acquires the batch until the transaction ends."""
        ...

    async def release(self, hold: Hold) -> None:
        """Release the batch, unless the lease was lost."""
        ...

    async def release_all(self) -> None:
        """Release every batch; to be called only when no worker runs."""
        ...

    async def claim(self, hold: Hold, most: int, now: str) -> list[Turn]:
        """Claim at most ``most`` pending phones that are due, in one statement: those never tried
        first, then those that were due first, then by position. To be called after ``keep`` in its
        transaction."""
        ...

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        """At most ``most`` running phones that were claimed under an earlier lease."""
        ...

    async def end(
        self,
        turn: Turn,
        state: PhoneState,
        now: str,
        *,
        message: str | None = None,
        deployment_uuid: str | None = None,
    ) -> bool:
        """Record the result of a phone. Returns False and changes nothing if the phone is no longer
        running under this claim."""
        ...

    async def put_back(self, turn: Turn, again: Turn, seconds: int, message: str | None) -> bool:
        """Return a phone to pending, due after ``seconds``, with attempt, ``cut_off`` and
        ``waiting_since`` of ``again``. In a batch that is not running it is skipped instead.
        Returns False and changes nothing if the phone is no longer running under this claim."""
        ...

    async def finish(self, hold: Hold, now: str) -> bool:
        """Close a batch without pending and running phones; a running batch becomes done. Returns
        False and changes nothing if such phones exist or the lease was lost."""
        ...


class BatchesTransaction(DeploymentsTransaction, Protocol):
    """Stores that batches use."""

    @property
    def batches(self) -> BatchStore: ...
    @property
    def phones(self) -> PhoneStore: ...
    @property
    def audit(self) -> AuditStore: ...


class Calls(Protocol):
    """Finds out whether phones are in a call."""

    async def in_call(self, phone: Phone) -> bool:
        """Whether the phone is known to be in a call. The result may be a few seconds old. Raises
        ``Refused`` and ``TimedOut`` if it cannot be found out."""
        ...


Pause = Callable[[float], Awaitable[None]]
"""Port: wait for a number of seconds."""

BatchJournal = Callable[[Batch], None]
"""Port: called once for each batch, after it ended."""
