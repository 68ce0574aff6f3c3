"""Where batches are kept, and what else they need from the world."""

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
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore


class BatchPhones(Protocol):
    """The phones of one batch that were asked for."""

    async def count(self, owner: str | None = None) -> int:
        """How many there are; they belong to nobody, so ``owner`` is None."""
        ...

    async def rows(
        self,
        limit: int,
        *,
        after: BatchPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[BatchPhone]:
        """At most ``limit`` phones, by position, beginning behind ``after``, then leaving out
        ``offset``; ``owner`` is None."""
        ...

    async def page(self, limit: int, after: int) -> list[BatchPhone]:
        """At most ``limit`` phones after the position ``after``, by position."""
        ...


class BatchStore(Protocol):
    """Batches, by uuid, and their phones.

    A batch is open until it has an ``ended_at``. Time, for what runs out and for what is not
    to be done yet, is the database's own. Whoever works on a batch proves with its ``Hold``
    that it still may.
    """

    async def add(self, batch: Batch) -> None:
        """Keep a new batch, without phones yet."""
        ...

    async def add_phones(self, batch_uuid: str, entries: Sequence[BatchEntry]) -> None:
        """Put phones into a batch, waiting. Raises ``Conflict`` when a phone is in it already,
        ``NotFound`` when there is no such batch."""
        ...

    async def find(self, key: str) -> Batch | None:
        """The batch with its phones counted, or None. In a writing transaction nobody else
        changes the batch until the transaction ends."""
        ...

    async def count(self, owner: str | None = None) -> int:
        """How many batches there are, or how many ``owner`` started."""
        ...

    async def rows(
        self, limit: int, *, after: Batch | None = None, offset: int = 0, owner: str | None = None
    ) -> list[Batch]:
        """At most ``limit`` batches, oldest first (by creation, then uuid), beginning behind
        ``after``, then leaving out ``offset``; only those that ``owner`` started if given."""
        ...

    async def newest(self, limit: int, *, before: Batch | None = None) -> list[Batch]:
        """At most ``limit`` batches, newest first (by creation, then uuid), after ``before``."""
        ...

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> BatchPhones:
        """The phones of a batch that agree with what is wanted."""
        ...

    async def counts(self, batch_uuid: str) -> Counts:
        """How many phones of a batch stand where."""
        ...

    async def halt(self, batch_uuid: str, state: BatchState, message: str | None) -> bool:
        """Begin no further phone: a batch that is running gets this state, and its waiting
        phones are left out. False, and nothing is changed, when it is not running."""
        ...

    async def any_free(self) -> bool:
        """Whether there is an open batch that nobody holds."""
        ...

    async def take(self, holder: str, seconds: int) -> Hold | None:
        """Take an open batch that nobody holds for ``seconds``, in one statement; None when
        there is none."""
        ...

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        """Hold it for ``seconds`` from now on: the state of the batch, or None when it was
        lost. Nobody takes it until the transaction ends."""
        ...

    async def release(self, hold: Hold) -> None:
        """Give it back, if it was not lost."""
        ...

    async def release_all(self) -> None:
        """Give back every batch: for whoever knows that nobody works any more."""
        ...

    async def claim(self, hold: Hold, most: int, now: str) -> list[Turn]:
        """The turn of at most ``most`` waiting phones that are not to be left alone now, in one
        statement: those that were never tried first, then those left alone until the earliest
        moment, then by position. To be called behind ``keep`` in its transaction."""
        ...

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        """At most ``most`` running phones whose turn came under an earlier hold."""
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
        """What became of a phone. False, and nothing is changed, when the phone is not running
        under this turn any more."""
        ...

    async def put_back(self, turn: Turn, again: Turn, seconds: int, message: str | None) -> bool:
        """Let a phone wait again, and leave it alone for ``seconds``; attempt, ``cut_off`` and
        ``waiting_since`` are from now on those of ``again``. In a batch that is not running it
        is left out instead. False, and nothing is changed, when the phone is not running under
        this turn any more."""
        ...

    async def finish(self, hold: Hold, now: str) -> bool:
        """Close a batch of which no phone waits or runs; one that is running is done then.
        False, and nothing is changed, while one does or when the hold was lost."""
        ...


class BatchesTransaction(DeploymentsTransaction, Protocol):
    """What batches read and are recorded in."""

    @property
    def batches(self) -> BatchStore: ...
    @property
    def phones(self) -> PhoneStore: ...
    @property
    def audit(self) -> AuditStore: ...


class Calls(Protocol):
    """Whether phones are in a call."""

    async def in_call(self, phone: Phone) -> bool:
        """Whether the phone is known to be in a call. What was known a few seconds ago may be
        taken for what is known now. Raises ``Refused`` and ``TimedOut`` when it cannot be
        found out."""
        ...


Pause = Callable[[float], Awaitable[None]]
"""Port: wait for so many seconds."""

BatchJournal = Callable[[Batch], None]
"""Port: told of each batch when it has ended."""
