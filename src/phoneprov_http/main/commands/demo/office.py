"""The office of ``phoneprov demo --keep``: its places, people and simulated phones."""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.features.fleet.states import (
    FleetState,
)
from phoneprov_core.switching.deployments.observation import DeviceInformation

PHONES = 200
PLACES = {
    "Leeds/Ground floor": (26, 2000), "Leeds/1st floor": (50, 2100), "Leeds/2nd floor": (46, 2200),
    "Leeds/Warehouse": (12, 2300), "York/Ground floor": (28, 3000), "York/1st floor": (30, 3100),
    "Hull": (8, 4000),
}  # fmt: skip
"""The number of phones at each place, and the number before the first of them."""
_ROOMS = {
    2001: "Reception", 2002: "Lobby", 2120: "Meeting room Aire", 2121: "Meeting room Calder",
    2122: "Kitchen", 2220: "Meeting room Wharfe", 2221: "Board room", 2301: "Loading bay",
    2302: "Goods in", 3001: "Reception York", 3010: "Meeting room Ouse", 3110: "Meeting room Foss",
    4001: "Hull office",
}  # fmt: skip
"""The number that matches all, by its name."""
_FIRST_NAMES = (
    "Amelia", "Arjun", "Beatrice", "Callum", "Charlotte", "Chidi", "Daniel", "Deepa", "Eleanor",
    "Emeka", "Fatima", "Finlay", "Freya", "George", "Gwen", "Hannah", "Harvey", "Imran", "Isla",
    "Jack", "Joanna", "Kasia", "Keith", "Leila", "Liam", "Lucy", "Magda", "Marcus", "Megan",
    "Mohammed", "Naomi", "Niall", "Olivia", "Oscar", "Patricia", "Piotr", "Priya", "Rachel",
    "Ravi", "Rosie", "Samuel", "Sinead", "Sofia", "Thomas", "Tilda", "Victor", "William", "Zoe",
)  # fmt: skip
_LAST_NAMES = (
    "Abbott", "Adeyemi", "Ahmed", "Armitage", "Barraclough", "Bennett", "Booth", "Brennan",
    "Carter", "Chaudhry", "Clegg", "Crowther", "Dawson", "Dhillon", "Eastwood", "Ellis", "Farrar",
    "Firth", "Gallagher", "Greenwood", "Haigh", "Hartley", "Hussain", "Iqbal", "Jagger", "Kaur",
    "Kendall", "Kowalska", "Lister", "Lockwood", "Marsden", "Mehta", "Mistry", "Murgatroyd",
    "Naylor", "Nowak", "Oldroyd", "Osborne", "Patel", "Pickles", "Quinn", "Ramsden", "Rhodes",
    "Schofield", "Shaw", "Sutcliffe", "Sykes", "Thackray", "Tordoff", "Umar", "Varley",
    "Wadsworth", "Walsh", "Whitaker", "Woodhead", "Wrigley", "Yates", "Young",
)  # fmt: skip


def host(number: int) -> str:
    """The address of a phone of the office."""
    return f"127.0.7.{number}"


def mac(number: int) -> str:
    """Its MAC address."""
    return f"00:1B:D4:20:{number >> 8:02X}:{number & 255:02X}"


class Desk(NamedTuple):
    """A phone of the office, and who has it."""

    number: int
    place: str
    extension: int
    first: str
    last: str

    @property
    def model(self) -> str:
        """Rooms and every fifth desk have the large one."""
        return "CP-7965G" if not self.last or self.number % 5 == 0 else "CP-7945G"

    @property
    def name(self) -> str:
        """As people call the phone."""
        return self.who if not self.last else f"Desk {self.extension}"

    @property
    def who(self) -> str:
        return f"{self.first} {self.last}".strip()

    @property
    def login(self) -> str:
        return self.who.lower().replace(" ", ".")


def _desks() -> list[Desk]:
    """The same office each time."""
    chance = random.Random(1843)  # noqa: S311  # nosec B311
    names = [(first, last) for first in _FIRST_NAMES for last in _LAST_NAMES]
    people = iter(chance.sample(names, PHONES))
    found: list[Desk] = []
    for place, (count, base) in PLACES.items():
        for extension in range(base + 1, base + 1 + count):
            first, last = (_ROOMS[extension], "") if extension in _ROOMS else next(people)
            found.append(Desk(len(found) + 1, place, extension, first, last))
    return found


DESKS = _desks()
_STATES = {
    **dict.fromkeys((77, 78, 189, 200), FleetState.NEVER_SEEN),
    **dict.fromkeys((31, 96, 150), FleetState.UNREACHABLE),
    **dict.fromkeys((58, 163), FleetState.UNREGISTERED),
    **dict.fromkeys((44, 119, 171), FleetState.WRONG_LOAD),
    **dict.fromkeys((66, 140), FleetState.FILE_CHANGED),
    103: FleetState.FOREIGN, 129: FleetState.WRONG_MODEL,
}  # fmt: skip
"""The phones that need attention. Those that were never seen are new: nothing was put on them."""
CHANGED = FleetState.FILE_CHANGED
_OTHER_MODEL = "CP-6945"
LOAD, _OLD_LOAD = "SCCP45.9-4-2SR3-1S", "SCCP45.9-3-1SR4-1S"


def state(number: int) -> FleetState:
    """The state that a phone is in: most are fine."""
    return _STATES.get(number, FleetState.FINE)


def stated_by(number: int) -> DeviceInformation:
    """What a phone states about itself."""
    is_foreign, is_other = (
        state(number) is one for one in (FleetState.FOREIGN, FleetState.WRONG_MODEL)
    )
    model = _OTHER_MODEL if is_other else DESKS[number - 1].model
    stated = mac(number + 500 * is_foreign)
    load = _OLD_LOAD if state(number) is FleetState.WRONG_LOAD else LOAD
    return DeviceInformation(stated, model, load, f"FCH{number:08}")


@asynccontextmanager
async def simulated_office(first: SimulatedPhone, password: str) -> AsyncIterator[dict[str, Path]]:
    """The phones of the office on the ports of ``first``, as far as this machine has their
    addresses; the folder of each by its address. Those that are not to answer are off."""
    folders = {}
    async with AsyncExitStack() as running:
        for number in range(1, PHONES + 1):
            if state(number) in {FleetState.NEVER_SEEN, FleetState.UNREACHABLE}:
                continue
            stated = stated_by(number)
            with suppress(OSError):
                phone = SimulatedPhone(
                    ftp_password=password,
                    host=host(number),
                    ftp_port=first.ftp_port,
                    http_port=first.http_port,
                    mac=stated.mac or "",
                    model=stated.model or "",
                    load=stated.load or "",
                )
                await running.enter_async_context(phone)
                folders[phone.host] = phone.folder
        yield folders
