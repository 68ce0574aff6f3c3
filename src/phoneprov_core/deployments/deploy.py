"""Deployment of one revision of a profile to one phone, step by step, with its record."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
from msgspec import Struct

from phoneprov_core.deployments.confirm import Confirm
from phoneprov_core.deployments.errors import (
    DeskChanged,
    PhoneBusy,
    PhoneInactive,
    ProfileDoesNotFit,
)
from phoneprov_core.deployments.limits import SwitchLimits
from phoneprov_core.deployments.model import (
    Action,
    Confirmation,
    Deployment,
    Outcome,
    StepName,
)
from phoneprov_core.deployments.ports import (
    DeploymentsTransaction,
    DeskUse,
    Journal,
    Unbroken,
    Watching,
)
from phoneprov_core.deployments.steps import Course, Progress, no_progress
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN
from phoneprov_core.devices.names import DEFAULT_FILENAME_TEMPLATE, config_filename
from phoneprov_core.devices.ports import (
    ConfigUploader,
    ForgetsCalls,
    PhoneDriver,
    Upload,
    Uploaded,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Unavailable, found
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis, shown
from phoneprov_core.kernel.trail import Event, Value
from phoneprov_core.phones.model import Phone, software_type_of
from phoneprov_core.profiles.model import ProfileRecord, Revision

RESTARTED = "ok"
"""The ``restart`` of a record when the command was accepted."""

LEASE_SECONDS = 60
"""Seconds; longer than all deadlines of a deployment together (30 s). A process whose lease expires
no longer runs."""


async def _no_answer() -> None:
    """No phone waits for an answer."""


class DeskChange(Struct, frozen=True):
    """A login or a logout that a deployment carries out: who uses the phone afterwards.

    ``turn`` is the turn of the phone in which it was asked for, None for any. ``answer`` is
    awaited once the file is in place, before the phone is called: the phone that asked gets its
    answer before it is restarted. ``forget_calls`` clears the phone's call history.
    """

    use: DeskUse
    turn: int | None = None
    refuse_elsewhere: bool = False
    end_elsewhere: bool = False
    forget_calls: bool = False
    answer: Callable[[], Awaitable[None]] = _no_answer


class Order(Struct, frozen=True):
    """A phone and the revision for it. ``uuid`` is that of the record; None creates one. ``desk``
    is the login or logout that the deployment belongs to; None for a switch and a rollback."""

    action: Action
    profile: ProfileRecord
    revision: Revision
    cnf_xml: str
    phone: Phone
    uuid: str | None = None
    desk: DeskChange | None = None

    def __repr__(self) -> str:
        return redacted(self, "cnf_xml")


class Deploy:
    """Upload, clear the phone's service session, restart; one at a time per phone.

    The record is created before the upload, contains the file's place before the phone is called,
    and is completed at the end. If the upload fails, this raises and the phone is not restarted. A
    session that cannot be cleared does not prevent the restart; a failed restart is part of the
    record. A deployment runs to its end, also when its caller is cancelled. Whether the phone
    registered again is observed in the background and recorded later.
    """

    def __init__(
        self,
        open_: ReadAndWrite[DeploymentsTransaction],
        uploader: ConfigUploader,
        driver: PhoneDriver,
        confirm: Confirm,
        unbroken: Unbroken[Deployment],
        journal: Journal,
        clock: Clock,
        new_id: NewId,
        *,
        filename_template: str = DEFAULT_FILENAME_TEMPLATE,
        lease_seconds: int = LEASE_SECONDS,
        limits: SwitchLimits | None = None,
    ) -> None:
        self._open = open_
        self._uploader = uploader
        self._driver = driver
        self._confirm = confirm
        self._unbroken = unbroken
        self._journal = journal
        self._clock = clock
        self._new_id = new_id
        self._filename_template = filename_template
        self._lease_seconds = lease_seconds
        self._limits = limits or SwitchLimits()

    def filename(self, phone: Phone) -> str:
        """The name of the phone's configuration file on the server."""
        return config_filename(self._filename_template, phone.mac)

    async def __call__(
        self, actor: Actor, order: Order, progress: Progress = no_progress
    ) -> Deployment:
        """Deploy, and return the record after the restart command.

        Raises ``Conflict`` if the phone is inactive, is not compatible, has no address, or is being
        switched (code ``phone_busy``), if a record of this uuid exists (code ``already_exists``),
        if the phone changed since the turn of a login or logout (code ``desk_changed``), and if
        the user may not be logged in twice (code ``logged_in_elsewhere``); ``TooManyAttempts``
        beyond ``limits``; ``NotFound`` if the revision was removed meanwhile; ``Refused`` and
        ``TimedOut`` if the upload failed. Then the complete old file is in place, or, with the code
        ``OUTCOME_UNKNOWN``, either file.
        """
        require_fitting(order.profile, order.phone)
        return await self._unbroken(self._carry_out(actor, order, progress))

    async def _carry_out(self, actor: Actor, order: Order, progress: Progress) -> Deployment:
        phone = order.phone
        record = await self._begun(actor, order)
        course = Course(self._clock, progress)
        watching: Watching | None = None

        async def watch() -> None:
            nonlocal watching
            watching = await self._confirm.begin(phone, family)

        try:
            uploaded = await course.step(StepName.UPLOAD, self._upload(order, record))
            record = msgspec.structs.replace(
                record, outcome=Outcome.DEPLOYED, place=uploaded.place, steps=tuple(course.steps)
            )
            family = software_type_of(phone, order.profile.software_type)
            # Concurrently: the duration is that of the slower one.
            await asyncio.gather(
                course.settled(StepName.CLEAR_SESSION, self._clear_session(actor, order, record)),
                watch(),
            )
            record = await self._noted(
                actor, msgspec.structs.replace(record, steps=tuple(course.steps))
            )
            restarted = await course.settled(StepName.RESTART, self._driver.restart(phone, family))
            record = msgspec.structs.replace(record, restart=restarted.message or RESTARTED)
        except PhoneprovError as error:
            is_unknown = error.code == OUTCOME_UNKNOWN
            record = msgspec.structs.replace(
                record,
                outcome=Outcome.UNKNOWN if is_unknown else Outcome.FAILED,
                place=record.filename if is_unknown else None,
                failed_step=course.steps[-1].name,
                message=error.message,
            )
            raise
        finally:
            if watching is not None and record.restart != RESTARTED:
                await watching.close()
                watching = None
            record = self._completed(record, course, is_watched=watching is not None)
            try:
                await self._keep(actor, order, record)
            except BaseException:
                if watching is not None:
                    await watching.close()
                raise
            self._journal(record)
        if watching is not None:
            self._confirm.later(record, watching)
        return record

    async def _begun(self, actor: Actor, order: Order) -> Deployment:
        """Create the record and acquire the lease of the phone."""
        content = order.cnf_xml.encode()
        record = Deployment(
            uuid=order.uuid or self._new_id(),
            mac=order.phone.mac,
            number=0,
            action=order.action,
            profile_uuid=order.profile.uuid,
            profile_name=order.profile.name,
            revision=order.revision.number,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
            owner_uuid=order.profile.user_uuid,
            user_uuid=actor.user_uuid,
            filename=self.filename(order.phone),
            place=None,
            outcome=Outcome.RUNNING,
            failed_step=None,
            message=None,
            steps=(),
            restart=None,
            confirmation=Confirmation.NONE,
            confirmation_message=None,
            confirmation_by=None,
            confirmation_at=None,
            created_at=shown(self._clock()),
            ended_at=None,
        )
        async with self._open.write(by=actor) as tx:
            fence = await tx.leases.take(record.mac, record.uuid, self._lease_seconds)
            if fence is not None:
                # A revision that was removed meanwhile could not be deployed again by a rollback.
                found(await tx.revisions.find(record.profile_uuid, record.revision), "revision")
                # A logout takes back a switch or a login, which was counted.
                if order.desk is None or order.desk.use.user_uuid is not None:
                    now = millis(self._clock())
                    await self._limits.count(tx.rates, actor, record.mac, now)
                # The time is read again: an earlier holder may have released the phone only now.
                record = msgspec.structs.replace(
                    record, number=fence, created_at=shown(self._clock())
                )
                await tx.deployments.add(record)
                if order.desk is not None:
                    await _begin_change(tx, order.desk, record)
                elif order.uuid is None:  # a batch repeats a switch that a crash interrupted
                    await tx.desks.begin_change(record.mac, record.uuid, None)
                fields = {
                    "mac": record.mac,
                    "action": record.action.value,
                    "profile_uuid": record.profile_uuid,
                    "revision": record.revision,
                }
                tx.trail.note(Event("deployment.created", "deployment", record.uuid, fields))
        if fence is None:
            raise PhoneBusy
        return record

    async def _upload(self, order: Order, record: Deployment) -> Uploaded:
        content = order.cnf_xml.encode()
        return await self._uploader.upload(
            Upload(order.phone.phone_ip, record.filename, content, record.uuid)
        )

    async def _clear_session(self, actor: Actor, order: Order, record: Deployment) -> None:
        """Record the file's place and who uses the phone from now on, in one transaction. Then
        have the phone leave its services, and forget its calls if it changes hands."""
        phone, desk = order.phone, order.desk
        try:
            async with self._open.write(by=actor) as tx:
                await tx.deployments.put(msgspec.structs.replace(record, outcome=Outcome.RUNNING))
                await self._use(tx, order)
        finally:
            if desk is not None:
                await desk.answer()
        await self._driver.leave_services(phone)
        if desk is not None and desk.forget_calls and isinstance(self._driver, ForgetsCalls):
            await self._driver.forget_calls(phone)

    async def _use(self, tx: DeploymentsTransaction, order: Order) -> None:
        mac, now = order.phone.mac, shown(self._clock())
        if await tx.phones.find(mac) is None:
            return
        if order.desk is not None:
            use = order.desk.use
        elif await tx.desks.default_profile(mac) == order.profile.uuid:
            use = DeskUse()
        else:
            use = DeskUse(order.profile.user_uuid, order.profile.uuid)
        # Held until the end of the transaction: of two logins of a user one ends the other.
        user = await tx.users.find(use.user_uuid) if use.user_uuid else None
        if user is not None and order.desk is not None and order.desk.end_elsewhere:
            await tx.desks.end_elsewhere(user.uuid, mac)
        await tx.desks.use(mac, use, now)
        if use.user_uuid and (user is None or not user.is_active):
            # Deleted or deactivated during the upload: the phone gets its default profile back.
            await tx.desks.end_user(use.user_uuid)

    async def _noted(self, actor: Actor, record: Deployment) -> Deployment:
        """Store the steps so far, so that a caller can watch them. The deployment does not depend
        on it: a database that is away does not stop the restart."""
        with suppress(Unavailable):
            async with self._open.write(by=actor) as tx:
                await tx.deployments.put(msgspec.structs.replace(record, outcome=Outcome.RUNNING))
        return record

    def _completed(self, record: Deployment, course: Course, *, is_watched: bool) -> Deployment:
        now = self._clock()
        if record.outcome is Outcome.RUNNING:
            record = msgspec.structs.replace(record, outcome=Outcome.INTERRUPTED)
        if is_watched:
            record = self._confirm.awaited(record)
        return msgspec.structs.replace(record, steps=tuple(course.steps), ended_at=shown(now))

    async def _keep(self, actor: Actor, order: Order, record: Deployment) -> None:
        """Complete the record and release the phone."""
        async with self._open.write(by=actor) as tx:
            await tx.deployments.put(record)
            tx.trail.note(_ended(record))
            await tx.leases.release(record.mac, record.uuid, record.number)
            if record.outcome in (_SETTLED if order.desk is not None else _REPORTED):
                await tx.desks.end_change(record.mac, record.uuid)


