"""Deployment of one revision of a profile to one phone, step by step, with its record."""

import asyncio
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass

from msgspec.structs import replace

from phoneprov_core.deployments.confirm import Confirm
from phoneprov_core.deployments.errors import PhoneInactive
from phoneprov_core.deployments.limits import DEFAULT_LIMITS, SwitchLimits
from phoneprov_core.deployments.model import RESTARTED, Action, Deployment, Outcome, StepName
from phoneprov_core.deployments.observation import Watching
from phoneprov_core.deployments.order import (
    Order,
    Source,
    begun_event,
    ended_event,
    load_order,
    new_record,
    require_fitting,
    rollback_target,
)
from phoneprov_core.deployments.ports import DeploymentsTransaction, Journal, RunToEnd
from phoneprov_core.deployments.rights import require_rights
from phoneprov_core.deployments.steps import Progress, StepRecorder, no_progress
from phoneprov_core.deployments.use import begin_change, change_use
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN
from phoneprov_core.devices.names import DEFAULT_FILENAME_TEMPLATE, config_filename
from phoneprov_core.devices.ports import (
    ConfigUploader,
    Content,
    ForgetsCalls,
    PhoneDriver,
    Upload,
    Uploaded,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, NotFound, PhoneprovError, Unavailable, found
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, NewId, millis, shown
from phoneprov_core.phones.model import Phone, software_type_of
from phoneprov_core.phones.ports import PhoneBusy
from phoneprov_core.templates.recipes import Rendering

LEASE_SECONDS = 60
"""Seconds; longer than all deadlines of a deployment together (30 s). A process whose lease expires
no longer runs."""


@dataclass(frozen=True)
class Deploy:
    """Upload, clear the phone's service session, restart; one at a time per phone.

    The record is created before the upload, contains the file's place before the phone is called,
    and is completed at the end. If the upload fails, this raises and the phone is not restarted. A
    session that cannot be cleared does not prevent the restart; a failed restart is part of the
    record, and so is a command whose reply was lost: then the watch of the phone decides. A
    deployment runs to its end, also when its caller is cancelled. Whether the phone
    registered again is observed in the background and recorded later.
    """

    database: ReadAndWrite[DeploymentsTransaction]
    uploader: ConfigUploader
    driver: PhoneDriver
    confirm: Confirm
    run_to_end: RunToEnd[Deployment]
    journal: Journal
    clock: Clock
    new_id: NewId
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
        self, actor: Actor, order: Order, progress: Progress = no_progress
    ) -> Deployment:
        """Deploy, and return the record after the restart command.

        Raises ``Conflict`` if the phone is inactive, is not compatible, if the template cannot be
        rendered (code ``template_fails``), if the phone has no address, or is being
        switched (code ``phone_busy``), if a record of this uuid exists (code ``already_exists``),
        if the phone changed since the turn of a login or logout (code ``desk_changed``), and if
        the user may not be logged in twice (code ``logged_in_elsewhere``); ``TooManyAttempts``
        beyond ``limits``; ``NotFound`` if the phone or the revision was removed meanwhile;
        ``Refused`` and ``TimedOut`` if the upload failed. Then the complete old file is in place,
        or, with the code ``OUTCOME_UNKNOWN``, either file.
        """
        require_fitting(order.profile, order.phone)
        order = await self.rendered(order)
        return await self.run_to_end(self._run(actor, order, progress))

    async def rendered(self, order: Order) -> Order:
        """The order with its text. Raises ``TemplateFails``."""
        if order.recipe is None:
            return order
        template, rendered = order.recipe.template, await self.rendering(order.recipe)
        source = Source(template.uuid, template.revision, template.name, rendered)
        return replace(order, cnf_xml=rendered.text, recipe=None, source=source)

    async def order_for(
        self, profile_uuid: str | None, phone: Phone, action: Action
    ) -> Order | None:
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

    async def _run(self, actor: Actor, order: Order, progress: Progress) -> Deployment:
        phone = order.phone
        record, replaces = await self._begin(actor, order)
        recorder = StepRecorder(self.clock, progress)
        watching: Watching | None = None
        in_use = asyncio.Event()
        unwatched: str | None = None

        async def watch() -> None:
            nonlocal watching, unwatched
            try:
                watching = await self.confirm.watch.begin(phone, family)
            except PhoneprovError as error:
                unwatched = error.message

        async def clear_session() -> None:
            work = self._clear_session(actor, order, record, in_use)
            await recorder.attempt(StepName.CLEAR_SESSION, work)

        try:
            uploaded = await recorder.step(StepName.UPLOAD, self._upload(order, record, replaces))
            record = replace(
                record, outcome=Outcome.DEPLOYED, place=uploaded.place, steps=tuple(recorder.steps)
            )
            family = software_type_of(phone, order.profile.software_type)
            # Concurrently: the duration is that of the slower one.
            await asyncio.gather(clear_session(), watch())
            record = replace(record, steps=tuple(recorder.steps))
            await self._store_steps(actor, order, record, in_use)
            restarted = await recorder.attempt(StepName.RESTART, self.driver.restart(phone, family))
            record = replace(record, restart=restarted.message or RESTARTED)
        except PhoneprovError as error:
            is_unknown = error.code == OUTCOME_UNKNOWN
            record = replace(
                record,
                outcome=Outcome.UNKNOWN if is_unknown else Outcome.FAILED,
                place=record.filename if is_unknown else None,
                failed_step=recorder.steps[-1].name,
                message=error.message,
            )
            raise
        finally:
            record = self._ended(record, recorder)
            if watching is not None and record.restarted is False:
                await watching.close()
                watching, unwatched = None, "The phone was not restarted."
            if watching is not None:
                record = self.confirm.awaited(record)
            elif record.restart is not None:
                record = replace(record, confirmation_message=unwatched)
            try:
                await self._complete(actor, order, record, is_used=in_use.is_set())
            except BaseException:
                if watching is not None:
                    await watching.close()
                raise
            self.journal(record)
        if watching is not None:
            self.confirm.later(record, watching, family)
        return record

    async def _begin(self, actor: Actor, order: Order) -> tuple[Deployment, Content | None]:
        """Create the record and acquire the lease of the phone. Returns also the content that the
        file on the server has, if no other program changed it; None if it is not known."""
        uuid, filename = order.uuid or self.new_id(), self.filename(order.phone)
        replaces: Content | None = None
        record = new_record(order, uuid, actor.user_uuid, filename, shown(self.clock()))
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
                found(await tx.revisions.find(record.profile_uuid, record.revision), "revision")
                # A logout takes back a switch or a login, which was counted.
                if order.desk is None or order.desk.use.user_uuid is not None:
                    now = millis(self.clock())
                    await self.limits.count(tx.rates, actor, record.mac, now)
                # The time is read again: an earlier holder may have released the phone only now.
                record = replace(record, number=fence, created_at=shown(self.clock()))
                before = await tx.deployments.in_place(record.mac)
                if before is not None and before.filename == filename:
                    replaces = Content(before.size, before.sha256)
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
        return record, replaces

    async def _upload(self, order: Order, record: Deployment, replaces: Content | None) -> Uploaded:
        content = order.cnf_xml.encode()
        return await self.uploader.upload(
            Upload(order.phone.phone_ip, record.filename, content, record.uuid, replaces)
        )

    async def _clear_session(
        self, actor: Actor, order: Order, record: Deployment, in_use: asyncio.Event
    ) -> None:
        """Record the file's place and who uses the phone from now on, in one transaction, and set
        ``in_use``. Then have the phone leave its services, and forget its calls if it changes
        hands."""
        phone, desk = order.phone, order.desk
        try:
            async with self.database.write(by=actor) as tx:
                await tx.deployments.put(replace(record, outcome=Outcome.RUNNING))
                await self._change_use(tx, order, record)
            in_use.set()
        finally:
            if desk is not None:
                await desk.answer()
        await self.driver.leave_services(phone)
        if desk is not None and desk.forget_calls and isinstance(self.driver, ForgetsCalls):
            await self.driver.forget_calls(phone)

    async def _store_steps(
        self, actor: Actor, order: Order, record: Deployment, in_use: asyncio.Event
    ) -> None:
        """Store the steps so far, so that a caller can watch them, and who uses the phone if this
        is not recorded yet. An unavailable database does not stop the restart."""
        with suppress(Unavailable):
            async with self.database.write(by=actor) as tx:
                await tx.deployments.put(replace(record, outcome=Outcome.RUNNING))
                if not in_use.is_set():
                    await self._change_use(tx, order, record)
            in_use.set()

    async def _change_use(
        self, tx: DeploymentsTransaction, order: Order, record: Deployment
    ) -> None:
        now = shown(self.clock())
        await change_use(tx, order, record, now, several=self.several_logins)

    def _ended(self, record: Deployment, recorder: StepRecorder) -> Deployment:
        if record.outcome is Outcome.RUNNING:
            record = replace(record, outcome=Outcome.INTERRUPTED)
        now = shown(self.clock())
        return replace(record, steps=tuple(recorder.steps), ended_at=now)

    async def _complete(
        self, actor: Actor, order: Order, record: Deployment, *, is_used: bool
    ) -> None:
        """Complete the record and release the phone. Who uses it is recorded now, if the database
        was unavailable when the file was in place."""
        async with self.database.write(by=actor) as tx:
            if record.outcome is Outcome.DEPLOYED and not is_used:
                await self._change_use(tx, order, record)
            await tx.deployments.put(record)
            tx.trail.note(ended_event(record))
            await tx.leases.release(record.mac, record.uuid, record.number)
            # A phone that restarted before its lines were known is repaired: restarted again.
            is_early = self.serves_lines and record.outcome is Outcome.DEPLOYED and not is_used
            is_settled = record.outcome in (_SETTLED if order.desk is not None else _REPORTED)
            if is_settled and not is_early:
                desk = await tx.desks.find(record.mac)
                await tx.desks.put(desk.changed(record.uuid))


_SETTLED = frozenset({Outcome.DEPLOYED, Outcome.FAILED})
"""After any other outcome of a login or logout the file on the server may be the old or the new
one: the change stays recorded, and is repaired."""
_REPORTED = _SETTLED | {Outcome.UNKNOWN}
"""Outcomes of a switch or rollback that leave the next step to its caller."""
