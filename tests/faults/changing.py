"""Changes of who uses a phone, in an office of two phones whose exchange asks for lines, killed
before any of their effects.

As a program it reads one order per line from its standard input and forks for each. It prints the
exit code of each.
"""

import asyncio
import functools
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.memory.devices import MemoryPhone
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.runtime.tasks import system_clock
from phoneprov_adapters.security.credentials import Argon2Hasher
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.features.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.features.desks.change import Changed
from phoneprov_core.features.fleet.model import AdoptPhone, ReplacePhone
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.people.users.model import UserPatch
from phoneprov_core.switching.deployments.observation import DeviceInformation
from phoneprov_core.switching.devices.commands import restart_keys
from phoneprov_core.switching.devices.names import config_filename, device_name
from phoneprov_core.switching.devices.ports import KeyPress, Proceed, always
from support.keys import argon2_parameters
from support.polling import until
from support.records import identifier

PIN = "24681357"
ADMIN = Actor(identifier(1), SUPERADMIN)
IP = "127.0.0.1"


class Person(msgspec.Struct, frozen=True):
    uuid: str
    username: str
    profile: str
    number: str
    text: str


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """Two phones, and the users of the floor."""

    here: str
    there: str
    ada: Person
    bob: Person


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A change to make, and the effect before which its process is killed, such as ``commit 2``;
    empty to let it end. ``effects`` is a file for the effects of a process that ended."""

    way: str
    floor: Floor
    environment: dict[str, str]
    before: str = ""
    effects: str = ""


async def _short(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.05))


class Office(MemoryPhone):
    """The container of a service, and the phones that it calls.

    A phone that restarts reads its file and asks for its lines at once, and keeps both; what it
    has is in ``folder``, so that it outlives this process.
    """

    def __init__(self, environment: Mapping[str, str], *, later: timedelta = timedelta()) -> None:
        super().__init__(PhoneNetworks.parse("127.0.0.0/8"))
        settings = read_settings(environment)
        self.folder = Path(environment["PHONES"])
        self.files = Path(environment["FILES"])
        keys = SecretKeys.parse(environment["PHONEPROV_SECRET_KEYS"])
        self._hasher = Argon2Hasher(keys, workers=1, parameters=argon2_parameters())

        def clock() -> datetime:
            return system_clock() + later

        self.container: Container = prepare(
            settings, phone_commands=self, hasher=self._hasher, clock=clock, pause=_short
        )

    def file(self, mac: str) -> str | None:
        """The file of the phone on the server."""
        path = self.files / config_filename("SEP{MAC}.cnf.xml", mac)
        return path.read_text() if path.exists() else None

    async def register(self, mac: str) -> None:
        """The phone starts."""
        device = await self.container.lines().device(device_name(mac)) or []
        lines = [value.removeprefix("line,") for name, value in device if name == "button"]
        (self.folder / device_name(mac)).write_text(json.dumps([self.file(mac), lines]))

    def registered(self, mac: str) -> tuple[str | None, list[str]]:
        """The file that the phone read when it started, and the lines that it got."""
        text, lines = json.loads((self.folder / device_name(mac)).read_text())
        return text, lines

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        await super().execute(phone_ip, commands, mac, proceed)
        assert mac
        if tuple(commands) == restart_keys("7945"):
            await self.register(mac)

    async def settled(self) -> None:
        """Do what a serving process does in the background until nothing is left to do."""
        await self.container.batch_worker()()
        while await self.container.keep_desks()():
            pass
        # Calls of phones that no caller waits for.
        await self.container.tasks().drain(30)

    def close(self) -> None:
        self._hasher.close()


@asynccontextmanager
async def opened(
    environment: Mapping[str, str], *, later: timedelta = timedelta()
) -> AsyncIterator[Office]:
    """A started service, whose clock is fast by ``later``."""
    office = Office(environment, later=later)
    try:
        async with running(office.container):
            yield office
    finally:
        office.close()


async def log_in(office: Office, mac: str, person: Person) -> None:
    services = office.container.phone_services()
    at = await services.identify(device_name(mac), IP)
    outcome = await services.log_in(at, person.username, PIN, services.log_in.form(at))
    assert isinstance(outcome, Changed)
    outcome.answered()
    await office.container.tasks().drain(30)


async def log_out(office: Office, mac: str) -> None:
    services = office.container.phone_services()
    at = await services.identify(device_name(mac), IP)
    (await services.log_out.at_phone(at, services.log_out.form(at))).answered()


async def switch(office: Office, mac: str, person: Person) -> None:
    request = SwitchRequest(profile_uuid=person.profile, mac=mac)
    await office.container.use_cases().switch_profile(ADMIN, request)


async def batch(office: Office, floor: Floor) -> None:
    items = tuple(
        BatchTarget(mac, person.profile)
        for mac, person in ((floor.here, floor.ada), (floor.there, floor.bob))
    )
    batches = office.container.use_cases().batches
    made = await batches.start(ADMIN, CreateBatch(action="switch", items=items, at_once=1))

    async def is_over() -> bool:
        return (await batches.get(ADMIN, made.uuid)).ended_at is not None

    await until(is_over)


async def deactivate(office: Office, person: Person) -> None:
    patch = UserPatch(is_active=False)
    await office.container.use_cases().users.update(ADMIN, person.uuid, patch)


async def nothing() -> None:
    """The time alone ends a login."""


ACTS: dict[str, Callable[[Office, Floor], Awaitable[object]]] = {
    "login": lambda office, floor: log_in(office, floor.here, floor.ada),
    "next login": lambda office, floor: log_in(office, floor.here, floor.ada),
    "logout": lambda office, floor: log_out(office, floor.here),
    "move": lambda office, floor: log_in(office, floor.there, floor.ada),
    "switch": lambda office, floor: switch(office, floor.here, floor.ada),
    "rollback": lambda office, floor: office.container.use_cases().rollback(ADMIN, floor.here),
    "batch": batch,
    "expiry": lambda office, floor: nothing(),
    "deactivation": lambda office, floor: deactivate(office, floor.ada),
    "deletion": lambda office, floor: office.container.use_cases().users.delete(
        ADMIN, floor.ada.uuid
    ),
}
"""The ways in which the user of a phone changes."""


def newcomer(floor: Floor) -> str:
    """A phone that is not in the inventory."""
    return "00:1B:D5" + floor.here[8:]


async def onboard(office: Office, floor: Floor) -> None:
    mac, adopt = newcomer(floor), office.container.phone_services().adopt
    office.tells[IP] = DeviceInformation(mac, "CP-7945G")
    new = await adopt.identify(device_name(mac), IP, None)
    assert new is not None
    outcome = await adopt(new, floor.bob.username, PIN, adopt.form(new))
    assert isinstance(outcome, Changed)
    outcome.answered()
    await office.container.tasks().drain(30)


FLEET_ACTS: dict[str, Callable[[Office, Floor], Awaitable[object]]] = {
    "replace": lambda office, floor: office.container.change_fleet().replace(
        ADMIN, floor.here, ReplacePhone(mac=newcomer(floor), phone_ip=IP)
    ),
    "adopt": lambda office, floor: office.container.change_fleet().adopt(
        ADMIN, newcomer(floor), AdoptPhone(profile_uuid=floor.bob.profile, phone_ip=IP)
    ),
    "onboard": onboard,
}
"""The ways in which a new phone gets its desk."""


class Effects:
    """Counts the effects of this process by their kind, and kills it before one of them."""

    def __init__(self, before: str) -> None:
        self.seen: list[str] = []
        self._before = before
        self._counts: Counter[str] = Counter()

    def comes(self, kind: str) -> None:
        self._counts[kind] += 1
        effect = f"{kind} {self._counts[kind]}"
        self.seen.append(effect)
        if effect == self._before:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, owner: type[Any], method: str, kind: str) -> None:
        """Count the calls of a method."""
        original = getattr(owner, method)

        @functools.wraps(original)
        async def counted(*args: Any, **options: Any) -> Any:
            self.comes(kind)
            return await original(*args, **options)

        setattr(owner, method, counted)

    def commits_of(self, database: type[Any]) -> None:
        """Count transactions that are about to be committed."""
        write = database.write

        @asynccontextmanager
        async def counted(*args: Any, **options: Any) -> AsyncIterator[Any]:
            async with write(*args, **options) as tx:
                yield tx
                self.comes("commit")

        database.write = counted


async def run_order(order: Order) -> None:
    """Run the order in a new service."""
    async with opened(order.environment) as office:
        effects = Effects(order.before)
        effects.commits_of(type(office.container.database()))
        effects.before(FtpSession, "store", "store")
        effects.before(FtpSession, "rename", "rename")
        effects.before(Office, "execute", "phone")
        await (ACTS | FLEET_ACTS)[order.way](office, order.floor)
        await office.settled()
    if order.effects:
        Path(order.effects).write_text(json.dumps(effects.seen))


def main() -> None:
    """Execute one order a line; print the exit code of its process."""
    for line in sys.stdin:
        order = msgspec.json.decode(line, type=Order)
        child = os.fork()
        if not child:
            asyncio.run(run_order(order))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
