"""The use cases of the pages for phones."""

import hmac
import logging
from dataclasses import dataclass

from phoneprov_core.features.desks.access import IdentifyPhone
from phoneprov_core.features.desks.adoption import AdoptAtPhone
from phoneprov_core.features.desks.login import ChangePin, LogInAtPhone
from phoneprov_core.features.desks.model import DesksTransaction
from phoneprov_core.features.desks.use_cases import LogOut
from phoneprov_core.inventory.vendor_services import VendorService, VendorServicesTransaction
from phoneprov_core.kernel.actor import anonymous
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.people.directory.use_cases import LookUp
from phoneprov_core.people.throttle import GUESSES_PER_ADDRESS, WINDOW, AddressLimit
from phoneprov_core.switching.devices.names import Networks

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


@dataclass(frozen=True, kw_only=True)
class PhoneServices:
    """The use cases of the phone's own pages."""

    identify: IdentifyPhone
    menu: ServiceMenu
    log_in: LogInAtPhone
    log_out: LogOut
    change_pin: ChangePin
    look_up: LookUp
    credentials: PhoneCredentials
    adopt: AdoptAtPhone
