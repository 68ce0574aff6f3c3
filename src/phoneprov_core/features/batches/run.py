"""Processing of batches, each by the worker that holds its lease."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from phoneprov_core.features.batches.model import PLANNER_LOST_RIGHT, Batch, BatchAction, BatchState
from phoneprov_core.features.batches.ports import (
    BatchesTransaction,
    BatchJournal,
    BatchLease,
    Claim,
    claimed,
)
from phoneprov_core.features.batches.results import add_undo, halt, judge_first
from phoneprov_core.features.batches.rules import (
    LoadFaults,
    Pace,
    stopped_because,
    too_many_failures,
)
from phoneprov_core.features.batches.work import PhoneWork
from phoneprov_core.kernel.actor import (
    NO_ORIGIN,
    SUPERADMIN,
    SYSTEM_ACTOR,
    Actor,
    Event,
    LevelRule,
    Value,
    belonging_to,
)
from phoneprov_core.kernel.errors import Unavailable, retrieved
from phoneprov_core.kernel.ports import Clock, NewId, Pause, ReadAndWrite
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.access import still_holds
from phoneprov_core.people.audit import AuditEntry, WantedEntries
from phoneprov_core.switching.deployments.ports import RunToEnd

log = logging.getLogger("phoneprov.batches")

HOLD_SECONDS = 30
"""Seconds after which the lease of a batch expires; its holder no longer runs."""

LOOK_SECONDS = 2.0
"""Seconds between two checks of an idle batch: whether it was cancelled, and whether busy phones
are due."""

MOST_BATCHES = 4
"""Maximum number of batches processed at a time in one process."""

_LOST_RIGHT = (
    "The account that started this batch is no longer active, or no longer holds level 0. "
    "Start another batch for the rest."
)

MOST_RECOVERED = 100
_PIECE = 200
"""Number of phones whose loads are checked between two renewals of the lease."""


@dataclass(eq=False)
class RunBatches:
    """Acquires open batches that no worker holds, and processes them until they end.

    Only the phones that are being processed are in memory. A cancelled worker releases the batch;
    phones that were started finish. A result that could not be stored is determined by the worker
    that acquires the batch next.
    """

    database: ReadAndWrite[BatchesTransaction]
    work: PhoneWork
    run_to_end: RunToEnd[None]
    pause: Pause
    journal: BatchJournal
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    level_rule: LevelRule = LevelRule.HIERARCHICAL
    hold_seconds: int = HOLD_SECONDS
    _under_way: int = field(default=0, init=False)

    async def __call__(self) -> None:
        """Process batches while an open one has no worker. Raises ``Unavailable``."""
        while self._under_way < MOST_BATCHES:
            self._under_way += 1
            try:
                hold = await self._taken()
                if hold is None:
                    return
                if hold.fence > 1:  # the watches of its holder may have ended with it
                    confirm = self.work.deploy.confirm
                    confirm.background(confirm.resume())
                await self._run(hold)
            finally:
                self._under_way -= 1

    async def _taken(self) -> BatchLease | None:
        async with self.database.read() as tx:
            if not await tx.batches.any_free():
                return None
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            return await tx.batches.take(self.new_id(), self.hold_seconds)

    async def _run(self, hold: BatchLease) -> None:
        """Work on a batch as a part of the request that started it, in any process."""
        created = WantedEntries(
            action="batch.created", resource="batch", resource_id=hold.batch_uuid
        )
        async with self.database.read() as tx:
            started = next(iter(await tx.audit.newest(created, 1)), None)
        origin = NO_ORIGIN if started is None else started.origin
        with belonging_to(origin):
            try:
                await self._run_as(hold, None if started is None else started.entry)
            except Exception as error:
                # The worker's own line belongs to no request.
                reason = type(error).__name__
                log.warning("The batch %s was interrupted (%s).", hold.batch_uuid, reason)
                raise

    async def _run_as(self, hold: BatchLease, started: AuditEntry | None) -> None:
        run = _Run(
            hold, started, self.database, self.work, self.pause, self.clock, self.level_rule,
            self.hold_seconds,
        )  # fmt: skip
        try:
            await run()
        finally:
            run.leave()
            with suppress(Unavailable):
                await self.run_to_end(self._release(hold))
        async with self.database.read() as tx:
            batch = await tx.batches.find(hold.batch_uuid)
        if batch is not None and batch.ended_at is not None:
            self.journal(batch)

    async def _release(self, hold: BatchLease) -> None:
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            await tx.batches.release(hold)


@dataclass(eq=False)
class _Run:
    """The processing of one batch under one lease."""

    hold: BatchLease
    started: AuditEntry | None
    database: ReadAndWrite[BatchesTransaction]
    work: PhoneWork
    pause: Pause
    clock: Clock
    level_rule: LevelRule
    hold_seconds: int
    _at_work: dict[asyncio.Future[bool], datetime] = field(default_factory=dict, init=False)
    """With the time when each was started."""
    _is_idle: bool = field(default=True, init=False)
    """Phones that earlier holders started come first."""
    _are_first_confirmed: bool = field(default=False, init=False)
    _fault: str | None = field(default=None, init=False)
    """Why no phone may be started."""

    async def __call__(self) -> None:
        """Process the batch until it ended or the lease was lost."""
        async with self.database.read() as tx:
            batch = await tx.batches.find(self.hold.batch_uuid)
            last = await tx.batches.last_start(self.hold.batch_uuid)
        if batch is None:
            return
        actor = self._actor(batch)
        pace = Pace(batch.per_minute, self.clock, last)
        self._fault = await self._fault_of_loads(batch)
        while (claims := await self._claims(batch, pace)) is not None:
            now = pace.began(len(claims))
            for claim in claims:
                work = asyncio.ensure_future(self.work(actor, batch, claim))
                work.add_done_callback(retrieved)  # one failure ends the run; others may follow
                self._at_work[work] = now
            for began in await self._spared(pace.seconds(LOOK_SECONDS)):
                pace.spared(began)

    async def _fault_of_loads(self, batch: Batch) -> str | None:
        """The reason why the firmware load of one of the phones is not available; else None. All
        phones are checked before the first is started. A batch with started phones was checked
        before."""
        is_new = batch.phones.waiting == batch.phones.total
        if self.work.loads is None or batch.action is not BatchAction.SWITCH or not is_new:
            return None
        faults, after = LoadFaults(self.work.loads), 0
        while True:
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                state = await tx.batches.keep(self.hold, self.hold_seconds)
            if state not in {BatchState.RUNNING, BatchState.PLANNED}:
                return None
            async with self.database.read() as tx:
                phones = await tx.batches.items(batch.uuid, after, _PIECE)
            if not phones:
                return None
            after = phones[-1].position
            fault = await faults.of_phones(self.database, self.work.deploy, batch, phones)
            if fault is not None:
                return fault

    def _actor(self, batch: Batch) -> Actor:
        """The account that started the batch."""
        actor = Actor(batch.user_uuid, SUPERADMIN)
        if self.started is None:
            return actor
        ip = self.started.client_ip or actor.ip
        return replace(actor, ip=ip, username=self.started.actor)

    def leave(self) -> None:
        """Cancel all waiting."""
        for task in self._at_work:
            task.cancel()

    async def _claims(self, batch: Batch, pace: Pace) -> list[Claim] | None:
        """The phones that may be started now; None if none is left for this worker."""
        now = timestamp(self.clock())
        free = pace.allowed(batch.at_once - len(self._at_work))
        claims: list[Claim] = []
        has_right = await self._has_right(batch)
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            state = await tx.batches.keep(self.hold, self.hold_seconds)
            if state is None:
                return None
            if self._is_idle:
                await self._recover(tx, batch)
            if not has_right and await self._stop(tx, batch, _LOST_RIGHT, PLANNER_LOST_RIGHT):
                state = BatchState.STOPPED
            if state is BatchState.PLANNED:
                await self._begin(tx)
                state = BatchState.RUNNING
            held_back = None
            if state is BatchState.RUNNING:
                held_back = self._fault or await self._first_phones(tx, batch)
                if isinstance(held_back, str):
                    await self._stop(tx, batch, held_back)
                elif not await self._stopped(tx, batch) and free:
                    claims = await tx.batches.claim(
                        self.hold, free, claimed(self.hold, now), first=held_back
                    )
            self._is_idle = not claims and not self._at_work
            is_judging = isinstance(held_back, int)
            if self._is_idle and not is_judging and await self._finished(tx, now):
                return None
        return claims

    async def _has_right(self, batch: Batch) -> bool:
        """Whether the account that started the batch still has the right to run it. An undo
        continues without the right: it restores the earlier state."""
        if batch.action is BatchAction.UNDO:
            return True
        async with self.database.read() as tx:
            return await still_holds(tx.users, tx.assignments, batch.user_uuid, self.level_rule)

    async def _finished(self, tx: BatchesTransaction, now: str) -> bool:
        """Whether the batch ended just now. This transaction renewed its lease."""
        batch = await tx.batches.find(self.hold.batch_uuid)
        finished = batch and batch.finished(now)
        if finished is None:
            return False
        await tx.batches.put(finished)
        tx.trail.note(Event("batch.finished", "batch", finished.uuid))
        may_have_changed = finished.state is BatchState.STOPPED and self._fault is None
        if (
            may_have_changed
            and finished.undo_on_stop
            and await tx.batches.last_start(finished.uuid)
        ):
            await add_undo(tx, finished, now, self.work.new_id)
        return True

    async def _begin(self, tx: BatchesTransaction) -> None:
        batch = await tx.batches.find(self.hold.batch_uuid)
        if batch is not None:
            await tx.batches.put(batch.begun())
            tx.trail.note(Event("batch.begun", "batch", batch.uuid))

    async def _first_phones(self, tx: BatchesTransaction, batch: Batch) -> int | str | None:
        """The last position that may be started before the first phones are confirmed, the reason
        to stop if these phones cannot be confirmed, or None if all may be started."""
        if batch.first is None or self._are_first_confirmed:
            return None
        verdict = await judge_first(tx, batch, self.clock(), self.work.new_id)
        if verdict is True:
            self._are_first_confirmed = True
            return None
        return verdict or batch.first

    async def _stopped(self, tx: BatchesTransaction, batch: Batch) -> bool:
        """Whether the batch was stopped just now, for too many failures."""
        counts = await tx.batches.counts(batch.uuid)
        if not too_many_failures(batch.stop_after_failures, counts):
            return False
        return await self._stop(tx, batch, stopped_because(counts))

    async def _stop(
        self, tx: BatchesTransaction, batch: Batch, reason: str, code: str | None = None
    ) -> bool:
        stopped = await halt(tx.batches, batch.uuid, BatchState.STOPPED, reason, code)
        if stopped:
            fields: dict[str, Value] = {"message": reason, **({"code": code} if code else {})}
            tx.trail.note(Event("batch.stopped", "batch", batch.uuid, fields))
        return stopped

    async def _recover(self, tx: BatchesTransaction, batch: Batch) -> None:
        left = await tx.batches.abandoned(self.hold, MOST_RECOVERED)
        if left:
            await tx.deployments.interrupt_abandoned(timestamp(self.clock()))
        for claim in left:
            await self.work.recover(tx, batch, claim)

    async def _spared(self, seconds: float) -> list[datetime]:
        """Wait until a phone is done, or for this number of seconds. Returns the times of phones
        that were not started."""
        timer = asyncio.ensure_future(self.pause(seconds))
        awaited: set[asyncio.Future[Any]] = {timer, *self._at_work}
        try:
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        done = [(task, self._at_work.pop(task)) for task in [*self._at_work] if task.done()]
        return [began for task, began in done if not task.result()]
