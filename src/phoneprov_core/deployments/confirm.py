"""Confirmations: whether a phone registered again after its restart, observed in the background
in one of two ways."""

from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

import msgspec

from phoneprov_core.deployments.model import Confirmation, Deployment, Step, StepName
from phoneprov_core.deployments.observation import PhoneWatch, Watching
from phoneprov_core.deployments.ports import Background, DeploymentsTransaction, Journal
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, millis, shown
from phoneprov_core.lines.comparison import CompareLines
from phoneprov_core.phones.model import Phone, speaks_sip


@dataclass(frozen=True)
class Watch:
    """Watches phones by the ``events`` of an exchange, or over their own ``web`` servers.

    A registration is the stronger evidence: a phone that registers has started. With an exchange,
    only a registration confirms the restart of a SIP phone: its web server, which was away and
    answers again, may have lost its network for a while. Another phone that the exchange does not
    show is watched over its web server. Each way is None where it is not configured. ``seconds`` is
    the maximum waiting time for a phone, 0 to disable watching.
    """

    events: PhoneWatch | None
    web: PhoneWatch | None
    _: KW_ONLY
    seconds: float

    async def begin(self, phone: Phone, software_type: str | None) -> Watching:
        """Start watching. ``software_type`` is the firmware family of the phone's record or else
        of the profile. Raises ``Refused``, ``TimedOut`` or ``Conflict`` with the reason if no way
        works."""
        if not self.seconds:
            raise Conflict("Phones are not watched: PHONEPROV_CONFIRM_TIMEOUT is 0.")
        phone = msgspec.structs.replace(phone, software_type=software_type)
        ways = [way for way in (self.events, self.web) if way is not None]
        if self.events is not None and speaks_sip(software_type):
            ways = [self.events]
        reasons = []
        for way in ways:
            try:
                return await way.begin(phone)
            except PhoneprovError as error:
                reasons.append(error.message)
        raise Refused(" ".join(reasons) or "No way to watch phones is configured.")


CONFIRM_SECONDS = 120.0
"""Default time to wait for a phone after its restart."""

_GRACE_SECONDS = 10
"""Seconds by which a watch that ended in time has recorded its result."""


@dataclass(frozen=True)
class Confirm:
    """Watches phones in the background, and completes the records of their deployments. With
    ``compare_lines`` the lines of a phone that registered again are read back."""

    database: ReadAndWrite[DeploymentsTransaction]
    watch: Watch
    background: Background
    journal: Journal
    clock: Clock
    compare_lines: CompareLines | None = None

    def awaited(self, record: Deployment) -> Deployment:
        """The record of a deployment whose phone is being watched."""
        by = self.clock() + timedelta(seconds=self.watch.seconds + _GRACE_SECONDS)
        return msgspec.structs.replace(
            record, confirmation=Confirmation.PENDING, confirmation_by=shown(by)
        )

    def later(
        self, record: Deployment, watching: Watching, software_type: str | None = None
    ) -> None:
        """Wait for the phone in the background."""
        self.background(self._confirm(record, watching, software_type))

    async def _confirm(
        self, record: Deployment, watching: Watching, software_type: str | None
    ) -> None:
        """Wait for the phone, and record whether it was seen, and with which lines."""
        try:
            message = await watching.returned(self.watch.seconds)
            confirmation = Confirmation.CONFIRMED
        except PhoneprovError as error:
            message = error.message
            confirmation = Confirmation.NOT_CONFIRMED
        finally:
            await watching.close()
        steps: tuple[Step, ...] = ()
        if confirmation is Confirmation.CONFIRMED and not speaks_sip(software_type):
            steps = await self._lines(record.mac)
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            kept = await tx.deployments.find(record.uuid)
            current = await tx.deployments.current(record.mac)
            if kept is None:
                return
            kept = msgspec.structs.replace(kept, steps=kept.steps + steps)
            if kept.confirmation is Confirmation.CONFIRMED:
                await tx.deployments.put(kept)
                return  # A fetch of the file has confirmed it already.
            if current is not None and current.number > record.number:
                # It registered again, with the configuration of the later deployment.
                confirmation = Confirmation.NOT_CONFIRMED
                message = "Another deployment followed before the phone was seen again."
            decided = msgspec.structs.replace(
                kept,
                confirmation=confirmation,
                confirmation_message=message,
                confirmation_at=shown(self.clock()),
            )
            await tx.deployments.put(decided)
        self.journal(decided)

    async def _lines(self, mac: str) -> tuple[Step, ...]:
        if self.compare_lines is None:
            return ()
        began = millis(self.clock())
        ok, message = await self.compare_lines(mac)
        return (Step(StepName.LINES, ok, message, max(0, millis(self.clock()) - began)),)
