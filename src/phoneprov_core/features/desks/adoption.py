"""Adopting a phone at the phone, which shows a login form."""

import logging
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.access import PageTokens, Purpose, user_in
from phoneprov_core.features.desks.change import Changed, ChangeDesk
from phoneprov_core.features.desks.login import (
    ProfileChoice,
    actor_at,
    chosen_user,
    fitting_profiles,
    no_profile,
    pin_hash_of,
)
from phoneprov_core.features.desks.model import DesksTransaction
from phoneprov_core.features.desks.occupancy import DeskChange
from phoneprov_core.features.desks.pins import CheckPin, wrong_pin
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.features.serving.bootstrap import AdoptableTransaction, is_adoptable
from phoneprov_core.features.serving.model import DiscoveredPhoneStore, Repeats, phone_seen
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.phones.use_cases import PhoneStore
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Event
from phoneprov_core.kernel.errors import AlreadyExists
from phoneprov_core.kernel.ports import Clock, NewId, RateStore, ReadAndWrite
from phoneprov_core.kernel.values import millis, same_address, timestamp
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.deployments.model import Action
from phoneprov_core.switching.deployments.observation import PhoneInformation, identity_at
from phoneprov_core.switching.deployments.order import SwitchLimits
from phoneprov_core.switching.devices.names import Networks, mac_of_device

DEPLOYED_SECONDS = 60
"""Time after which the upkeep of desks continues an adoption that a crash interrupted."""

log = logging.getLogger("phoneprov.desks")


class OnboardingTransaction(DesksTransaction, AdoptableTransaction, Protocol):
    """Stores that adopting a phone at the phone reads and writes."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def discovered_phones(self) -> DiscoveredPhoneStore: ...
    @property
    def rates(self) -> RateStore: ...

    async def flush(self) -> None:
        """Execute the changes that a store has deferred, with their errors."""


class NewPhone(Struct, frozen=True):
    """A phone that a user may adopt at the phone, at the address that the request came from."""

    phone: Phone

    @property
    def mac(self) -> str:
        """Its MAC."""
        return self.phone.mac

    @property
    def ip(self) -> str:
        """The address of the request."""
        return self.phone.phone_ip or ""

    @property
    def desk(self) -> DeskRecord:
        """The purpose that the tokens of its pages are signed for."""
        return DeskRecord(self.phone.mac)


@dataclass(frozen=True)
class AdoptAtPhone:
    """Adopts a phone that is not in the inventory for the user who proves a PIN at it.

    The request must come from the address from which the phone fetched its configuration, and the
    phone must confirm its MAC over its own web server. ``by_page`` is whether phones fetch their
    files from another server: then the request for the page is what discovers them. Unless it
    ``is_on``, there is no such phone.
    """

    database: ReadAndWrite[OnboardingTransaction]
    check_pin: CheckPin
    change: ChangeDesk
    information: PhoneInformation
    tokens: PageTokens
    networks: Networks
    limits: SwitchLimits
    clock: Clock
    new_id: NewId
    is_on: bool
    by_page: bool
    repeats: Repeats

    async def identify(self, device: str, ip: str, model: str | None) -> NewPhone | None:
        """The phone that a request comes from; None if a user may not adopt it here."""
        mac = mac_of_device(device)
        if not self.is_on or not mac or not self.networks.contains(ip):
            return None
        async with self.database.read() as tx:
            if not await is_adoptable(tx, mac):
                return None
            seen = await tx.discovered_phones.find(mac)
        now = self.clock()
        if seen is None or not same_address(seen.client_ip, ip):
            if not self.by_page or not self.repeats.is_noticed(ip, mac, millis(now)):
                return None
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                await tx.discovered_phones.see(mac, ip, model, "phone/services", timestamp(now))
        elif seen.model is not None:
            model = seen.model
        phone = phone_seen(mac, ip, model, timestamp(now))
        return NewPhone(replace(phone, adopted_with_pin=True))

    def form(self, new: NewPhone) -> str:
        """The token of the form."""
        return self.tokens.issue(Purpose.ADOPT, new.desk)

    async def __call__(
        self, new: NewPhone, name: str, pin: str, token: str
    ) -> Changed | ProfileChoice:
        """Adopt the phone with the only fitting profile, or offer the fitting profiles.

        Raises ``Unauthenticated`` like ``CheckPin``, also if the phone is another one;
        ``Conflict`` for an old token and for a user without a fitting profile;
        ``TooManyAttempts`` beyond the limits of switches; and everything that ``Deploy`` raises.
        """
        self.tokens.read(Purpose.ADOPT, new.desk, token)
        user = await self.check_pin(name, pin, new.mac, new.ip)
        new = await self._confirmed(new)
        fitting = await fitting_profiles(self.database, user, new.phone)
        if len(fitting) == 1:
            return await self._adopt(new, user, fitting[0].uuid)
        pin_hash = await pin_hash_of(self.database, user.uuid)
        proof = self.tokens.issue(Purpose.ADOPT_WITH, new.desk, user.uuid, pin_hash)
        return ProfileChoice(fitting, proof, user)

    async def choose(self, new: NewPhone, profile_uuid: str, token: str) -> Changed:
        """Adopt the phone with one of the profiles that were offered. Raises like an adoption."""
        pin_hash = await pin_hash_of(self.database, user_in(token))
        user_uuid = self.tokens.read(Purpose.ADOPT_WITH, new.desk, token, pin_hash)
        new = await self._confirmed(new)
        user = await chosen_user(self.database, user_uuid, profile_uuid, new.phone)
        return await self._adopt(new, user, profile_uuid)

    async def _confirmed(self, new: NewPhone) -> NewPhone:
        """The phone, with the model that it reports if none is recorded. Raises ``Unauthenticated``
        if the phone does not confirm its MAC."""
        found = await identity_at(self.information, new.ip, new.mac)
        if not found.is_confirmed:
            log.warning("%s was not adopted: %s", new.mac, found.message)
            raise wrong_pin()
        return NewPhone(replace(new.phone, model=new.phone.model or found.model))

    async def _adopt(self, new: NewPhone, user: User, profile_uuid: str) -> Changed:
        phone, actor = new.phone, actor_at(new.ip, user)
        order = await self.change.order(
            profile_uuid, phone, Action.SWITCH, DeskChange(DeskUse(), None)
        )
        if order is None:
            raise no_profile()
        try:
            async with self.database.write(by=actor) as tx:
                seen = await tx.discovered_phones.find(phone.mac)
                is_here = seen is not None and same_address(seen.client_ip, new.ip)
                if not is_here or not await is_adoptable(tx, phone.mac):
                    raise wrong_pin()
                await self.limits.count(tx.rates, actor, phone.mac, self._now())
                await tx.phones.add(phone)
                await tx.flush()
                desk = (await tx.desks.find(phone.mac)).changing(self.new_id())
                not_before = self._now() + DEPLOYED_SECONDS * 1000
                await tx.desks.put(
                    replace(desk, default_profile_uuid=order.profile.uuid, not_before=not_before)
                )
                fields = {"user_uuid": user.uuid, "profile_uuid": order.profile.uuid}
                tx.trail.note(Event("phone.adopted", "phone", phone.mac, fields))
        except AlreadyExists:  # two at once
            raise wrong_pin() from None
        return await self.change.put_and_answer(actor, order, user)

    def _now(self) -> int:
        return millis(self.clock())
