"""Deployment of one revision of a profile to one phone, step by step, with its record."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import TypeAlias

from msgspec.structs import replace

from phoneprov_core.features.templates.recipes import Rendering
from phoneprov_core.inventory.phones.model import Phone, software_type_of
from phoneprov_core.inventory.phones.ports import PhoneBusy
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import Conflict, NotFound, PhoneprovError, Unavailable, require
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, NewId, Pause, millis, timestamp
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.limits import DEFAULT_LIMITS, SwitchLimits, require_rights
from phoneprov_core.switching.deployments.model import (
    RESTARTED,
    Action,
    Deployment,
    LeaseLost,
    NotRecorded,
    Outcome,
    PhoneInactive,
    StepName,
)
from phoneprov_core.switching.deployments.observation import Watching
from phoneprov_core.switching.deployments.order import (
    DeploymentRequest,
    TemplateSource,
    begun_event,
    ended_event,
    load_order,
    new_record,
    require_fitting,
    rollback_target,
)
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction, Journal, RunToEnd
from phoneprov_core.switching.deployments.steps import (
    MOST_TRIES,
    Holding,
    Progress,
    StepRecorder,
    no_progress,
    persistently,
)
from phoneprov_core.switching.deployments.use import begin_change, change_use
from phoneprov_core.switching.devices.names import DEFAULT_FILENAME_TEMPLATE, config_filename
from phoneprov_core.switching.devices.ports import (
    NO_UPLOAD,
    OUTCOME_UNKNOWN,
    AddressNotConfirmed,
    ConfigUploader,
    Content,
    ForgetsCalls,
    NoAddress,
    PhoneDriver,
    Upload,
    Uploaded,
)

LEASE_SECONDS = 60
"""Seconds; longer than all deadlines of a deployment together (30 s). A process whose lease expires
has ended, or stands still: it looks at its lease before it goes on."""

STORING_SECONDS = 3.0
"""How long a deployment that runs waits for the database."""

CLOSING_SECONDS = 4.0
"""How long the caller waits until the end is stored; it is tried again after that."""

Held: TypeAlias = Holding[DeploymentsTransaction]

log = logging.getLogger("phoneprov.deployments")


@dataclass(frozen=True)
class Deploy:
    """Upload, clear the phone's service session, restart; one at a time per phone.

    The record is created before the upload, contains the file's place before the phone is called,
    and is completed at the end. If the upload fails, this raises and the phone is not restarted. A
    session that cannot be cleared does not prevent the restart; a failed restart is part of the
    record, and so is a command whose reply was lost: then the watch of the phone decides. A
    deployment runs to its end, also when its caller is cancelled. Whether the phone
    registered again is observed in the background and recorded later.

    Each write after the first compares the fence of the lease in its transaction, and so does the
    uploader before it renames: a process that stood still for longer than its lease changes nothing
    more. While the database is away, the deployment goes on; its end is stored later.
    """

    database: ReadAndWrite[DeploymentsTransaction]
    uploader: ConfigUploader
    driver: PhoneDriver
    confirm: Confirm
    run_to_end: RunToEnd[Deployment]
    journal: Journal
    clock: Clock
    new_id: NewId
    pause: Pause
    _: KW_ONLY
    rendering: Rendering
    filename_template: str = DEFAULT_FILENAME_TEMPLATE
    lease_seconds: int = LEASE_SECONDS
    limits: SwitchLimits = DEFAULT_LIMITS
    serves_lines: bool = False
    several_logins: bool = False
    """Whether a user may be logged in at several phones."""

    def filename(self, phone: Phone) -> str:
        """The name of the phone's configuration file on the server."""
        return config_filename(self.filename_template, phone.mac)

    async def __call__(
        self, actor: Actor, order: DeploymentRequest, progress: Progress = no_progress
    ) -> Deployment:
        """Deploy, and return the record after the restart command.

        Raises ``Conflict`` if the phone is inactive, is not compatible, if the template cannot be
        rendered (code ``template_fails``), if the phone has no address, or is being
        switched (code ``phone_busy``), if a record of this uuid exists (code ``already_exists``),
        if the phone changed since the turn of a login or logout (code ``desk_changed``), and if
        the user may not be logged in twice (code ``logged_in_elsewhere``); ``TooManyAttempts``
        beyond ``limits``; ``NotFound`` if the phone or the revision was removed meanwhile;
        ``Refused`` and ``TimedOut`` if the upload failed. Then the complete old file is in place,
        or, with the code ``OUTCOME_UNKNOWN``, either file. ``LeaseLost`` if the process stood still
        for longer than its lease; ``NotRecorded`` if the file is in place and the database is away.
        """
        require_fitting(order.profile, order.phone)
        order = await self.rendered(order)
        return await self.run_to_end(self._run(actor, order, progress))

    async def rendered(self, order: DeploymentRequest) -> DeploymentRequest:
        """The order with its text. Raises ``TemplateFails``."""
        if order.recipe is None:
            return order
        template, rendered = order.recipe.template, await self.rendering(order.recipe)
        source = TemplateSource(template.uuid, template.revision, template.name, rendered)
        return replace(order, cnf_xml=rendered.text, recipe=None, source=source)

    async def order_for(
        self, profile_uuid: str | None, phone: Phone, action: Action
    ) -> DeploymentRequest | None:
        """The order for the newest revision of a profile; None if it does not exist or does not
        fit the phone."""
        async with self.database.read() as tx:
            profile = await tx.profiles.find(profile_uuid or "")
            try:
                order = await load_order(tx, action, profile, phone) if profile else None
            except (Conflict, NotFound):  # no variant of its template fits
                return None
        if order is None:
            return None
        try:
            require_fitting(order.profile, phone)
            return await self.rendered(order)
        except Conflict:
            return None

    async def _run(self, actor: Actor, order: DeploymentRequest, progress: Progress) -> Deployment:
        phone = order.phone
        record, holding, replaces = await self._begin(actor, order)
        recorder = StepRecorder(self.clock, progress)
        watching: Watching | None = None
        unwatched: str | None = None
        failure: PhoneprovError | None = None

        async def watch() -> None:
            nonlocal watching, unwatched
            try:
                watching = await self.confirm.watch.begin(phone, family)
            except PhoneprovError as error:
                unwatched = error.message

        async def clear_session() -> None:
            work = self._clear_session(actor, order, record, holding)
            await recorder.attempt(StepName.CLEAR_SESSION, work)

        try:
            upload = self._upload(order, record, replaces, holding)
            uploaded = await recorder.step(StepName.UPLOAD, upload)
            record = replace(
                record, outcome=Outcome.DEPLOYED, place=uploaded.place, steps=tuple(recorder.steps)
            )
            family = software_type_of(phone, order.profile.software_type)
            # Concurrently: the duration is that of the slower one.
            await asyncio.gather(clear_session(), watch())
            record = replace(record, steps=tuple(recorder.steps))
            # The steps so far, so that a caller can watch them.
            if not await self._stored(actor, order, record, holding):
                holding.require_time()
            restarted = await recorder.attempt(StepName.RESTART, self.driver.restart(phone, family))
            record = replace(record, restart=restarted.message or RESTARTED)
        except LeaseLost:
            if watching is not None:
                await watching.close()
            await self._interrupt()
            self.journal(self._ended(replace(record, outcome=Outcome.RUNNING), recorder))
            raise
        except PhoneprovError as error:
            is_unknown = error.code == OUTCOME_UNKNOWN
            failure = error
            record = replace(
                record,
                outcome=Outcome.UNKNOWN if is_unknown else Outcome.FAILED,
                place=record.filename if is_unknown else None,
                failed_step=recorder.steps[-1].name,
                message=error.message,
            )
        except BaseException:  # cancelled, or a fault of an adapter
            if watching is not None:
                await watching.close()
            record = self._ended(record, recorder)
            with suppress(Unavailable, LeaseLost):
                await self._complete(actor, order, record, holding)
            self.journal(record)
            raise
        record = self._ended(record, recorder)
        if watching is not None and record.restarted is False:
            await watching.close()
            watching, unwatched = None, "The phone was not restarted."
        if watching is not None:
            record = self.confirm.awaited(record)
        elif record.restart is not None:
            record = replace(record, confirmation_message=unwatched)
        # A database that is away now does not change what happened to the phone.
        closing = asyncio.ensure_future(self.run_to_end(self._close(actor, order, record, holding)))
        try:
            await asyncio.wait({closing}, timeout=CLOSING_SECONDS)
        finally:
            if watching is not None:
                self.confirm.later(record, watching, family, after=closing)
        if failure is not None and not _is_lost(closing):
            closing.add_done_callback(_retrieved)
            raise failure
        if not closing.done():
            raise _not_recorded(record, closing)
        try:
            return closing.result()
        except Unavailable:
            raise _not_recorded(record, closing) from None

    async def _begin(
        self, actor: Actor, order: DeploymentRequest
    ) -> tuple[Deployment, Held, Content | None]:
        """Create the record and acquire the lease of the phone. Returns also the content that the
        file on the server has, if no other program changed it; None if it is not known."""
        until = self.clock() + timedelta(seconds=self.lease_seconds)
        uuid, filename = order.uuid or self.new_id(), self.filename(order.phone)
        replaces: Content | None = None
        record = new_record(order, uuid, actor.user_uuid, filename, timestamp(self.clock()))
        async with self.database.write(by=actor) as tx:
            fence = await tx.leases.take(record.mac, record.uuid, self.lease_seconds)
            if fence is not None:
                # It may have been deleted, created again or deactivated since the order was made.
                phone = await tx.phones.find(record.mac)
                if phone is None or phone.created_at != order.phone.created_at:
                    raise NotFound("There is no such phone.")
                if not phone.is_active:
                    raise PhoneInactive
                if order.checks_rights:
                    await require_rights(tx, order)
                # A revision that was removed meanwhile could not be deployed again by a rollback.
                require(await tx.revisions.find(record.profile_uuid, record.revision), "revision")
                # A logout takes back a switch or a login, which was counted.
                if order.desk is None or order.desk.use.user_uuid is not None:
                    now = millis(self.clock())
                    await self.limits.count(tx.rates, actor, record.mac, now)
                # The time is read again: an earlier holder may have released the phone only now.
                record = replace(record, number=fence, created_at=timestamp(self.clock()))
                before = await tx.deployments.in_place(record.mac)
                if before is not None and before.filename == filename:
                    replaces = before.content
                await tx.deployments.add(record)
                if order.source is not None:
                    now_there = await tx.deployments.current(record.mac)
                    target = await rollback_target(tx.deployments, record.mac)
                    needed = [one for one in (now_there, target) if one is not None]
                    await tx.renderings.keep(record, order.source.rendered, needed)
                if order.desk is not None:
                    await begin_change(tx, order.desk, record)
                elif not order.is_of_batch:  # a batch repeats a switch that a crash interrupted
                    desk = await tx.desks.find(record.mac)
                    await tx.desks.put(desk.changing(record.uuid))
                tx.trail.note(begun_event(record))
        if fence is None:
            raise PhoneBusy
        holding = Holding(self.database, self.clock, record.mac, record.uuid, fence, until)
        return record, holding, replaces

    async def _upload(
        self, order: DeploymentRequest, record: Deployment, replaces: Content | None, holding: Held
    ) -> Uploaded:
        content, phone = order.cnf_xml.encode(), order.phone
        ip, name = phone.login_ip, record.filename
        upload = Upload(ip, name, content, record.uuid, replaces, holding.look)
        try:
            return await self.uploader.upload(upload)
        except NoAddress:
            if phone.phone_ip == phone.login_ip:
                raise
            raise AddressNotConfirmed(NO_UPLOAD) from None

    async def _clear_session(
        self, actor: Actor, order: DeploymentRequest, record: Deployment, holding: Held
    ) -> None:
        """Record the file's place and who uses the phone from now on, in one transaction. Then have
        the phone leave its services, and forget its calls if it changes hands."""
        phone, desk = order.phone, order.desk
        is_recorded = await self._stored(actor, order, record, holding, tries=MOST_TRIES)
        if desk is not None:
            await desk.answer(is_recorded)
            await holding.look()
        await self.driver.leave_services(phone)
        if desk is not None and desk.forget_calls and isinstance(self.driver, ForgetsCalls):
            await self.driver.forget_calls(phone)

    async def _stored(
        self,
        actor: Actor,
        order: DeploymentRequest,
        record: Deployment,
        holding: Held,
        *,
        tries: int = 1,
    ) -> bool:
        """Store what is known while the deployment runs. Returns False if the database is away,
        which does not stop the restart."""

        async def store() -> None:
            async with holding.write(actor) as tx:
                await self._put(tx, order, replace(record, outcome=Outcome.RUNNING))

        try:
            async with asyncio.timeout(STORING_SECONDS):
                await persistently(store, self.pause, tries)
        except (Unavailable, TimeoutError):
            return False
        return True

    async def _put(
        self, tx: DeploymentsTransaction, order: DeploymentRequest, record: Deployment
    ) -> Deployment:
        """Store the record, and with the place of the file who uses the phone from now on. Returns
        the record that was stored before."""
        before = require(await tx.deployments.find(record.uuid), "deployment")
        if before.outcome is record.outcome is not Outcome.RUNNING:
            return before  # an earlier try was committed, and its reply was lost
        is_placed = record.place is not None and record.outcome is not Outcome.UNKNOWN
        if is_placed and before.place is None:
            await self._change_use(tx, order, record)
        await tx.deployments.put(record)
        return before

    async def _change_use(
        self, tx: DeploymentsTransaction, order: DeploymentRequest, record: Deployment
    ) -> None:
        now = timestamp(self.clock())
        await change_use(tx, order, record, now, several=self.several_logins)

    def _ended(self, record: Deployment, recorder: StepRecorder) -> Deployment:
        if record.outcome is Outcome.RUNNING:
            record = replace(record, outcome=Outcome.INTERRUPTED)
        now = timestamp(self.clock())
        return replace(record, steps=tuple(recorder.steps), ended_at=now)

    async def _close(
        self, actor: Actor, order: DeploymentRequest, record: Deployment, holding: Held
    ) -> Deployment:
        """Complete the record, as soon as the database takes it."""
        try:
            await persistently(lambda: self._complete(actor, order, record, holding), self.pause)
        except LeaseLost:
            await self._interrupt()
            self.journal(replace(record, outcome=Outcome.INTERRUPTED))
            raise
        except Unavailable:
            log.error("The end of the deployment %s could not be stored.", record.uuid)
            self.journal(record)
            raise
        self.journal(record)
        return record

    async def _complete(
        self, actor: Actor, order: DeploymentRequest, record: Deployment, holding: Held
    ) -> None:
        """Complete the record and release the phone. Who uses it is recorded now, if the database
        was unavailable when the file was in place. What is known is stored even if the lease has
        expired, unless another holder followed."""
        async with holding.write(actor, even_expired=True) as tx:
            before = await self._put(tx, order, record)
            if before.outcome is record.outcome:
                return
            tx.trail.note(ended_event(record))
            await tx.leases.release(record.mac, record.uuid, record.number)
            # A phone that restarted before its lines were known is repaired: restarted again.
            was_placed = before.place is not None
            is_early = self.serves_lines and record.outcome is Outcome.DEPLOYED and not was_placed
            is_settled = record.outcome in (_SETTLED if order.desk is not None else _REPORTED)
            if is_settled and not is_early:
                desk = await tx.desks.find(record.mac)
                await tx.desks.put(desk.changed(record.uuid))

    async def _interrupt(self) -> None:
        """Another holder may have followed: the deployment ends like that of a process that
        ended."""
        with suppress(Unavailable):  # then another process does it
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                await tx.deployments.interrupt_abandoned(timestamp(self.clock()))


def _is_lost(closing: "asyncio.Future[Deployment]") -> bool:
    """Whether another holder followed: then a failure says nothing of what is in place."""
    is_done = closing.done() and not closing.cancelled()
    return is_done and isinstance(closing.exception(), LeaseLost)


def _retrieved(closing: "asyncio.Future[Deployment]") -> None:
    if not closing.cancelled():
        closing.exception()


def _not_recorded(record: Deployment, closing: "asyncio.Future[Deployment]") -> NotRecorded:
    closing.add_done_callback(_retrieved)
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


_SETTLED = frozenset({Outcome.DEPLOYED, Outcome.FAILED})
"""After any other outcome of a login or logout the file on the server may be the old or the new
one: the change stays recorded, and is repaired."""
_REPORTED = _SETTLED | {Outcome.UNKNOWN}
"""Outcomes of a switch or rollback that leave the next step to its caller."""
