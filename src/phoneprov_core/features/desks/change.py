"""Logins and logouts as deployments: the orders, and the answer between file and restart."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.model import (
    DeskPolicy,
    DesksTransaction,
    Elsewhere,
    next_end,
)
from phoneprov_core.features.desks.occupancy import DeskChange, with_change
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.inventory.phones.model import Phone, speaks_sip
from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable, require
from phoneprov_core.kernel.ports import Clock, Pause, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.people.permissions import require_still_at
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import Action, Deployment
from phoneprov_core.switching.deployments.order import DeploymentRequest, newest_request
from phoneprov_core.switching.deployments.ports import RunToEnd
from phoneprov_core.switching.devices.ports import Calls, ForgetsCalls, PhoneDriver, is_in_call

ANSWER_SECONDS = 2.0
"""How long the phone is not called while its answer is sent."""

READING_SECONDS = 0.3
"""How long the phone has to show the answer."""

LEAVING_SECONDS = 20
"""Time after which a phone is called if a crash prevented the call."""

log = logging.getLogger("phoneprov.desks")


def login_change(
    policy: DeskPolicy, user_uuid: str, profile_uuid: str, desk: DeskRecord, now: datetime
) -> DeskChange:
    """A login at a desk that begins now. It ends at the time of the desk, if that has one."""
    end = now + timedelta(hours=policy.hours) if policy.hours else None
    if desk.ends_at is not None:
        end = next_end(desk.ends_at, now)
    return DeskChange(
        DeskUse(user_uuid, profile_uuid, None if end is None else timestamp(end)),
        desk.version,
        refuse_elsewhere=policy.elsewhere is Elsewhere.REFUSE,
        end_elsewhere=policy.elsewhere is Elsewhere.MOVE,
    )


class FollowUp(Enum):
    """The next step after a login or logout at the phone."""

    RESTART = "restart"
    START = "start"
    """Level 0 has not confirmed the address of the phone: it restarts through the exchange, if it
    is there, or is restarted by hand."""
    CALL = "call"
    """The phone gets its default profile when its call has ended."""
    NOTHING = "nothing"
    """The phone has no default profile that fits, and keeps its configuration."""


class Changed(Struct, frozen=True):
    """A login or logout whose file is in place. ``answered`` is called once the phone has its
    answer; without it the phone is restarted after ``ANSWER_SECONDS``. It ``is_recorded`` unless
    the database is away. ``user`` is the user who logged in or adopted the phone."""

    after: FollowUp
    answered: Callable[[], None]
    is_recorded: bool = True
    user: User | None = None


@dataclass(eq=False)
class ChangeDesk:
    """Carries out logins and logouts. ``serves_lines`` is whether the exchange asks for lines. A
    change returns when the file is in place. The phone is called after its answer was sent; a phone
    that does not fetch the answer is called all the same."""

    database: ReadAndWrite[DesksTransaction]
    deploy: Deploy
    driver: PhoneDriver
    calls: Calls | None
    run_to_end: RunToEnd[None]
    pause: Pause
    clock: Clock
    _: KW_ONLY
    clear_calls: bool
    serves_lines: bool = False
    _running: set[asyncio.Future[object]] = field(default_factory=set, init=False)

    def has_lines(self, phone: Phone) -> bool:
        """Whether the exchange asks for the lines of a phone when it restarts."""
        return self.serves_lines and not speaks_sip(phone.software_type)

    async def is_in_call(self, phone: Phone) -> bool:
        """Whether the phone is known to be in a call."""
        return await is_in_call(self.calls, phone)

    async def put(self, actor: Actor, order: DeploymentRequest) -> Deployment:
        """Execute an order completely. Raises like ``Deploy``."""
        if order.part(DeskChange) is not None:
            order = replace(order, forgets_calls=self.clear_calls)
        return await self.deploy(actor, order)

    async def put_and_answer(
        self, actor: Actor, order: DeploymentRequest, user: User | None = None
    ) -> Changed:
        """Execute an order until its file is in place; the rest follows. Raises like ``put``."""
        answered = asyncio.Event()
        placed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def answer(is_recorded: bool) -> None:
            placed.set_result(is_recorded)
            await self._answered(answered)

        order = replace(order, answer=answer)
        work: asyncio.Future[Any] = self._start(self.put(actor, order))
        await asyncio.wait({work, placed}, return_when=asyncio.FIRST_COMPLETED)
        if not placed.done():
            await work  # raises
        after = FollowUp.RESTART if order.phone.address_confirmed else FollowUp.START
        return Changed(after, answered.set, placed.result(), user)

    async def leave(
        self, actor: Actor, phone: Phone, version: int | None, *, by_right: bool = False
    ) -> Changed:
        """End the use of a phone that has no default profile: it keeps its file, and leaves its
        services after the answer. It restarts if the exchange asks for its lines, so that it loses
        the lines of the user. Raises ``Conflict`` (code ``desk_changed``), and ``Forbidden`` if the
        right to request it has ended."""
        not_before = millis(self.clock()) + LEAVING_SECONDS * 1000
        async with self.database.write(by=actor) as tx:
            if by_right:
                await require_still_at(tx, actor, require(await tx.phones.find(phone.mac), "phone"))
            before = (await tx.desks.find(phone.mac)).next_version(version)
            desk = before.left(not_before=not_before)
            await tx.desks.put(desk)
            tx.trail.changed(phone.mac, before, desk)
            tx.trail.note(Event("desk.logout", "desk", phone.mac))
        answered = asyncio.Event()
        self._start(self.run_to_end(self._clear(actor, phone, desk.version, answered)))
        return Changed(FollowUp.NOTHING, answered.set)

    async def _clear(
        self, actor: Actor, phone: Phone, version: int, answered: asyncio.Event
    ) -> None:
        """Call the phone that a user has left, and settle its desk. Nothing is called if another
        use followed while this process was paused."""
        await self._answered(answered)
        if not await self._is_current(phone.mac, version):
            return
        with contextlib.suppress(PhoneprovError):
            await self.driver.leave_services(phone)
            if self.clear_calls and isinstance(self.driver, ForgetsCalls):
                await self.driver.forget_calls(phone)
        if self.has_lines(phone) and await self._is_current(phone.mac, version):
            try:
                await self.driver.restart(phone, phone.software_type)
            except PhoneprovError as error:
                log.warning("%s keeps its lines: %s", phone.mac, error.message)
        async with self.database.write(by=actor) as tx:
            current = await tx.desks.find(phone.mac)
            if current.version == version:
                await tx.desks.put(current.settled())

    async def _is_current(self, mac: str, version: int) -> bool:
        try:
            async with self.database.read() as tx:
                return (await tx.desks.find(mac)).version == version
        except Unavailable:
            return True

    async def default_order(
        self, desk: DeskRecord, phone: Phone, action: Action, version: int | None
    ) -> DeploymentRequest | None:
        """The order that puts the default profile back; None if there is none that fits."""
        return await self.order(
            desk.default_profile_uuid, phone, action, DeskChange(DeskUse(), version)
        )

    async def order(
        self, profile_uuid: str | None, phone: Phone, action: Action, desk: DeskChange
    ) -> DeploymentRequest | None:
        """The order for the newest revision of a profile; None without one that fits the phone."""
        order = await newest_request(self.database, self.deploy.texts, action, profile_uuid, phone)
        return None if order is None else with_change(order, desk)

    async def _answered(self, answered: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await answered.wait()
        await self.pause(READING_SECONDS)

    def _start(self, work: Awaitable[object]) -> asyncio.Future[object]:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Future[object]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # it is in the record; the phone has its answer
