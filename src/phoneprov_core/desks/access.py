"""Which requests may act for a phone."""

from contextlib import suppress
from dataclasses import dataclass, field

from phoneprov_core.deployments.ports import Background
from phoneprov_core.desks.model import AtPhone
from phoneprov_core.desks.ports import DesksTransaction
from phoneprov_core.devices.binding import Binding, Networks
from phoneprov_core.devices.names import mac_of_device
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Forbidden, Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, shown

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
        now = shown(self.clock())
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
    """The one refusal of a phone."""

    code = "phone_not_served"
    usual = "This phone cannot use the services. Ask an administrator."
