"""Processing of one phone of a batch until its result is stored."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from msgspec.structs import replace

from phoneprov_core.features.batches.model import Batch, BatchAction, PhoneState
from phoneprov_core.features.batches.ports import SENT, UNMOVED, BatchesTransaction, Claim, ended
from phoneprov_core.features.batches.results import (
    LeftAlone,
    StillRestarting,
    is_unchanged,
    order_of_undo,
    put_back,
    result_of,
    state_after,
)
from phoneprov_core.features.batches.rules import (
    LOOK_AGAIN_SECONDS,
    MOST_CUT_OFF,
    RESTARTING_SECONDS,
    changed_since,
    order_of_phone,
    waited_long_enough,
)
from phoneprov_core.features.desks.occupancy import Occupancy
from phoneprov_core.features.history.use_cases import NotRestorable
from phoneprov_core.features.serving.bootstrap import CheckLoad
from phoneprov_core.inventory.phones.model import Phone, software_type_of
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor, Event
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import (
    RESTART_BEGUN,
    RESTARTED,
    Confirmation,
    Deployment,
    Outcome,
    StepName,
)
from phoneprov_core.switching.deployments.order import DeploymentRequest, require_fitting
from phoneprov_core.switching.deployments.ports import RunToEnd
from phoneprov_core.switching.deployments.records import LEASE_SECONDS, STORING_SECONDS
from phoneprov_core.switching.deployments.steps import (
    Holding,
    RestartGate,
    StepRecorder,
    no_progress,
    persistently,
)
from phoneprov_core.switching.devices.ports import Calls, PhoneDriver, is_in_call
from phoneprov_core.switching.errors import LeaseLost, PhoneInactive, RightsChanged

_IN_A_CALL = "The phone is in a call."
_BUSY = "Another switch of the phone is under way."
_RESTARTS = "The phone still restarts."
_LEFT_AS_IS = "The phone was left unchanged."
WATCHED_SECONDS = 2.0
"""Seconds between two checks of the watch of a phone whose restart was interrupted."""

UNCHANGED = "The phone has this configuration already; it was left unchanged."


@dataclass(frozen=True)
class PhoneWork:
    """Switches or restarts one phone, or postpones it.

    A phone that is in a call, or that another switch is using, is tried again later, and given up
    after the waiting time of the batch. ``calls`` is None if calls cannot be observed; if the state
    of a call cannot be found out, the phone is processed. ``loads`` is None without a folder of
    files.
    """

    database: ReadAndWrite[BatchesTransaction]
    deploy: Deploy
    occupancy: Occupancy
    driver: PhoneDriver
    calls: Calls | None
    run_to_end: RunToEnd[bool]
    clock: Clock
    new_id: NewId
    loads: CheckLoad | None = None

    async def __call__(self, actor: Actor, batch: Batch, claim: Claim) -> bool:
        """Work on a phone for the account that started the batch, and record the result. Returns
        whether the phone was started: False if it was busy or stays unchanged. Raises
        ``Unavailable``."""
        async with self.database.read() as tx:
            phone = await tx.phones.find(claim.mac)
        # The order of the phone names the reason if its configuration cannot be restored.
        if phone is None or not (batch.as_of or _is_in(batch, phone)):
            await self._without(batch, claim, phone)
        elif await is_in_call(self.calls, phone):
            await self._later(batch, claim, _IN_A_CALL)
        elif batch.action is BatchAction.RESTART:
            return await self.run_to_end(self._restart(actor, batch, claim, phone))
        else:
            return await self.run_to_end(self._switch(actor, batch, claim, phone))
        return False

    async def recover(self, tx: BatchesTransaction, batch: Batch, claim: Claim) -> None:
        """Determine the result of a phone that was started under an earlier lease: its record
        decides. An interrupted attempt is tried again, unless the phone may have been restarted:
        then its watch decides. Does nothing while another worker still processes the phone, or
        while it is watched."""
        if await tx.leases.holder(claim.mac) == claim.attempt_uuid:
            return
        record = await tx.deployments.find(claim.attempt_uuid)
        if record is not None:
            if not self._is_watched(record):
                await self._as_recorded(tx, claim, record)
        elif claim.is_sent:
            await self._end_in(tx, claim, PhoneState.UNKNOWN, RESTART_BEGUN)
        elif batch.action is BatchAction.RESTART:
            await self._cut_off(tx, claim)
        else:
            # The attempt was never started. It keeps its uuid: if its process was only suspended,
            # one of the two gets Conflict for the uuid.
            await put_back(tx.batches, claim, claim, 0, None)

    async def _switch(self, actor: Actor, batch: Batch, claim: Claim, phone: Phone) -> bool:
        try:
            order = await self._order(actor, batch, claim, phone)
            order = replace(order, more_follow=claim.cut_off == 0)
            if batch.only_changed or batch.as_of:
                require_fitting(order.profile, phone)
                order = await self.deploy.texts(order)
                async with self.database.read() as tx:
                    in_place = await tx.deployments.in_place(phone.mac)
                if is_unchanged(in_place, order, self.clock):
                    await self._end(claim, PhoneState.DONE, UNCHANGED)
                    return False
            record = await self.deploy(actor, order)
        except Unavailable:
            raise
        except StillRestarting:
            await self._put_back(claim, claim, RESTARTING_SECONDS, _RESTARTS)
            return False
        except LeftAlone as reason:
            await self._end(claim, PhoneState.LEFT_OUT, str(reason))
            return False
        except (RightsChanged, NotRestorable) as error:
            await self._end(claim, PhoneState.LEFT_OUT, f"{error.message} {_LEFT_AS_IS}")
            return False
        except PhoneprovError as error:
            return await self._failed(batch, claim, error)
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            await self._as_recorded(tx, claim, record)
        return True

    def _is_watched(self, record: Deployment) -> bool:
        """Whether the result depends on the watch of a phone whose restart was interrupted. The
        watch is resumed if it does not run in this process."""
        confirm = self.deploy.confirm
        now = timestamp(self.clock())
        pending = record.as_of(now).confirmation is Confirmation.PENDING
        if not (record.may_have_restarted and pending):
            return False
        if record.uuid not in confirm.watched:
            confirm.background(confirm.resume())
        return True

    async def _failed(self, batch: Batch, claim: Claim, error: PhoneprovError) -> bool:
        while True:
            async with self.database.read() as tx:
                record = await tx.deployments.find(claim.attempt_uuid)
            if record is None or not self._is_watched(record):
                break
            await self.deploy.records.pause(WATCHED_SECONDS)
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            record = await tx.deployments.find(claim.attempt_uuid)
            if record is not None:
                await self._as_recorded(tx, claim, record)
                return True
            phone = await tx.phones.find(claim.mac)
        if error.code == "phone_busy":
            await self._later(batch, claim, _BUSY)
        elif not _is_in(batch, phone):
            await self._without(batch, claim, phone)
        else:
            await self._end(claim, state_after(error), error.message)
        return False

    async def _order(
        self, actor: Actor, batch: Batch, claim: Claim, phone: Phone
    ) -> DeploymentRequest:
        """The revision that the phone gets. Raises ``NotFound``, ``NotRestorable``, and
        ``LeftAlone`` if the batch was created for another revision."""
        if claim.undoes is not None:
            return await order_of_undo(
                self.database, self.deploy.texts, self.occupancy, actor, claim, phone, self.clock
            )
        async with self.database.read() as tx:
            order = await order_of_phone(tx, self.deploy.records, phone, batch, claim.profile_uuid)
            changed = await changed_since(tx, batch, claim, order)
        if changed is not None:
            raise LeftAlone(f"{changed} {_LEFT_AS_IS}")
        return replace(order, uuid=claim.attempt_uuid)

    async def _taken(
        self, claim: Claim, phone: Phone
    ) -> tuple[Holding[BatchesTransaction] | None, str | None]:
        """The lease of the phone, None while another process holds it; and the firmware family of
        the phone, as far as is known. Raises ``LeaseLost`` if another worker took over the phone,
        which may have been restarted already."""
        until = self.clock() + timedelta(seconds=LEASE_SECONDS)
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            fence = await tx.leases.take(phone.mac, claim.attempt_uuid, LEASE_SECONDS)
            if not await tx.batches.move(claim, UNMOVED):
                raise LeaseLost
            current = await tx.deployments.current(phone.mac)
            on_it = None if current is None else await tx.profiles.find(current.profile_uuid)
        family = software_type_of(phone, on_it.software_type if on_it else None)
        if fence is None:
            return None, family
        holder = claim.attempt_uuid
        return Holding(self.database, self.clock, phone.mac, holder, fence, until), family

    async def _restart(self, actor: Actor, batch: Batch, claim: Claim, phone: Phone) -> bool:
        try:
            return await self._restarted(actor, batch, claim, phone)
        except LeaseLost:
            await self._lost(batch, claim)
            return True

    async def _keep_sent(self, holding: Holding[BatchesTransaction], claim: Claim) -> bool:
        """Record that the phone may restart. Returns False while the database is away."""
        try:
            async with asyncio.timeout(STORING_SECONDS), holding.write(SYSTEM_ACTOR) as tx:
                if not await tx.batches.move(claim, SENT):
                    raise LeaseLost
        except (Unavailable, TimeoutError):
            return False
        return True

    async def _lost(self, batch: Batch, claim: Claim) -> None:
        """Determine the result of a restart that lost its lease, unless another worker did."""
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            (kept,) = await tx.batches.items(batch.uuid, claim.position - 1, 1)
            if (kept.fence, kept.attempt_uuid) == (claim.fence, claim.attempt_uuid):
                await self.recover(tx, batch, kept)

    async def _restarted(self, actor: Actor, batch: Batch, claim: Claim, phone: Phone) -> bool:
        holding, family = await self._taken(claim, phone)
        if holding is None:
            await self._later(batch, claim, _BUSY)
            return False
        gate = RestartGate(holding, partial(self._keep_sent, holding, claim))
        recorder = StepRecorder(self.clock, no_progress)
        order = self.driver.restart(phone, family, gate)
        step = await recorder.attempt(StepName.RESTART, order, fatal=LeaseLost)
        state, message = _STATES[step.ok], step.message

        async def store() -> None:
            async with holding.write(actor, even_expired=True) as tx:
                # In one transaction: a free phone has its lease and its restart recorded together.
                if await tx.batches.move(
                    claim, ended(state, timestamp(self.clock()), message=message)
                ):
                    fields = {"batch_uuid": batch.uuid, "result": message or RESTARTED}
                    tx.trail.note(Event("phone.restarted", "phone", phone.mac, fields))
                await tx.leases.release(phone.mac, claim.attempt_uuid, holding.fence)

        await persistently(store, self.deploy.records.pause)
        return True

    async def _later(self, batch: Batch, claim: Claim, why: str) -> None:
        now = timestamp(self.clock())
        since = claim.waiting_since or now
        if waited_long_enough(batch, since, self.clock):
            message = f"Given up after {batch.wait_minutes} minutes. {why}"
            await self._end(claim, PhoneState.FAILED, message)
            return
        again = replace(claim, waiting_since=since)
        await self._put_back(claim, again, LOOK_AGAIN_SECONDS, why)

    async def _put_back(self, claim: Claim, again: Claim, seconds: int, why: str) -> None:
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            await put_back(tx.batches, claim, again, seconds, why)

    async def _without(self, batch: Batch, claim: Claim, phone: Phone | None) -> None:
        """The phone was deleted, deactivated or replaced. An undo and a batch as of an earlier
        moment leave it alone."""
        is_inactive = phone is not None and not phone.is_active
        why = PhoneInactive.usual if is_inactive else "The phone is no longer in the inventory."
        if claim.undoes is None and batch.as_of is None:
            await self._end(claim, PhoneState.FAILED, why)
        else:
            await self._end(claim, PhoneState.LEFT_OUT, f"{why} It was left unchanged.")

    async def _end(self, claim: Claim, state: PhoneState, message: str) -> None:
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            await self._end_in(tx, claim, state, message)

    async def _end_in(
        self, tx: BatchesTransaction, claim: Claim, state: PhoneState, message: str
    ) -> None:
        await tx.batches.move(claim, ended(state, timestamp(self.clock()), message=message))

    async def _as_recorded(self, tx: BatchesTransaction, claim: Claim, record: Deployment) -> None:
        if record.outcome is Outcome.RUNNING:
            # Another worker started this attempt: its result is read later.
            await put_back(tx.batches, claim, claim, LOOK_AGAIN_SECONDS, _BUSY)
        elif record.outcome is Outcome.INTERRUPTED and not record.may_have_restarted:
            await self._cut_off(tx, claim, record.uuid)
        else:
            state, message = result_of(record)
            now = timestamp(self.clock())
            await tx.batches.move(
                claim, ended(state, now, message=message, deployment_uuid=record.uuid)
            )

    async def _cut_off(
        self, tx: BatchesTransaction, claim: Claim, deployment_uuid: str | None = None
    ) -> None:
        again = claim.again(self.new_id())
        if again.cut_off < MOST_CUT_OFF:
            await put_back(tx.batches, claim, again, 0, "The attempt was interrupted.")
            return
        message, now = (
            f"The attempt was interrupted {again.cut_off} times.",
            timestamp(self.clock()),
        )
        await tx.batches.move(
            claim, ended(PhoneState.FAILED, now, message=message, deployment_uuid=deployment_uuid)
        )


def _is_in(batch: Batch, phone: Phone | None) -> bool:
    """Whether a phone is still the phone that the batch was created for."""
    # A phone created since then has the MAC of the deleted phone, maybe at another address.
    return phone is not None and phone.is_active and phone.created_at <= batch.created_at


_STATES = {True: PhoneState.DONE, False: PhoneState.FAILED, None: PhoneState.UNKNOWN}
