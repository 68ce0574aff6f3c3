"""Checks every phone of the inventory, in rounds."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.fleet.files import CompareFiles
from phoneprov_core.features.fleet.model import FleetTransaction
from phoneprov_core.features.fleet.states import (
    MISSES,
    ExpectedLoad,
    FleetState,
    PhoneCheck,
    SeenPhone,
    after_file,
    after_look,
)
from phoneprov_core.features.serving.bootstrap import CheckLoad
from phoneprov_core.inventory.configuration.findings import ending_of
from phoneprov_core.inventory.phones.model import Phone, family_of, speaks_sip
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import (
    NotFound,
    PhoneprovError,
    Refused,
    TimedOut,
    Unavailable,
    retrieved,
)
from phoneprov_core.kernel.ports import Clock, Pause, ReadAndWrite
from phoneprov_core.kernel.values import Address, address_of, millis, timestamp
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.observation import (
    LOAD_MINUTES,
    DeviceInformation,
    FileState,
    PhoneInformation,
)

LEASE = "fleet"
"""The key of the lease that the watching process holds, in place of a MAC."""
LEASE_SECONDS = 120
RENEW_MS = 40_000
LEAST_MS = 60_000
"""Minimum time between two requests to one phone, and before the first round of a process, because
another process may have ended just now."""
LONGEST_MS = 3_600_000
"""Maximum time between two requests to a phone that is off."""
LOOK_SECONDS = 1.5
"""Deadline of a request. A switch of the phone may have to wait for this request."""
MOST_AT_ONCE = 32
_PIECE = 500
_LEAST_PAUSE = 5.0

log = logging.getLogger("phoneprov.fleet")


class Registered(Struct, frozen=True):
    """The registrations at the exchange: for each known phone, by canonical MAC, whether it is
    registered, and the addresses of SIP phones. With ``lists_sccp`` and ``lists_sip``, SCCP and SIP
    phones without an entry are not registered. Without ``answers`` the exchange did not answer."""

    phones: Mapping[str, bool]
    addresses: frozenset[Address] = frozenset()
    lists_sccp: bool = False
    lists_sip: bool = False
    answers: bool = True

    def of(self, phone: Phone) -> bool | None:
        """Whether a phone is registered; None if unknown."""
        is_sccp = family_of(phone.software_type) == "SCCP"
        if not is_sccp and address_of(phone.phone_ip or "") in self.addresses:
            return True
        is_listed = self.lists_sccp if is_sccp else self.lists_sip
        is_sip = speaks_sip(phone.software_type)
        return self.phones.get(phone.mac, False if is_listed and (is_sccp or is_sip) else None)


class Registrations(Protocol):
    """The phones that the exchange has."""

    async def registered(self) -> Registered:
        """One listing for any number of phones. Raises ``Refused`` and ``TimedOut``."""


class Round(Struct):
    """The result of a round: numbers of phones, requests, and changed states."""

    phones: int = 0
    requests: int = 0
    changes: int = 0


@dataclass(eq=False)
class WatchFleet:
    """Checks each active phone with an address. Only one process does this at a time: it holds a
    lease. Requests are spread evenly over a round. A phone that is off is asked less and less
    often, finally once an hour. A phone that is being switched is not asked. At the same time, and
    independently of the phones, their files are compared.
    """

    database: ReadAndWrite[FleetTransaction]
    information: PhoneInformation
    registrations: Registrations | None
    clock: Clock
    pause: Pause
    holder: str
    files: CompareFiles | None = None
    loads: CheckLoad | None = None
    load_minutes: int = LOAD_MINUTES
    _fence: int | None = None
    _storing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _renew_at: int = 0
    _asked: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By phone: when it was last asked, and its current backoff, in milliseconds."""

    async def run(self, minutes: int) -> None:
        """Run rounds until cancelled, each of this many minutes. Raises ``Unavailable``."""
        comparing = asyncio.create_task(self._compare_files(minutes * 60.0))
        try:
            await self._look_around(minutes)
        finally:
            comparing.cancel()
            await asyncio.wait({comparing})
            retrieved(comparing)

    async def _look_around(self, minutes: int) -> None:
        led = False
        while True:
            leads = await self._leads()
            if leads and led:
                await self._one_round(minutes * 60.0)
            else:
                # Also after the lease was acquired: another process may have asked a moment ago.
                await self.pause(LEAST_MS / 1000)
            led = leads

    async def _one_round(self, seconds: float) -> None:
        end = millis(self.clock()) + seconds * 1000
        await self.round(seconds)
        while (left := end - millis(self.clock())) > 0 and await self._leads():
            await self.pause(min(left, RENEW_MS) / 1000)

    async def _compare_files(self, seconds: float) -> None:
        """Rounds over the files. They run concurrently with the rounds over the phones, so a slow
        file server does not delay the checks of phones."""
        while self.files is not None:
            end = millis(self.clock()) + seconds * 1000
            left = 0.0
            if self._fence is not None:
                try:
                    await self.files.round(
                        seconds, self._keep_file, lambda: self._fence is not None
                    )
                except Unavailable as error:
                    log.warning("The files of phones were not compared. %s", error.message)
                left = (end - millis(self.clock())) / 1000
            await self.pause(max(left, _LEAST_PAUSE))

    async def _keep_file(self, mac: str, file: FileState) -> None:
        async with self.database.read() as tx:
            phone = await tx.phones.find(mac)
        if phone is not None:
            await self._store(phone, lambda seen, now: after_file(phone, seen, file, now))

    async def round(self, seconds: float) -> Round:
        """Look at each phone once, spread over ``seconds``. Ends early if another process has the
        lease. Raises ``Unavailable``."""
        done = Round()
        macs = await self._macs()
        registered = await self._registered()
        begin = millis(self.clock())
        known = set(macs)
        self._asked = {mac: at for mac, at in self._asked.items() if mac in known}
        turns = asyncio.Semaphore(MOST_AT_ONCE)
        looks: set[asyncio.Task[None]] = set()
        try:
            for number, mac in enumerate(macs):
                due = begin + number * seconds * 1000 / len(macs)
                if (early := due - millis(self.clock())) > 0:
                    await self.pause(early / 1000)
                if not await self._leads():
                    log.info("Another process watches the fleet now.")
                    break
                await turns.acquire()
                look = asyncio.create_task(self._look(done, mac, registered))
                looks.add(look)
                look.add_done_callback(retrieved)
                look.add_done_callback(looks.discard)
                look.add_done_callback(lambda _: turns.release())
            await asyncio.gather(*looks)
        finally:
            for look in looks:
                look.cancel()
        return done

    async def _leads(self) -> bool:
        """Whether this process has the lease, which it renews."""
        now = millis(self.clock())
        if self._fence is not None and now < self._renew_at:
            return True
        held, self._fence = self._fence, None
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            if held is not None:
                await tx.leases.release(LEASE, self.holder, held)
            self._fence = await tx.leases.take(LEASE, self.holder, LEASE_SECONDS)
        self._renew_at = now + RENEW_MS
        return self._fence is not None

    async def _macs(self) -> list[str]:
        macs: list[str] = []
        while True:
            async with self.database.read() as tx:
                piece = await tx.fleet.watched(macs[-1] if macs else "", _PIECE)
            macs += [phone.mac for phone, _ in piece]
            if len(piece) < _PIECE:
                return macs

    async def _registered(self) -> Registered:
        if self.registrations is None:
            return Registered({})
        try:
            return await self.registrations.registered()
        except (Refused, TimedOut) as error:
            log.warning("The exchange does not list its phones: %s", error.message)
            return Registered({}, answers=False)

    async def _look(self, done: Round, mac: str, registered: Registered) -> None:
        done.phones += 1
        now = millis(self.clock())
        asked_at, backoff = self._asked.get(mac, (0, 0))
        if now - asked_at < backoff:
            return
        try:
            async with self.database.read() as tx:
                is_switched = await tx.leases.holder(mac) is not None
                phone = await tx.phones.find(mac)
                deployment = await tx.deployments.in_place(mac)
            if is_switched or phone is None or not phone.is_active or phone.phone_ip is None:
                return
            self._asked[mac] = now, LEAST_MS
            done.requests += 1
            look = await self._asked_phone(phone, registered)
            look = replace(look, expected=await self._expected(deployment, look.information))
            found, is_change = await self._store(
                phone, lambda seen, now: after_look(phone, seen, look, now)
            )
            if look.answers is False and found.misses == MISSES:
                self._asked[mac] = now, min(max(backoff * 2, LEAST_MS), LONGEST_MS)
            done.changes += is_change
        except Unavailable as error:
            log.warning("A look at a phone was not recorded. %s", error.message)

    async def _asked_phone(self, phone: Phone, registered: Registered) -> PhoneCheck:
        look = PhoneCheck(is_registered=registered.of(phone), exchange=registered.answers)
        try:
            found = await self.information.read(phone.phone_ip or "", LOOK_SECONDS)
        except (Refused, TimedOut):
            return replace(look, answers=False)
        except PhoneprovError:
            return look  # An address that must not be called.
        return replace(look, answers=True, information=found)

    async def _expected(
        self, deployment: Deployment | None, found: DeviceInformation | None
    ) -> ExpectedLoad | None:
        """The load that the configuration on the phone names, with its files if the phone stated a
        load. The load may take as long as the confirmation, from the end of the deployment."""
        if not self.load_minutes or deployment is None or deployment.load is None:
            return None
        ended = datetime.fromisoformat(deployment.ended_at or deployment.created_at)
        by = timestamp(ended + timedelta(minutes=self.load_minutes))
        files: tuple[str, ...] = ()
        if self.loads is not None and found is not None and ending_of(found.load or ""):
            files = (await self.loads(deployment.load)).listed
        return ExpectedLoad(deployment.load, by, files)

    async def _store(
        self, phone: Phone, change: Callable[[SeenPhone | None, str], SeenPhone]
    ) -> tuple[SeenPhone, bool]:
        """Change the observation of a phone. Returns it, and whether the state changed. One change
        at a time: a check and a comparison of the file change the same row."""
        async with self._storing:
            async with self.database.read() as tx:
                seen = await tx.fleet.find(phone.mac)
            found = change(seen, timestamp(self.clock()))
            return found, await self._keep(found, seen)

    async def _keep(self, found: SeenPhone, seen: SeenPhone | None) -> bool:
        """Store the changes. Returns whether the state changed."""
        before = FleetState.NEVER_SEEN if seen is None else seen.state
        is_change = found.state is not before
        if not (found.differs(seen) or _is_long_ago(found, seen)):
            return False
        with suppress(NotFound):  # The phone was deleted meanwhile.
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                await tx.fleet.put(found, is_change=is_change)
        return is_change


def _is_long_ago(found: SeenPhone, seen: SeenPhone | None) -> bool:
    """Whether the stored ``seen_at`` is an hour older."""
    if seen is None or found.seen_at is None or seen.seen_at is None:
        return found.seen_at is not None
    # Moments of one hour have the same first 13 characters.
    return found.seen_at[:13] > seen.seen_at[:13]
