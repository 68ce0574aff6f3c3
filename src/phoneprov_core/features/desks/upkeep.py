"""Background work of desks: the end of logins, due logouts, interrupted changes."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from msgspec.structs import replace

from phoneprov_core.features.desks.change import ChangeDesk, login_change
from phoneprov_core.features.desks.model import DeskPolicy, DesksTransaction
from phoneprov_core.features.desks.occupancy import DeskChange
from phoneprov_core.features.desks.records import DeskRecord, DeskUse, Due, end_use
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.switching.deployments.model import Action, Deployment, Outcome
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.deployments.ports import current_of

RETRY_SECONDS = 60
"""Pause before the next attempt after a phone could not get its profile."""

SAME_SECONDS = 600
"""Longer pause if the reason has not changed, because each attempt adds a record."""

REPEAT_SECONDS = 10
"""Time between an interrupted change and its repair, in which the caller may repeat the change."""

_MOST = 200
_AT_ONCE = 8

log = logging.getLogger("phoneprov.desks")


@dataclass(frozen=True)
class KeepDesks:
    """Ends expired logins, and completes due logouts and interrupted changes.

    A desk is unsettled when a logout is due (the time is over, the user moved, was deleted or
    deactivated), or when a crash interrupted a login, logout, switch or rollback. Then the phone
    gets the profile of the user that is logged in at the desk, else the default profile. After an
    interrupted logout it is the default profile.
    """

    database: ReadAndWrite[DesksTransaction]
    change: ChangeDesk
    actor: Actor
    clock: Clock
    policy: DeskPolicy
    repeat_seconds: int = REPEAT_SECONDS

    async def __call__(self) -> int:
        """Settle every desk that can be settled now. Returns the number of settled desks. Raises
        ``Unavailable``."""
        now = self.clock()
        async with self.database.read() as tx:
            unsettled = await tx.desks.unsettled(timestamp(now), millis(now), _MOST)
        if not unsettled:
            return 0
        turns = asyncio.Semaphore(_AT_ONCE)

        async def settled(desk: DeskRecord) -> bool:
            async with turns:
                if desk.is_over(timestamp(now)):
                    await self._expire(desk.mac, timestamp(now))
                return await self.settle(desk.mac)

        return sum(await asyncio.gather(*map(settled, unsettled)))

    async def _expire(self, mac: str, now: str) -> None:
        async with self.database.write(by=self.actor) as tx:
            desk = await tx.desks.find(mac)
            if desk.is_over(now):
                await end_use(tx, desk, Due.EXPIRY)
                tx.trail.note(Event("desk.expired", "desk", mac))

    async def settle(self, mac: str) -> bool:
        """Settle one desk, if it is unsettled and its phone can be called now. Returns whether the
        desk was settled."""
        async with self.database.read() as tx:
            state = await tx.desks.at(mac)
            holder = await tx.leases.holder(mac)
            change_uuid = state and state.desk.change_uuid
            interrupted = await tx.deployments.find(change_uuid) if change_uuid else None
        if holder is not None:
            return False  # a change is under way
        if state is None:
            return False  # deleted; its desk goes with it
        desk, phone = state.desk, state.phone
        if not desk.waits(holder):
            return False
        if interrupted is not None and self._may_be_repeated(interrupted):
            return False
        if await self.change.is_in_call(phone):
            return False
        try:
            has_lines = phone.is_active and self.change.has_lines(phone)
            if desk.due is Due.LINES and not has_lines:
                await self._keep(desk)
                return True
            order = await self._order(desk, phone, interrupted)
            if order is not None:
                await self.change.put(self.actor, order)
            else:
                (await self.change.leave(self.actor, phone, desk.version)).answered()
        except PhoneprovError as error:
            # Its message names no secret.
            log.warning("The desk %s is not settled yet: %s", mac, error.message)
            await self._postpone(desk, error.message)
            return False
        return True

    async def _keep(self, desk: DeskRecord) -> None:
        """Keep the configuration of a phone whose lines are not in the exchange."""
        async with self.database.write(by=self.actor) as tx:
            current = await tx.desks.find(desk.mac)
            if current.version == desk.version:
                kept = replace(current, due=None, left_user_uuid=None, problem=None)
                await tx.desks.put(kept)
                tx.trail.changed(desk.mac, current, kept)

    def _may_be_repeated(self, interrupted: Deployment) -> bool:
        """Whether the interruption was detected just now."""
        since = timestamp(self.clock() - timedelta(seconds=self.repeat_seconds))
        return interrupted.outcome is Outcome.INTERRUPTED and (interrupted.ended_at or "") > since

    async def _postpone(self, before: DeskRecord, problem: str) -> None:
        """Schedule the next attempt. A failed attempt ends its own change, but the interrupted
        change remains to be completed."""
        pause = SAME_SECONDS if problem == before.problem else RETRY_SECONDS
        async with self.database.write(by=self.actor) as tx:
            desk = await tx.desks.find(before.mac)
            if not desk.waits(None) and before.change_uuid and desk.has_use_of(before):
                desk = desk.changing(before.change_uuid, before.change_user_uuid)
            if desk.waits(None):
                not_before = millis(self.clock()) + pause * 1000
                await tx.desks.put(replace(desk, not_before=not_before, problem=problem))

    async def _order(
        self, desk: DeskRecord, phone: Phone, interrupted: Deployment | None
    ) -> DeploymentRequest | None:
        """The order that gives the phone the configuration recorded at the desk; None if there is
        no such configuration. A logout that was interrupted is completed: its file may be in
        place."""
        use = DeskUse(desk.user_uuid, desk.profile_uuid, desk.until)
        if interrupted is not None and interrupted.action is Action.LOGOUT:
            use = DeskUse()
        if use.user_uuid is not None:
            change = DeskChange(use, desk.version)
            order = await self.change.order(desk.profile_uuid, phone, Action.LOGIN, change)
            if order is not None:
                return order
        action = Action.EXPIRY if desk.due is Due.EXPIRY else Action.LOGOUT
        order = await self.change.default_order(desk, phone, action, desk.version)
        if order is None and desk.change_uuid is not None:
            order = await self._known_content(desk, phone, use, interrupted)
        return order

    async def _known_content(
        self, desk: DeskRecord, phone: Phone, use: DeskUse, interrupted: Deployment | None
    ) -> DeploymentRequest | None:
        """For a phone without a default profile: the configuration known to be on it. If none is
        known, the configuration of the interrupted deployment, with its user."""
        async with self.database.read() as tx:
            current = await current_of(tx.deployments, phone)
        content = current or interrupted
        if content is None:
            return None
        action = Action.EXPIRY if desk.due is Due.EXPIRY else Action.LOGOUT
        is_left = content.owner_uuid in {desk.user_uuid, desk.left_user_uuid}
        change = DeskChange(use, desk.version, left=is_left)
        if current is None and content.action in _LOGIN_ACTIONS:
            action, change = content.action, await self._brought(content, desk)
        return await self.change.order(content.profile_uuid, phone, action, change)

    async def _brought(self, content: Deployment, desk: DeskRecord) -> DeskChange:
        """The user of an interrupted deployment; none if its user has logged in elsewhere since."""
        user_uuid, profile_uuid = content.owner_uuid, content.profile_uuid
        if content.action is not Action.LOGIN:
            return DeskChange(DeskUse(user_uuid, profile_uuid), desk.version)
        async with self.database.read() as tx:
            others = await tx.desks.of(user=user_uuid)
        if any((one.since or "") > content.created_at for one in others if one.mac != desk.mac):
            return DeskChange(DeskUse(), desk.version, left=True)
        return login_change(self.policy, user_uuid, profile_uuid, desk, self.clock())


_LOGIN_ACTIONS = frozenset({Action.LOGIN, Action.SWITCH, Action.ROLLBACK})
"""The actions that log a user in at a phone."""
