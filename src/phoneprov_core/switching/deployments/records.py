"""The transactions of a deployment: its record, the lease of its phone, and its participants."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from phoneprov_core.inventory.phones.use_cases import PhoneBusy
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import NotFound, Unavailable, require
from phoneprov_core.kernel.ports import Clock, NewId, Pause, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.people.permissions import require_still_at
from phoneprov_core.switching.deployments.model import (
    Confirmation,
    Deployment,
    DeploymentFilter,
    Outcome,
    Step,
)
from phoneprov_core.switching.deployments.order import (
    DEFAULT_LIMITS,
    DeploymentRequest,
    SwitchLimits,
    begun_event,
    ended_event,
    new_record,
)
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction, Journal
from phoneprov_core.switching.deployments.steps import Begun, Holding, persistently
from phoneprov_core.switching.devices.ports import Content
from phoneprov_core.switching.errors import LeaseLost, NotRecorded, PhoneInactive

TX_contra = TypeVar("TX_contra", contravariant=True)


class Participant(Generic[TX_contra]):
    """Adds a feature's own reads and writes to the transactions of every deployment.

    Each method runs inside the transaction that records the same step, after the records of
    switching; an error undoes both. ``tx`` has the stores that the participant declares. The
    participant's data of one request is a ``RequestPart``. A method that a participant does not
    define does nothing. The composition lists the participants in the order of their calls, which
    is the order of their locks.
    """

    async def restored(
        self,
        tx: TX_contra,  # noqa: ARG002
        request: DeploymentRequest,
        earlier: Deployment,  # noqa: ARG002
    ) -> DeploymentRequest:
        """The request of a rollback, with the participant's data of the ``earlier`` deployment
        whose text is restored. The transaction only reads."""
        return request

    async def requested(self, tx: TX_contra, request: DeploymentRequest) -> None:
        """Called when the lease is held and nothing is recorded yet. Raises an error to refuse the
        request."""

    async def begun(self, tx: TX_contra, request: DeploymentRequest, record: Deployment) -> None:
        """Called when the record is added and nothing was sent to the phone yet."""

    async def placed(self, tx: TX_contra, request: DeploymentRequest, record: Deployment) -> None:
        """The file is in place: before the phone is called, or at the end if the database was away.
        Called once for a deployment whose file is certainly in place."""

    async def ended(
        self,
        tx: TX_contra,
        request: DeploymentRequest,
        record: Deployment,
        before: Deployment,
    ) -> None:
        """Called when the outcome is recorded and the lease is released. ``before`` is the
        previously stored record. It has no place if ``placed`` was not called before."""


LEASE_SECONDS = 60
"""Seconds; longer than all deadlines of a deployment together (30 s). A process whose lease expires
has ended, or is paused: it checks its lease before it continues."""

STORING_SECONDS = 3.0
"""Seconds for which a running deployment waits for the database."""

log = logging.getLogger("phoneprov.deployments")


@dataclass(frozen=True)
class Records:
    """The transactions of deployments. Each write after the first compares the fence of the lease
    in its transaction, in ``Holding.write``. ``participants`` take part in this order; the
    transactions of ``database`` have the stores that each of them names."""

    database: ReadAndWrite[DeploymentsTransaction]
    journal: Journal
    clock: Clock
    new_id: NewId
    pause: Pause
    _: KW_ONLY
    participants: tuple[Participant[Any], ...] = ()
    limits: SwitchLimits = DEFAULT_LIMITS
    lease_seconds: int = LEASE_SECONDS

    async def begin(self, actor: Actor, request: DeploymentRequest, filename: str) -> Begun:
        """Acquire the lease of the phone, and create the record. Raises ``PhoneBusy``,
        ``PhoneInactive``, ``NotFound``, ``TooManySwitches``, what participants raise, and
        ``Forbidden`` if the right to request it has ended."""
        until = self.clock() + timedelta(seconds=self.lease_seconds)
        uuid = request.uuid or self.new_id()
        replaces: Content | None = None
        may_be_placed = False
        record = new_record(request, uuid, actor.user_uuid, filename, timestamp(self.clock()))
        async with self.database.write(by=actor) as tx:
            fence = await tx.leases.take(record.mac, record.uuid, self.lease_seconds)
            if fence is not None:
                # It may have been deleted, created again or deactivated since the order was made.
                phone = await tx.phones.find(record.mac)
                if phone is None or phone.created_at != request.phone.created_at:
                    raise NotFound("There is no such phone.")
                if not phone.is_active:
                    raise PhoneInactive
                if request.by_right:
                    await require_still_at(tx, actor, phone)
                await self.require_allowed(tx, request)
                # A revision that was removed meanwhile could not be deployed again by a rollback.
                require(await tx.revisions.find(record.profile_uuid, record.revision), "revision")
                if request.is_counted:
                    now = millis(self.clock())
                    await self.limits.count(tx.rates, actor, record.mac, now)
                # The time is read again: an earlier holder may have released the phone only now.
                record = replace(record, number=fence, created_at=timestamp(self.clock()))
                before = await tx.deployments.in_place(record.mac)
                if before is not None and before.filename == filename:
                    replaces = before.content
                may_be_placed = await self._may_be_placed(tx, record, before)
                await tx.deployments.add(record)
                for one in self.participants:
                    await one.begun(tx, request, record)
                tx.trail.note(begun_event(record))
        if fence is None:
            raise PhoneBusy
        holding = Holding(self.database, self.clock, record.mac, record.uuid, fence, until)
        return Begun(actor, request, record, holding, replaces, may_be_placed)

    async def _may_be_placed(
        self, tx: DeploymentsTransaction, record: Deployment, in_place: Deployment | None
    ) -> bool:
        last = [in_place] if in_place else None
        if last is None:
            last = await tx.deployments.matching(DeploymentFilter(mac=record.mac)).rows(1)
        return any(
            one.outcome is Outcome.INTERRUPTED
            and (one.filename, one.content) == (record.filename, record.content)
            for one in last
        )

    async def require_allowed(self, tx: DeploymentsTransaction, request: DeploymentRequest) -> None:
        """Raises what participants raise before a deployment begins."""
        for one in self.participants:
            await one.requested(tx, request)

    async def store(self, begun: Begun, record: Deployment, *, tries: int = 1) -> bool:
        """Store the current record of a running deployment. Returns False if the database is
        unavailable, which does not stop the restart. Raises ``LeaseLost``."""

        async def put() -> None:
            async with begun.holding.write(begun.actor) as tx:
                await self._put(tx, begun.request, replace(record, outcome=Outcome.RUNNING))

        try:
            async with asyncio.timeout(STORING_SECONDS):
                await persistently(put, self.pause, tries)
        except (Unavailable, TimeoutError):
            return False
        return True

    async def _put(
        self, tx: DeploymentsTransaction, request: DeploymentRequest, record: Deployment
    ) -> Deployment:
        """Store the record, with the place of the file. Returns the record that was stored
        before."""
        before = require(await tx.deployments.find(record.uuid), "deployment")
        if before.outcome is record.outcome is not Outcome.RUNNING:
            return before  # an earlier try was committed, and its reply was lost
        is_placed = record.place is not None and record.outcome is not Outcome.UNKNOWN
        if is_placed and before.place is None:
            for one in self.participants:
                await one.placed(tx, request, record)
        await tx.deployments.put(record)
        return before

    def ended(self, record: Deployment, steps: Sequence[Step]) -> Deployment:
        """The record with the end of the deployment at this moment."""
        if record.outcome is Outcome.RUNNING:
            record = replace(record, outcome=Outcome.INTERRUPTED)
        return replace(record, steps=tuple(steps), ended_at=timestamp(self.clock()))

    def cut_off(self, record: Deployment) -> Deployment:
        """The record of a deployment that ends here while it restarts the phone."""
        record = self.ended(record, record.steps)
        is_watched = record.confirmation_by is not None
        return replace(record, confirmation=Confirmation.PENDING) if is_watched else record

    async def close(self, begun: Begun, record: Deployment) -> Deployment:
        """Complete the record as soon as the database is available."""
        try:
            await persistently(lambda: self.complete(begun, record), self.pause)
        except LeaseLost:
            await self.interrupt()
            self.journal(replace(record, outcome=Outcome.INTERRUPTED))
            raise
        except Unavailable:
            log.error("The end of the deployment %s could not be stored.", record.uuid)
            self.journal(record)
            raise
        self.journal(record)
        return record

    async def complete(self, begun: Begun, record: Deployment) -> None:
        """Complete the record and release the phone. The record is stored even if the lease has
        expired, unless another process has acquired it."""
        async with begun.holding.write(begun.actor, even_expired=True) as tx:
            before = await self._put(tx, begun.request, record)
            if before.outcome is record.outcome:
                return
            tx.trail.note(ended_event(record))
            await tx.leases.release(record.mac, record.uuid, record.number)
            for one in self.participants:
                await one.ended(tx, begun.request, record, before)

    async def interrupt(self) -> None:
        """End the deployment as interrupted: another process may have acquired the lease."""
        with suppress(Unavailable):  # then another process does it
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                await tx.deployments.interrupt_abandoned(timestamp(self.clock()))

    async def restored(
        self, tx: DeploymentsTransaction, request: DeploymentRequest, earlier: Deployment
    ) -> DeploymentRequest:
        """The request of a rollback, with the data that participants restore."""
        for one in self.participants:
            request = await one.restored(tx, request, earlier)
        return request


def is_lost(closing: "asyncio.Future[Deployment]") -> bool:
    """Whether another process has acquired the lease. Then a failure does not show which file is in
    place."""
    is_done = closing.done() and not closing.cancelled()
    return is_done and isinstance(closing.exception(), LeaseLost)


def not_recorded(record: Deployment, closing: "asyncio.Future[Deployment]") -> NotRecorded:
    """The error for a file that is in place without its record; ``closing`` continues to store
    it."""
    if record.restarted:
        restarted = "and the phone accepted the restart"
    elif record.restarted is None:
        restarted = f"and it is not known whether the phone restarts: {record.restart}"
    else:
        restarted = f"but the phone was not restarted: {record.restart}"
    return NotRecorded(
        f"The configuration is in place, {restarted.rstrip('.')}. The record of this could not be "
        "stored, because the database is not available.",
        closing,
    )
