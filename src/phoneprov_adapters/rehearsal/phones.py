"""The phones, servers and exchange of a twin: they take as long, and fail, as is expected."""

import asyncio
from collections.abc import Sequence

from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.features.rehearsal.foresight import SILENT, Behaviour
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.ports import Clock
from phoneprov_core.switching.deployments.observation import (
    DeviceInformation,
    PhoneInformation,
    PhoneWatch,
    Watching,
)
from phoneprov_core.switching.devices.commands import require_phone, restart_keys
from phoneprov_core.switching.devices.names import load_in, mac_in, mac_of_device
from phoneprov_core.switching.devices.ports import (
    Calls,
    ConfigUploader,
    KeyPress,
    ManagerAction,
    ManagerInterface,
    PhoneCommands,
    Proceed,
    Upload,
    Uploaded,
    always,
)

_LEAVES_AFTER = 0.5
"""Seconds from a command to the begin of the absence."""


class TwinPhone:
    """One phone: what it is expected to do, and when it was restarted."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.load = behaviour.stated.load if behaviour.stated else None
        self.configured: str | None = None
        self._step: float | None = None
        self._away: tuple[float, float] | None = None

    def begin_step(self) -> None:
        """The first step of a deployment begins."""
        self._step = asyncio.get_running_loop().time()

    async def end_step(self, seconds: float, *, is_last: bool = False) -> None:
        """Wait until a step has taken this long since the end of the one before: its recorded
        duration has the work of the service in it."""
        now = asyncio.get_running_loop().time()
        since = now if self._step is None else self._step
        await asyncio.sleep(max(0.0, since + seconds - now))
        self._step = None if is_last else asyncio.get_running_loop().time()

    def restart(self) -> None:
        """Restart with the configuration that was uploaded last, and the load that it names if that
        arrives."""
        now = asyncio.get_running_loop().time()
        behaviour = self.behaviour
        returns = now + behaviour.durations.away if behaviour.comes_back else float("inf")
        self._away = (now + min(_LEAVES_AFTER, behaviour.durations.away / 2), returns)
        if self.load and self.configured and self.configured not in behaviour.loads_missed:
            self.load = self.configured

    def is_away(self) -> bool:
        """Whether it restarts at this moment."""
        now = asyncio.get_running_loop().time()
        return self._away is not None and self._away[0] <= now < self._away[1]

    def returns_in(self) -> float | None:
        """Seconds until it has restarted; None if it was not restarted or never comes back."""
        if self._away is None or self._away[1] == float("inf"):
            return None
        return max(0.0, self._away[1] - asyncio.get_running_loop().time())


class TwinPhones(PhoneCommands, PhoneInformation, ManagerInterface, Calls, PhoneWatch):
    """All phones of a twin, as their web servers and the exchange show them."""

    def __init__(self, networks: PhoneNetworks, clock: Clock) -> None:
        self._networks = networks
        self._clock = clock
        self._by_mac: dict[str, TwinPhone] = {}
        self._by_ip: dict[str, TwinPhone] = {}
        self.wait = 0.0
        """Seconds that each deployment waits for no work."""

    def add(self, phone: Phone, behaviour: Behaviour) -> None:
        """Add a phone."""
        self._by_mac[phone.mac] = twin = TwinPhone(behaviour)
        if phone.phone_ip is not None:
            self._by_ip[phone.phone_ip] = twin

    def of(self, mac: str | None) -> TwinPhone | None:
        """The phone of this MAC; None if the batch does not have it."""
        return self._by_mac.get(mac or "")

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        self._networks.allowed(phone_ip)
        twin = self.of(mac) or self._by_ip[phone_ip]
        behaviour, stated = twin.behaviour, twin.behaviour.stated
        is_restart = len(commands) > 1
        if stated is None or twin.is_away():
            await twin.end_step(behaviour.durations.silent)
            raise (behaviour.restart if is_restart and behaviour.restart else SILENT).raised()
        if mac is not None:
            require_phone(mac, stated.mac)
        if not is_restart:
            await twin.end_step(behaviour.durations.clear)
            return
        await proceed()
        failure = behaviour.restart
        seconds = failure.seconds if failure else behaviour.durations.restart
        await twin.end_step(seconds, is_last=True)
        if failure is not None:
            raise failure.raised()
        if tuple(commands) == restart_keys(stated.model) or stated.model is None:
            twin.restart()

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        twin = self._by_ip.get(self._networks.allowed(phone_ip))
        if twin is None or twin.behaviour.stated is None or twin.is_away():
            await asyncio.sleep(min(seconds, _LEAVES_AFTER))
            raise TimedOut(SILENT.message)
        stated = twin.behaviour.stated
        return DeviceInformation(stated.mac, stated.model, twin.load, stated.serial)

    async def perform(
        self,
        action: ManagerAction,
        phone_ip: str | None = None,  # noqa: ARG002
        proceed: Proceed = always,
    ) -> None:
        fields = dict(action.fields)
        device = fields.get("Endpoint") or fields.get("DeviceName") or ""
        twin = self.of(mac_of_device(device))
        if twin is None:
            raise Refused("The exchange does not know the phone.")
        await proceed()
        durations, failure = twin.behaviour.durations, twin.behaviour.restart
        await twin.end_step(failure.seconds if failure else durations.restart, is_last=True)
        if failure is not None:
            raise failure.raised()
        if not twin.behaviour.is_registered:
            raise Refused("The phone is not registered with Asterisk; restart it by hand.")
        twin.restart()

    async def in_call(self, phone: Phone) -> bool:
        twin = self.of(phone.mac)
        until = None if twin is None else twin.behaviour.in_call_until
        return until is not None and self._clock() < until

    async def begin(self, phone: Phone, *, is_restarting: bool = False) -> Watching:  # noqa: ARG002
        twin = self.of(phone.mac)
        if twin is None or not twin.behaviour.is_registered:
            raise Refused("The phone is not registered with Asterisk.")
        return _Registering(twin)


class _Registering(Watching):
    """A phone as the events of the exchange show it."""

    def __init__(self, twin: TwinPhone) -> None:
        self._twin = twin

    async def returned(self, seconds: float) -> str:
        back = self._twin.returns_in()
        await asyncio.sleep(seconds if back is None else min(back, seconds))
        if back is None or back > seconds:
            raise TimedOut(f"The phone did not register within {seconds:.0f} s.")
        return "The phone registered with Asterisk."

    async def close(self) -> None:
        """Does nothing."""


class TwinUploader(ConfigUploader):
    """The server of the uploads, over one in memory, or over that of the twin's own records."""

    def __init__(self, phones: TwinPhones, inner: ConfigUploader) -> None:
        self._phones = phones
        self._inner = inner

    async def upload(self, upload: Upload) -> Uploaded:
        twin = self._phones.of(mac_in(upload.filename))
        if twin is not None:
            await asyncio.sleep(self._phones.wait)
            twin.begin_step()
            failure = twin.behaviour.upload
            if failure is not None and self._takes(upload):
                await twin.end_step(failure.seconds)
                raise failure.raised()
            await twin.end_step(twin.behaviour.durations.upload)
        uploaded = await self._inner.upload(upload)
        if twin is not None:
            twin.configured = load_in(upload.content.decode())
        return uploaded

    def _takes(self, upload: Upload) -> bool:
        """Whether the server would be called. Raises what the addresses of phones raise."""
        if isinstance(self._inner, MemoryUploader):
            self._inner.server_of(upload.phone_ip)
        return True
