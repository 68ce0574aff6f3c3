"""Confirmations: whether a phone registered again after its restart, observed in the background."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from functools import partial

from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import Phone, software_type_of, speaks_sip
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, Unavailable
from phoneprov_core.kernel.ports import Clock, Pause, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.switching.deployments.model import (
    GRACE_SECONDS,
    NOT_SEEN,
    Confirmation,
    Deployment,
    DeploymentFilter,
    Step,
    StepName,
)
from phoneprov_core.switching.deployments.observation import Arrival, PhoneWatch, Watching
from phoneprov_core.switching.deployments.ports import Background, DeploymentsTransaction, Journal
from phoneprov_core.switching.deployments.steps import persistently


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

    async def begin(
        self, phone: Phone, software_type: str | None, *, is_restarting: bool = False
    ) -> Watching:
        """Start watching. ``software_type`` is the firmware family of the phone's record or else of
        the profile. Raises ``Refused``, ``TimedOut`` or ``Conflict`` if no way works."""
        if not self.seconds:
            raise Conflict("Phones are not watched: PHONEPROV_CONFIRM_TIMEOUT is 0.")
        phone = replace(phone, software_type=software_type)
        ways = [way for way in (self.events, self.web) if way is not None]
        if self.events is not None and speaks_sip(software_type):
            ways = [self.events]
        reasons = []
        for way in ways:
            try:
                return await way.begin(phone, is_restarting=is_restarting)
            except PhoneprovError as error:
                reasons.append(error.message)
        raise Refused(" ".join(reasons) or "No way to watch phones is configured.")


log = logging.getLogger("phoneprov.deployments")

CompareLines = Callable[[str], Awaitable[tuple[bool | None, str]]]
"""Port: whether the exchange has the lines of the phone with this MAC (None if unknown), and a
sentence about these lines."""

CONFIRM_SECONDS = 120.0
"""Default time to wait for a phone after its restart."""

_LONGEST_SECONDS = 60
"""Maximum seconds between the begin of a deployment and the begin of its watch."""

_SHORT_SECONDS = 10.0
"""Seconds in which a phone has to answer so that its load is compared, if it ran this load
before."""

_PIECE = 50
"""Number of deployments read at a time, and maximum number of watches started at a time."""


@dataclass(frozen=True)
class Confirm:
    """Watches phones in the background, and completes the records of their deployments. With
    ``compare_lines`` the lines of a phone that registered again are read back, and with ``arrival``
    a phone is confirmed when it runs the load that its configuration names."""

    database: ReadAndWrite[DeploymentsTransaction]
    watch: Watch
    background: Background
    journal: Journal
    clock: Clock
    pause: Pause
    compare_lines: CompareLines | None = None
    arrival: Arrival | None = None
    watched: set[str] = field(default_factory=set, init=False)
    """The deployments whose phones are watched here."""

    def awaited(self, record: Deployment) -> Deployment:
        """The record of a deployment whose phone is being watched."""
        by = self.clock() + timedelta(seconds=self.watch.seconds + GRACE_SECONDS)
        return replace(record, confirmation=Confirmation.PENDING, confirmation_by=timestamp(by))

    def later(
        self,
        record: Deployment,
        watching: Watching,
        software_type: str | None = None,
        *,
        after: asyncio.Future[Deployment] | None = None,
    ) -> None:
        """Wait for the phone in the background, and complete the record once ``after`` has stored
        it."""
        self.watched.add(record.uuid)
        watch = self._confirm(record, watching, software_type, self.watch.seconds, after=after)
        self.background(watch)

    async def resume(self) -> None:
        """Resume the watches of processes that ended, for the rest of their time. Only a new
        observation confirms a phone; without one the confirmation is recorded as unknown."""
        pending = await persistently(self._pending, self.pause)
        for start in range(0, len(pending), _PIECE):
            await asyncio.gather(*map(self._resume, pending[start : start + _PIECE]))

    async def _pending(self) -> list[Deployment]:
        """The deployments whose phones are not watched in this process and whose time to wait is
        not over."""
        now = self.clock()
        longest = timedelta(
            minutes=self.arrival.minutes if self.arrival else 0,
            seconds=self.watch.seconds + 2 * GRACE_SECONDS + _LONGEST_SECONDS,
        )
        last = None
        async with self.database.read() as tx:
            recent = tx.deployments.matching(DeploymentFilter(since=timestamp(now - longest)))
            pending: list[Deployment] = []
            while piece := await recent.rows(_PIECE, after=last):
                last = piece[-1]
                pending += [
                    one
                    for one in piece
                    if one.as_of(timestamp(now)).confirmation is Confirmation.PENDING
                    and one.uuid not in self.watched
                ]
        return pending

    async def _resume(self, record: Deployment) -> None:
        if record.awaits_load:
            self.await_load(record)
            return
        async with self.database.read() as tx:
            phone = await tx.phones.find(record.mac)
            profile = await tx.profiles.find(record.profile_uuid)
        if phone is None or phone.created_at > record.created_at or not record.confirmation_by:
            return
        family = software_type_of(phone, profile.software_type if profile else None)
        self.watched.add(record.uuid)
        try:
            watching = await self.watch.begin(phone, family, is_restarting=True)
        except PhoneprovError:  # then the record says that the watch was interrupted
            self.watched.discard(record.uuid)
            return
        by = datetime.fromisoformat(record.confirmation_by)
        seconds = (by - self.clock()).total_seconds() - GRACE_SECONDS
        self.background(self._confirm(record, watching, family, max(0.0, seconds), is_resumed=True))

    async def _confirm(
        self,
        record: Deployment,
        watching: Watching,
        software_type: str | None,
        seconds: float,
        *,
        is_resumed: bool = False,
        after: asyncio.Future[Deployment] | None = None,
    ) -> None:
        """Wait for the phone, and record whether it was seen, and with which lines."""
        try:
            message = await watching.returned(seconds)
            confirmation = Confirmation.CONFIRMED
        except PhoneprovError as error:
            message = NOT_SEEN if is_resumed else error.message
            confirmation = Confirmation.NOT_CONFIRMED
        finally:
            self.watched.discard(record.uuid)
            await watching.close()
        if after is not None:
            await asyncio.wait({after})
            if after.cancelled() or after.exception() is not None:
                return  # another holder followed, or the end could not be stored
        steps: tuple[Step, ...] = ()
        if confirmation is Confirmation.CONFIRMED and not speaks_sip(software_type):
            steps = await self._lines(record.mac)
        decided = await self._decide(record, confirmation, message, steps, is_resumed=is_resumed)
        if decided is not None and decided.awaits_load:
            await self._wait_for_load(decided)

    async def _decide(
        self,
        record: Deployment,
        confirmation: Confirmation,
        message: str,
        steps: tuple[Step, ...] = (),
        *,
        is_resumed: bool = False,
    ) -> Deployment | None:
        """Record an observation of a phone or of its firmware load, as soon as the database is
        available. Returns the record, or None if the confirmation was decided before."""
        now = self.clock()
        written: tuple[Deployment, Deployment | None] | None = None

        async def write() -> Deployment | None:
            nonlocal written
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                kept = await tx.deployments.find(record.uuid)
                current = await tx.deployments.current(record.mac)
                if kept is None:
                    return None
                if written is not None and kept == written[0]:
                    return written[1]  # an earlier try was committed, and its reply was lost
                kept = replace(kept, steps=kept.steps + steps)
                is_of_load = record.awaits_load
                is_missed = is_resumed and confirmation is Confirmation.NOT_CONFIRMED
                is_decided = kept.confirmation is not Confirmation.PENDING
                if is_decided and (is_missed or is_of_load):
                    return None  # The watch that was resumed had not ended: it saw more.
                is_confirmed = kept.confirmation is Confirmation.CONFIRMED
                if is_confirmed or (kept.awaits_load and not is_of_load):
                    written = kept, None
                    await tx.deployments.put(kept)
                    return None  # A fetch of the file has shown it already.
                if current is not None and current.number > record.number:
                    # It registered again, with the configuration of the later deployment.
                    reason = "Another deployment followed before the phone was seen again."
                    if is_of_load:
                        reason = f"Another deployment followed before it ran {record.load}."
                    decided = kept.decided(Confirmation.NOT_CONFIRMED, reason, timestamp(now))
                elif confirmation is Confirmation.CONFIRMED and not is_of_load:
                    decided = self.seen_again(kept, message, now)
                else:
                    decided = kept.decided(confirmation, message, timestamp(now))
                written = decided, decided
                await tx.deployments.put(decided)
                if confirmation is Confirmation.CONFIRMED:
                    await tx.fleet.saw(record.mac, timestamp(now))
            return decided

        try:
            decided = await persistently(write, self.pause)
        except Unavailable:
            log.error("The watch of the deployment %s could not be stored.", record.uuid)
            raise
        if decided is not None and decided.confirmation is not Confirmation.PENDING:
            self.journal(decided)
        return decided

    def seen_again(self, record: Deployment, message: str, now: datetime) -> Deployment:
        """The deployment after its phone was seen to restart. The caller passes it to
        ``await_load`` if it ``awaits_load``."""
        minutes = self.arrival.minutes if self.arrival else 0
        return record.seen_again(message, now, minutes)

    def await_load(self, record: Deployment) -> None:
        """Wait in the background for the load of a phone that was seen to restart."""
        self.watched.add(record.uuid)
        self.background(self._wait_for_load(record))

    async def _wait_for_load(self, record: Deployment) -> None:
        """Ask the phone until it runs the load that its configuration names, or the time is over. A
        phone that does not state its firmware is confirmed without it."""
        self.watched.add(record.uuid)
        try:
            phone, before = await persistently(partial(self._known, record), self.pause)
            if phone is not None:
                had = before and before.as_of(timestamp(self.clock()))
                await self._decide(record, *await self._verdict(record, phone, had))
        finally:
            self.watched.discard(record.uuid)

    async def _known(self, record: Deployment) -> tuple[Phone | None, Deployment | None]:
        """The phone of a deployment, and the deployment before."""
        async with self.database.read() as tx:
            phone = await tx.phones.find(record.mac)
            return phone, await tx.deployments.placed_before(record)

    async def _verdict(
        self, record: Deployment, phone: Phone, before: Deployment | None
    ) -> tuple[Confirmation, str]:
        assert self.arrival is not None
        assert record.load is not None
        had = None if before is None else before.load
        is_seen = before is not None and before.confirmation is Confirmation.CONFIRMED
        has_arrived = is_seen and had == record.load
        # Without a deployment before, it is not known whether the load is a new one.
        may_be_there = had is None or has_arrived
        patience = _SHORT_SECONDS if has_arrived else self.watch.seconds
        began, evidence = self.clock(), record.confirmation_message
        by = datetime.fromisoformat(record.confirmation_by or timestamp(began))
        while True:
            found = await self.arrival.stated(phone, record.load)
            now = self.clock()
            passed = (now - began).total_seconds()
            if found.runs:
                return Confirmation.CONFIRMED, f"{evidence} It runs {record.load}."
            is_silent = not found.answers and passed < patience
            if found.runs is None and not is_silent and (may_be_there or found.stated is None):
                why = f"Whether it runs {record.load} is not known: {found.observed}."
                return Confirmation.CONFIRMED, f"{evidence} {why}"
            if now >= by - timedelta(seconds=GRACE_SECONDS) or not await self._is_current(record):
                missed = found.missed(self.arrival.minutes)
                return Confirmation.NOT_CONFIRMED, f"{evidence} {missed}"
            await self.arrival.wait(passed)

    async def _is_current(self, record: Deployment) -> bool:
        with suppress(Unavailable):
            async with self.database.read() as tx:
                current = await tx.deployments.current(record.mac)
            return current is not None and current.uuid == record.uuid
        return True

    async def _lines(self, mac: str) -> tuple[Step, ...]:
        if self.compare_lines is None:
            return ()
        began = millis(self.clock())
        ok, message = await self.compare_lines(mac)
        return (Step(StepName.LINES, ok, message, max(0, millis(self.clock()) - began)),)
