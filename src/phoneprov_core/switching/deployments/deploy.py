"""Deployment of one revision of a profile to one phone, step by step, with its record."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import Phone, software_type_of
from phoneprov_core.inventory.profiles.model import Switched, SwitchRequest
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable, retrieved
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.model import (
    RESTARTED,
    Deployment,
    Outcome,
    StepName,
    shown_to,
)
from phoneprov_core.switching.deployments.observation import Watching
from phoneprov_core.switching.deployments.order import (
    DeploymentRequest,
    Texts,
    order_of,
    require_fitting,
)
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction, RunToEnd
from phoneprov_core.switching.deployments.records import Records, is_lost, not_recorded
from phoneprov_core.switching.deployments.steps import (
    MOST_TRIES,
    Begun,
    Progress,
    RestartGate,
    StepRecorder,
    no_progress,
    upload,
)
from phoneprov_core.switching.devices.names import DEFAULT_FILENAME_PATTERN, config_filename
from phoneprov_core.switching.devices.ports import ConfigUploader, ForgetsCalls, PhoneDriver
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, LeaseLost

CLOSING_SECONDS = 4.0
"""How long the caller waits until the end is stored; it is tried again after that."""


@dataclass(frozen=True)
class Deploy:
    """Upload, clear the phone's service session, restart; one at a time per phone.

    The record is created before the upload, contains the file's place before the phone is called
    and that the phone may restart before it is restarted, and is completed at the end. If the
    upload fails, this raises and the phone is not restarted. A session that cannot be cleared does
    not prevent the restart; a failed restart is part of the record, and so is a command whose reply
    was lost: then the watch of the phone decides. A deployment runs to its end, also when its
    caller is cancelled. Whether the phone registered again is observed in the background and
    recorded later. A file that an interrupted deployment put in place is not uploaded again.

    A process that was paused for longer than its lease changes nothing more: each write and the
    rename of the uploader compare the fence. While the database is away, the deployment goes on;
    its end is stored later.
    """

    records: Records
    uploader: ConfigUploader
    driver: PhoneDriver
    confirm: Confirm
    run_to_end: RunToEnd[Deployment]
    texts: Texts
    filename_pattern: str = DEFAULT_FILENAME_PATTERN

    def filename(self, phone: Phone) -> str:
        """The name of the phone's configuration file on the server."""
        return config_filename(self.filename_pattern, phone.mac)

    async def __call__(
        self, actor: Actor, request: DeploymentRequest, progress: Progress = no_progress
    ) -> Deployment:
        """Deploy, and return the record after the restart command.

        Raises ``Conflict`` if the phone is inactive, is not compatible, if its text cannot be made,
        if it has no address, or is being switched (code ``phone_busy``), if a record of this uuid
        exists (code ``already_exists``), and what participants raise; ``TooManyAttempts`` beyond
        the limits; ``NotFound`` if the phone or the revision was removed meanwhile; ``Refused`` and
        ``TimedOut`` if the upload failed. Then the complete old file is in place, or, with the code
        ``OUTCOME_UNKNOWN``, either file. ``LeaseLost`` if the process was paused for longer than
        its lease; ``NotRecorded`` if the file is in place and the database is away.
        """
        require_fitting(request.profile, request.phone)
        request = await self.texts(request)
        return await self.run_to_end(self._run(actor, request, progress))

    async def _run(
        self, actor: Actor, request: DeploymentRequest, progress: Progress
    ) -> Deployment:
        phone, records = request.phone, self.records
        begun = await records.begin(actor, request, self.filename(phone))
        record, holding = begun.record, begun.holding
        recorder = StepRecorder(records.clock, progress)
        watching: Watching | None = None
        unwatched: str | None = None
        failure: PhoneprovError | None = None
        gate: RestartGate[DeploymentsTransaction] | None = None

        async def watch() -> None:
            nonlocal watching, unwatched
            try:
                watching = await self.confirm.watch.begin(phone, family)
            except PhoneprovError as error:
                unwatched = error.message

        async def clear_session() -> None:
            work = self._clear_session(begun, record)
            await recorder.attempt(StepName.CLEAR_SESSION, work)

        try:
            uploaded = await recorder.step(StepName.UPLOAD, upload(self.uploader, begun))
            record = replace(
                record, outcome=Outcome.DEPLOYED, place=uploaded.place, steps=tuple(recorder.steps)
            )
            family = software_type_of(phone, request.profile.software_type)
            # Concurrently: the duration is that of the slower one.
            await asyncio.gather(clear_session(), watch())
            record = replace(record, steps=tuple(recorder.steps))
            by = None if watching is None else self.confirm.awaited(record).confirmation_by
            restarting = record.restart_begins(by)
            gate = RestartGate(holding, partial(records.store, begun, restarting))
            order = self.driver.restart(phone, family, gate)
            restarted = await recorder.attempt(StepName.RESTART, order, fatal=LeaseLost)
            record = replace(record, restart=restarted.message or RESTARTED)
        except LeaseLost:
            if watching is not None:
                await watching.close()
            await records.interrupt()
            if gate is not None and gate.is_open:
                self.confirm.background(self.confirm.resume())
            record = replace(record, outcome=Outcome.RUNNING)
            records.journal(records.ended(record, recorder.steps))
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
            if gate is not None and gate.is_open:
                record = records.cut_off(restarting)
            else:
                record = records.ended(record, recorder.steps)
            with suppress(Unavailable, LeaseLost):
                await records.complete(begun, record)
            records.journal(record)
            raise
        record = records.ended(record, recorder.steps)
        if watching is not None and record.restarted is False:
            await watching.close()
            watching, unwatched = None, "The phone was not restarted."
        if watching is not None:
            record = self.confirm.awaited(record)
        elif record.restart is not None:
            record = replace(record, confirmation_message=unwatched)
        # A database that is away now does not change what happened to the phone.
        closing = asyncio.ensure_future(self.run_to_end(records.close(begun, record)))
        closing.add_done_callback(retrieved)
        try:
            await asyncio.wait({closing}, timeout=CLOSING_SECONDS)
        finally:
            if watching is not None:
                self.confirm.later(record, watching, family, after=closing)
        if failure is not None and not is_lost(closing):
            raise failure
        if not closing.done():
            raise not_recorded(record, closing)
        try:
            return closing.result()
        except Unavailable:
            raise not_recorded(record, closing) from None

    async def _clear_session(self, begun: Begun, record: Deployment) -> None:
        """Record the file's place, and answer a phone that waits. Then have the phone leave its
        services, and forget its calls if it changes hands."""
        request = begun.request
        is_recorded = await self.records.store(begun, record, tries=MOST_TRIES)
        if request.answer is not None:
            await request.answer(is_recorded)
            await begun.holding.look()
        await self.driver.leave_services(request.phone)
        if request.forgets_calls and isinstance(self.driver, ForgetsCalls):
            await self.driver.forget_calls(request.phone)


@dataclass(frozen=True)
class SwitchProfile:
    """Deploy the newest revision of a profile, clear the phone's service session, restart."""

    database: ReadAndWrite[DeploymentsTransaction]
    deploy: Deploy

    async def __call__(self, actor: Actor, request: SwitchRequest) -> Switched:
        """The short result of the switch. Raises like ``deployment``."""
        made = await self.deployment(actor, request)
        return Switched(made.profile_name, made.mac, made.restart or RESTARTED)

    async def deployment(
        self, actor: Actor, request: SwitchRequest, progress: Progress = no_progress
    ) -> Deployment:
        """The record of the switch, after the restart command. Raises ``NotFound`` if the phone
        does not exist or the caller may not see the profile, and the errors of ``Deploy``."""
        order = await order_of(self.database, actor, request)
        return shown_to(actor, await self.deploy(actor, order, progress))
