"""Identifies the phone that requests a page; signs the values of its pages; shows the menu of
services; and checks the login of commands to phones."""

import hmac
import logging
import re
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from phoneprov_core.features.desks.model import AtPhone, DesksTransaction, PageSigner
from phoneprov_core.features.desks.records import DeskChanged, DeskRecord
from phoneprov_core.inventory.vendor_services import VendorService, VendorServicesTransaction
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, anonymous
from phoneprov_core.kernel.errors import Forbidden, Unavailable
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.people.throttle import GUESSES_PER_ADDRESS, WINDOW, AddressLimit
from phoneprov_core.switching.deployments.ports import Background
from phoneprov_core.switching.devices.names import Binding, Networks, mac_of_device

_MINUTE = len("2026-01-31T08:15")


@dataclass(frozen=True)
class IdentifyPhone:
    """Finds the phone that a request comes from. Phones do not authenticate. A request must come
    from the phone's recorded address, or from the phone networks (see ``Binding``)."""

    database: ReadAndWrite[DesksTransaction]
    networks: Networks
    binding: Binding
    clock: Clock
    background: Background
    _signs: dict[str, str] = field(default_factory=dict, init=False)
    """The minute in which each phone last requested a page."""

    async def __call__(self, device: str, ip: str) -> AtPhone:
        """The phone of this device name, and the user logged in there. Raises ``NotServed``, always
        with the same message: for an unknown or inactive phone, for one flagged as not being a
        vendor phone, and for a wrong address."""
        async with self.database.read() as tx:
            state = await tx.desks.at(mac_of_device(device))
        if state is None or state.vendor is False or not state.phone.is_active:
            raise NotServed
        recorded = state.phone.phone_ip
        if not self.binding.allows(self.networks, recorded, ip):
            raise NotServed
        shows_own = self.binding.allows_own(self.networks, recorded, ip)
        now = timestamp(self.clock())
        used = state.desk.is_used(now)
        if self._signs.get(state.phone.mac) != now[:_MINUTE]:
            self._signs[state.phone.mac] = now[:_MINUTE]
            self.background(self._saw(state.phone.mac, now))
        return AtPhone(state.phone, state.desk, state.user if used else None, ip, shows_own)

    async def _saw(self, mac: str, now: str) -> None:
        with suppress(Unavailable):
            async with self.database.write(by=SYSTEM_ACTOR) as tx:
                await tx.fleet.saw(mac, now)


class NotServed(Forbidden):
    """The only refusal of a phone, whatever the reason."""

    code = "phone_not_served"
    usual = "This phone cannot use the services. Ask an administrator."


LIFETIME_SECONDS = 10 * 60

_TOKEN = re.compile(r"([a-z])([0-9]{1,12})-([0-9a-f]{32})?-([A-Za-z0-9_-]{22})", re.ASCII)


class Purpose(Enum):
    """The purpose of a token."""

    LOGIN = "l"
    PROFILE = "p"
    """A login whose PIN was right; the profile is to be chosen."""
    LOGOUT = "o"
    PIN = "c"
    ADOPT = "a"
    """A user adopts the phone."""
    ADOPT_WITH = "w"
    """An adoption whose PIN was right; the profile is to be chosen."""


@dataclass(frozen=True)
class PageTokens:
    """Issues the tokens of a phone's pages, and reads them."""

    signer: PageSigner
    clock: Clock

    def issue(
        self, purpose: Purpose, desk: DeskRecord, user_uuid: str = "", pin_hash: str = ""
    ) -> str:
        """A token for a page. Issued for a PIN, it is valid while the user has this hash."""
        ends = millis(self.clock()) // 1000 + LIFETIME_SECONDS
        signature = self.signer.sign(_signed(purpose, desk, ends, user_uuid, pin_hash))
        return f"{purpose.value}{ends}-{user_uuid.replace('-', '')}-{signature}"

    def read(self, purpose: Purpose, desk: DeskRecord, token: str, pin_hash: str = "") -> str:
        """The user that the token names, empty without one. Raises ``Conflict`` (code
        ``desk_changed``) for every text that is not a current token of this phone."""
        match = _TOKEN.fullmatch(token)
        if match is None or match[1] != purpose.value:
            raise DeskChanged
        ends, user_uuid = int(match[2]), user_in(token)
        if not self.signer.is_signed(_signed(purpose, desk, ends, user_uuid, pin_hash), match[4]):
            raise DeskChanged
        if millis(self.clock()) // 1000 > ends:
            raise DeskChanged
        return user_uuid


def user_in(token: str) -> str:
    """The user that the token names, before the token is verified; empty without one."""
    match = _TOKEN.fullmatch(token)
    digits = match[3] or "" if match else ""
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "-".join(part for part in parts if part)


def _signed(purpose: Purpose, desk: DeskRecord, ends: int, user_uuid: str, pin_hash: str) -> str:
    return f"desk {desk.mac} {desk.version} {purpose.value} {ends} {user_uuid} {pin_hash}"


_MOST_SERVICES = 1000

log = logging.getLogger("phoneprov.desks")


@dataclass(frozen=True)
class ServiceMenu:
    """The vendor services of the menu."""

    database: ReadAndWrite[VendorServicesTransaction]

    async def __call__(self) -> list[VendorService]:
        """The services that have an address, oldest first."""
        async with self.database.read() as tx:
            services = await tx.vendor_services.rows(_MOST_SERVICES)
        return [service for service in services if service.url]


class PhoneCredentials:
    """Checks the login that this service uses on phones: a phone asks whether a command may be
    carried out. Only the phone networks get an answer. After 200 wrong logins from one client
    address within 15 minutes the address is refused for the rest of this time."""

    def __init__(
        self,
        database: ReadAndWrite[DesksTransaction],
        user: str,
        password: str,
        networks: Networks,
        clock: Clock,
    ) -> None:
        self._database = database
        self._user = user.encode()
        self._password = password.encode()
        self._networks = networks
        self._limit = AddressLimit("phone login", GUESSES_PER_ADDRESS, clock, again=WINDOW)

    def __repr__(self) -> str:
        return "PhoneCredentials(***)"

    async def __call__(self, user: str, password: str, ip: str) -> bool:
        """Whether this is the login; never while no login is set, and for an address outside the
        phone networks. Raises ``Unavailable``."""
        is_right = hmac.compare_digest(self._user, user.encode("utf-8", "surrogatepass"))
        is_right &= hmac.compare_digest(self._password, password.encode("utf-8", "surrogatepass"))
        if not self._networks.contains(ip) or await self._limit.wait(ip):
            return False
        if is_right and self._user:
            return True
        async with self._database.write(by=anonymous(ip)) as tx:
            wait = await self._limit.count(tx.rates, ip)
        if wait:
            log.warning("Too many wrong logins of phones from %s.", ip)
        return False
