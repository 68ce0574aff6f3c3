"""Whether the firmware load that a configuration names arrived at its phone."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from phoneprov_core.inventory.configuration.findings import ending_of
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.system import Pause
from phoneprov_core.switching.deployments.observation import PhoneInformation
from phoneprov_core.switching.devices.loads import states_load

LOAD_MINUTES = 10
"""Default time of a load to arrive, after the phone was seen to restart: it fetches its files, and
restarts again."""

_READ_SECONDS = 2.0
_OFTEN_SECONDS, _OFTEN_UNTIL, _SELDOM_SECONDS = 5.0, 60.0, 20.0
"""Seconds between two requests to a phone: at first, until when, and later."""

FilesOfLoad = Callable[[str], Awaitable[Sequence[str]]]
"""Port: the names of all files of a load; none if they are not known."""


class StatedLoad(Struct, frozen=True):
    """What a phone stated. ``runs`` is whether it runs the load, None if that is not known;
    ``answers`` whether it answered at all."""

    load: str
    runs: bool | None = None
    stated: str | None = None
    answers: bool = False

    def missed(self, minutes: int) -> str:
        """Why the load is not confirmed after this time, in a sentence."""
        begin = f"The load {self.load} did not arrive"
        if self.runs is None:
            begin = f"It is not known whether the load {self.load} arrived"
        return f"{begin} within {minutes} minutes: {self.observed}."

    @property
    def observed(self) -> str:
        """What the phone stated, as the end of a sentence."""
        if self.stated is not None:
            return f"the phone runs {self.stated}"
        return "the phone states no firmware" if self.answers else "its web server does not answer"


@dataclass(frozen=True)
class Arrival:
    """Asks phones which firmware they run. A load has ``minutes`` to arrive; 0: loads are
    not compared. ``files`` is None without a folder of files."""

    information: PhoneInformation
    pause: Pause
    minutes: int = LOAD_MINUTES
    files: FilesOfLoad | None = None

    async def stated(self, phone: Phone, load: str) -> StatedLoad:
        """What the phone states now."""
        try:
            found = await self.information.read(phone.phone_ip or "", _READ_SECONDS)
        except PhoneprovError:
            return StatedLoad(load)
        if not found.is_phone or found.mac not in {None, phone.mac}:
            return StatedLoad(load)
        files: Sequence[str] = ()
        if self.files is not None and found.load and ending_of(found.load):
            files = await self.files(load)
        return StatedLoad(load, states_load(found.load, load, files), found.load, answers=True)

    async def wait(self, passed: float) -> None:
        """The pause before the next request, ``passed`` seconds after the first one."""
        await self.pause(_OFTEN_SECONDS if passed < _OFTEN_UNTIL else _SELDOM_SECONDS)
