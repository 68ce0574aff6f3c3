"""The switch: put a profile's configuration onto a phone and have the phone take it."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Awaitable

import msgspec

from phoneprov_core.deployments.model import Deployment, Outcome, Step, StepName
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Unchecked, checked, peek_id
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, found
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis, shown
from phoneprov_core.kernel.values import known_mac
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.device import DEFAULT_FILENAME_TEMPLATE, config_filename
from phoneprov_core.profiles.model import Profile, Switched, SwitchRequest
from phoneprov_core.profiles.ports import (
    ConfigUploader,
    PhoneDriver,
    SwitchTransaction,
    Unbroken,
    Upload,
)
from phoneprov_core.profiles.use_cases import profile_of

RESTARTED = "ok"
"""What ``Switched.restart`` says when the phone accepted the order."""

LEASE_SECONDS = 60
"""Longer than all deadlines of a switch together (30 s): a lease that runs out belonged to
somebody who is gone."""


class SwitchProfile:
    """Deploy, clear the phone's service session, restart; one switch per phone at a time.

    The record of the switch is made before anything is sent, and completed at its end. A
    deployment that fails raises and restarts nothing. A session that cannot be cleared does
    not stop the restart; a restart that fails is part of the answer. Once begun, a switch
    runs to its end, also when whoever asked for it is gone.
    """

    def __init__(
        self,
        open_: ReadAndWrite[SwitchTransaction],
        uploader: ConfigUploader,
        driver: PhoneDriver,
        unbroken: Unbroken[Switched],
        clock: Clock,
        new_id: NewId,
        *,
        filename_template: str = DEFAULT_FILENAME_TEMPLATE,
        lease_seconds: int = LEASE_SECONDS,
    ) -> None:
        self._open = open_
        self._uploader = uploader
        self._driver = driver
        self._unbroken = unbroken
        self._clock = clock
        self._new_id = new_id
        self._filename_template = filename_template
        self._lease_seconds = lease_seconds

    async def __call__(
        self, actor: Actor, request: SwitchRequest | Unchecked[SwitchRequest]
    ) -> Switched:
        """Raises ``NotFound`` for a profile that is not the caller's to see or an unknown
        phone; ``Conflict`` for a phone that is inactive, does not fit, has no address, or is
        being switched right now (code ``phone_busy``); ``Refused`` and ``TimedOut`` when the
        file could not be put in place, and then the old one is there, whole."""
        profile_uuid, mac = peek_id(request, "profile_uuid"), peek_mac(request)
        async with self._open.read() as tx:
            if profile_uuid:
                profile = await profile_of(tx, actor, profile_uuid)
            if mac:
                phone = found(await tx.phones.find(mac), "phone")
        checked(request)  # what is valid names both
        _require_fitting(profile, phone)
        return await self._unbroken(self._carry_out(actor, profile, phone))

    async def _carry_out(self, actor: Actor, profile: Profile, phone: Phone) -> Switched:
        content = profile.cnf_xml.encode()
        deployment = Deployment(
            uuid=self._new_id(),
            mac=phone.mac,
            profile_uuid=profile.uuid,
            profile_name=profile.name,
            user_uuid=actor.user_uuid,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
            outcome=Outcome.RUNNING,
            steps=(),
            created_at=shown(self._clock()),
            ended_at=None,
        )
        async with self._open.write() as tx:
            fence = await tx.leases.take(phone.mac, deployment.uuid, self._lease_seconds)
            if fence is not None:
                await tx.deployments.add(deployment)
        if fence is None:
            raise Conflict(
                "Another switch of this phone is under way; try again when it is done.",
                code="phone_busy",
            )
        steps: list[Step] = []
        outcome = Outcome.INTERRUPTED
        try:
            await self._step(steps, StepName.UPLOAD, self._upload(phone, content, deployment.uuid))
            outcome = Outcome.DEPLOYED
            await self._settled(steps, StepName.CLEAR_SESSION, self._clear_session(phone))
            software_type = (phone.software_type or "").strip() or profile.software_type
            restarted = await self._settled(
                steps, StepName.RESTART, self._driver.restart(phone, software_type)
            )
        except PhoneprovError:
            outcome = Outcome.FAILED
            raise
        finally:
            ended = msgspec.structs.replace(
                deployment, outcome=outcome, steps=tuple(steps), ended_at=shown(self._clock())
            )
            async with self._open.write() as tx:
                await tx.deployments.put(ended)
                await tx.leases.release(phone.mac, deployment.uuid, fence)
                # Somebody deleted meanwhile has no services; the record stands all the same.
                owner = await tx.users.find(profile.user_uuid)
                if outcome is Outcome.DEPLOYED and owner is not None:
                    await tx.service_sessions.open(
                        phone.mac, profile.user_uuid, shown(self._clock())
                    )
        return Switched(profile.name, phone.mac, restarted.message or RESTARTED)

    async def _upload(self, phone: Phone, content: bytes, attempt: str) -> str | None:
        filename = config_filename(self._filename_template, phone.mac)
        uploaded = await self._uploader.upload(Upload(phone.phone_ip, filename, content, attempt))
        return "; ".join(uploaded.notes) or None

    async def _clear_session(self, phone: Phone) -> None:
        """Drop the session kept here, and tell the phone to leave its services."""
        async with self._open.write() as tx:
            await tx.service_sessions.drop(phone.mac)
        await self._driver.leave_services(phone)

    async def _step(self, steps: list[Step], name: StepName, work: Awaitable[str | None]) -> None:
        """Do one step and note how it went; its error goes on to the caller."""
        began = millis(self._clock())
        message: str | None = None
        ok = False
        try:
            message = await work
            ok = True
        except PhoneprovError as error:
            message = error.message
            raise
        finally:
            steps.append(Step(name, ok, message, millis(self._clock()) - began))

    async def _settled(self, steps: list[Step], name: StepName, work: Awaitable[None]) -> Step:
        """Do one step whose failure stops nothing; what became of it."""
        with contextlib.suppress(PhoneprovError):
            await self._step(steps, name, work)
        return steps[-1]


def peek_mac(request: SwitchRequest | Unchecked[SwitchRequest]) -> str:
    """The phone a request names, in canonical form; empty when it names none."""
    if isinstance(request, Unchecked):
        return known_mac(request.peek("mac") or "")
    return request.mac


def _require_fitting(profile: Profile, phone: Phone) -> None:
    if not phone.is_active:
        raise Conflict("This phone is not active.", code="phone_inactive")
    objection = profile.objection_to(phone)
    if objection:
        raise Conflict(
            f"The profile does not fit this phone: {objection}.", code="profile_does_not_fit"
        )
