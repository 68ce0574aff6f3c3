"""The switch, a restart without one, and reading the record of deployments."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import Phone, software_type_of
from phoneprov_core.inventory.phones.use_cases import PhoneBusy
from phoneprov_core.kernel.actor import (
    Actor,
    Event,
    Value,
    may_act_for,
    may_see_people,
    require_people,
)
from phoneprov_core.kernel.commands import require_same
from phoneprov_core.kernel.errors import PhoneprovError, TimedOut, require, retrieved
from phoneprov_core.kernel.fields import StoredMac
from phoneprov_core.kernel.ports import (
    NEWEST,
    Clock,
    Listing,
    NewestRows,
    Page,
    ReadAndWrite,
    limit_by_key,
    listing,
)
from phoneprov_core.kernel.values import known_id, known_mac, millis, timestamp
from phoneprov_core.people.access import covers, places_of, require_at
from phoneprov_core.people.permissions import require_still_at
from phoneprov_core.switching.deployments.deploy import CLOSING_SECONDS, Deploy
from phoneprov_core.switching.deployments.model import (
    RESTARTED,
    Deployment,
    DeploymentFilter,
    StepName,
    shown_to,
)
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction, RunToEnd
from phoneprov_core.switching.deployments.steps import (
    Held,
    Holding,
    RestartGate,
    StepRecorder,
    no_progress,
    persistently,
)
from phoneprov_core.switching.devices.ports import Calls, is_in_call
from phoneprov_core.switching.errors import LeaseLost, PhoneInactive, PhoneInCall, RestartUnknown


class Restarted(Struct, frozen=True):
    """A phone whose restart was accepted."""

    mac: StoredMac


@dataclass(frozen=True)
class RestartPhone:
    """Restarts a phone that keeps its configuration, for level 0 and for a right at the phone. The
    phone's lease is held meanwhile, as in a switch, and the limits of switches count it. Both the
    request and its result are audit entries."""

    database: ReadAndWrite[DeploymentsTransaction]
    deploy: Deploy
    calls: Calls | None
    run_to_end: RunToEnd[Any]

    async def __call__(self, actor: Actor, mac: str) -> Restarted:
        """Raises ``Forbidden``, also if the right ended meanwhile; ``NotFound``, ``PhoneInactive``,
        ``PhoneInCall``, ``PhoneBusy``, ``TooManySwitches``, and like ``PhoneDriver``:
        ``RestartUnknown`` for a command that was sent and whose reply was lost, and ``LeaseLost``
        if the process was paused while it sent a command."""
        require_people(actor)
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
        require_at(actor, phone)
        if not phone.is_active:
            raise PhoneInactive
        if await is_in_call(self.calls, phone):
            raise PhoneInCall
        restarted: Restarted = await self.run_to_end(self._run(actor, phone.mac))
        return restarted

    async def _run(self, actor: Actor, mac: str) -> Restarted:
        records = self.deploy.records
        holding, phone, family = await self._taken(actor, mac)

        async def is_held() -> bool:
            await holding.look()
            return True

        gate: RestartGate[DeploymentsTransaction] = RestartGate(holding, is_held)
        recorder = StepRecorder(records.clock, no_progress)
        failure: PhoneprovError | None = None
        try:
            order = self.deploy.driver.restart(phone, family, gate)
            await recorder.step(StepName.RESTART, order)
        except LeaseLost:
            if gate.is_open:
                failure = LeaseLost(f"{_PAUSED} The phone may restart.")
            else:
                failure = TimedOut(f"{_PAUSED} Nothing was sent to the phone.")
        except PhoneprovError as error:
            is_lost = recorder.steps[-1].ok is None
            failure = RestartUnknown(error.message) if is_lost else error

        async def store() -> None:
            result = failure.message if failure else RESTARTED
            async with self.database.write(by=actor) as tx:
                tx.trail.note(_event("restarted", phone, result=result))
                await tx.leases.release(phone.mac, holding.holder, holding.fence)

        # A database that is away now does not change what happened to the phone.
        closing = asyncio.ensure_future(self.run_to_end(persistently(store, records.pause)))
        closing.add_done_callback(retrieved)
        await asyncio.wait({closing}, timeout=CLOSING_SECONDS)
        if failure is not None:
            raise failure
        return Restarted(phone.mac)

    async def _taken(self, actor: Actor, mac: str) -> tuple[Held, Phone, str | None]:
        """The lease of the phone, the phone as it is now, and its firmware family as far as is
        known."""
        records = self.deploy.records
        holder, seconds = records.new_id(), records.lease_seconds
        until = records.clock() + timedelta(seconds=seconds)
        async with self.database.write(by=actor) as tx:
            fence = await tx.leases.take(mac, holder, seconds)
            if fence is None:
                raise PhoneBusy
            phone = require(await tx.phones.find(mac), "phone")
            await require_still_at(tx, actor, phone)
            if not phone.is_active:
                raise PhoneInactive
            await records.limits.count(tx.rates, actor, mac, millis(records.clock()))
            current = await tx.deployments.current(mac)
            on_it = None if current is None else await tx.profiles.find(current.profile_uuid)
            tx.trail.note(_event("restart_requested", phone))
        family = software_type_of(phone, on_it.software_type if on_it else None)
        holding = Holding(self.database, records.clock, mac, holder, fence, until)
        return holding, phone, family


_PAUSED = "The restart was interrupted: the service was paused for too long."


def _event(verb: str, phone: Phone, **fields: Value) -> Event:
    return Event(f"phone.{verb}", "phone", phone.mac, fields)


@dataclass(frozen=True)
class Deployments:
    """Reads the record. Level 0 sees all deployments; other users see deployments that they
    requested, deployments of profiles that they owned at the time, and with a right deployments to
    phones that are in its scope now."""

    database: ReadAndWrite[DeploymentsTransaction]
    clock: Clock

    async def all(
        self, actor: Actor, wanted: DeploymentFilter | None = None, page: Page = None
    ) -> Listing[Deployment]:
        """The deployments that match the filter and that the caller may see, oldest first. With
        ``before``, a page by key after that deployment, newest first, without a total."""
        return await self._listing(actor, wanted or DeploymentFilter(), page)

    async def get(self, actor: Actor, uuid: str) -> Deployment:
        """Raises ``NotFound``, also if the caller may not see it."""
        async with self.database.read() as tx:
            return await self._shown(tx, actor, await tx.deployments.find(known_id(uuid)))

    async def of_phone(
        self, actor: Actor, mac: str, wanted: DeploymentFilter | None = None, page: Page = None
    ) -> Listing[Deployment]:
        """The deployments of one phone that the caller may see, oldest first, with the deployments
        of phones that it replaced. Raises ``NotFound`` for an unknown phone without any."""
        mac = require(known_mac(mac), "phone")
        async with self.database.read() as tx:
            also = await tx.replacements.earlier(mac)
            places = await places_of(actor, tx.phones)
            history = tx.deployments.matching(DeploymentFilter(mac=mac), also=also, places=places)
            if not await history.count(_whose(actor)):
                require(await tx.phones.find(mac), "phone")
        chosen = wanted or DeploymentFilter()
        require_same("mac", chosen.mac or UNSET, mac)
        wanted = replace(chosen, mac=mac)
        return await self._listing(actor, wanted, page, () if chosen.current else also)

    async def current(self, actor: Actor, mac: str) -> Deployment:
        """The current deployment of a phone. Raises ``NotFound`` if the caller sees none."""
        async with self.database.read() as tx:
            return await self._shown(tx, actor, await tx.deployments.current(known_mac(mac)))

    async def _shown(
        self, tx: DeploymentsTransaction, actor: Actor, deployment: Deployment | None
    ) -> Deployment:
        visible = deployment if deployment and await sees(tx, actor, deployment) else None
        return shown_to(actor, require(visible, "deployment").as_of(timestamp(self.clock())))

    async def _listing(
        self, actor: Actor, wanted: DeploymentFilter, page: Page, also: Sequence[str] = ()
    ) -> Listing[Deployment]:
        """Raises ``NotFound`` without a deployment ``before`` that the caller may see."""
        now, before = timestamp(self.clock()), wanted.before
        wanted = replace(wanted, before=None)
        owner, places = _whose(actor), None
        if actor.scope:
            async with self.database.read() as tx:
                places = await places_of(actor, tx.phones)

        def matching(tx: DeploymentsTransaction) -> NewestRows[Deployment]:
            return tx.deployments.matching(wanted, also=also, places=places)

        if before is None:
            found = await listing(self.database.read, matching, page, owner=owner)
        else:
            limit, last = limit_by_key(page, "before"), None
            async with self.database.read() as tx:
                if before != NEWEST:
                    last = await self._shown(tx, actor, await tx.deployments.find(before))
                found = Listing(await matching(tx).newest(limit, before=last, owner=owner))
        return found.mapped(lambda deployment: shown_to(actor, deployment.as_of(now)))


def _whose(actor: Actor) -> str | None:
    """The account whose deployments the caller sees besides the scope; None for all."""
    return None if may_see_people(actor) and not actor.scope else actor.user_uuid


async def sees(tx: DeploymentsTransaction, actor: Actor, deployment: Deployment) -> bool:
    """Whether the caller may see a deployment, also by a right: its phone is in scope now."""
    if may_see(actor, deployment) or not may_see_people(actor):
        return may_see(actor, deployment)
    phone = await tx.phones.find(deployment.mac)
    return covers(actor.scope, phone.location if phone else None)


def may_see(actor: Actor, deployment: Deployment) -> bool:
    """Whether the caller may see a deployment without a right."""
    return may_act_for(actor, deployment.owner_uuid) or actor.user_uuid == deployment.user_uuid