_OF_DESKS = frozenset({Action.LOGIN, Action.LOGOUT, Action.EXPIRY})
_SETTLED = frozenset({Outcome.DEPLOYED, Outcome.FAILED})
"""After any other outcome of a login or logout the file on the server may be the old or the new
one: the change stays recorded, and is repaired."""
_REPORTED = _SETTLED | {Outcome.UNKNOWN}
"""Outcomes of a switch or rollback that leave the next step to its caller."""


async def _begin_change(tx: DeploymentsTransaction, desk: DeskChange, record: Deployment) -> None:
    """Raises ``Conflict``."""
    user_uuid = desk.use.user_uuid
    if user_uuid and desk.refuse_elsewhere:
        await tx.users.find(user_uuid)  # of two logins of a user one waits here
        if await tx.desks.is_elsewhere(user_uuid, record.mac):
            raise Conflict(
                "You are logged in at another phone. Log out there first.",
                code="logged_in_elsewhere",
            )
    if not await tx.desks.take_turn(record.mac, desk.turn):
        raise DeskChanged
    await tx.desks.begin_change(record.mac, record.uuid, user_uuid)


def _ended(record: Deployment) -> Event:
    """The event of a deployment that ended: ``phone.switched`` and the like once the phone has
    the configuration, else ``phone.switch_failed``."""
    resource = "phone"
    verb = {Action.SWITCH: "switched", Action.ROLLBACK: "rolled_back"}.get(
        record.action, record.action.value
    )
    if record.outcome is not Outcome.DEPLOYED:
        verb = "switch_failed"
    elif record.action in _OF_DESKS:
        resource, verb = "desk", record.action.value
    fields: dict[str, Value] = {
        "deployment_uuid": record.uuid,
        "profile_uuid": record.profile_uuid,
        "profile_name": record.profile_name,
        "revision": record.revision,
        "outcome": record.outcome.value,
        "restart": record.restart,
    }
    return Event(f"{resource}.{verb}", resource, record.mac, fields)


def require_fitting(profile: ProfileRecord, phone: Phone) -> None:
    """Raises ``Conflict`` if the phone is not active or not compatible with the profile."""
    if not phone.is_active:
        raise PhoneInactive
    objection = profile.objection_to(phone)
    if objection:
        raise ProfileDoesNotFit(f"The profile does not fit this phone: {objection}.")
