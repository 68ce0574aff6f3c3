"""After a killed login, logout or switch, the phone has the file that its desk states, or a record
marks it and the next start repairs it."""

import dataclasses
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from faults.crashing import DESKS, PIN, POINTS, USER, Order
from faults.desk import Desk, desk
from faults.killer import Killer, killer
from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.testing.phone_records import a_deployment
from phoneprov_adapters.testing.records import a_link, a_mac, a_user, an_extension, identifier
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.desk_records import DeskRecord
from phoneprov_core.desks.model import DeskPatch
from phoneprov_core.devices.names import config_filename, device_name
from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.system import shown
from phoneprov_core.phones.model import CreatePhone
from phoneprov_core.profiles.model import CreateProfile
from phoneprov_core.vendor_users import CreatePin
from support.scale import note, rounds

OWNER = identifier(1)
ACTOR = Actor(OWNER, SUPERADMIN)
MAC = a_mac(1)
FILES = {
    None: f"<device><a>{'lobby' * 10_000}</a></device>",
    OWNER: f"<device><a>{'ada' * 10_000}</a></device>",
}
"""The configuration of the phone while this user is logged in."""

LINES = {None: "100", OWNER: "101"}
"""The number of the phone while this user is logged in."""

SHORT = ("after the rename", "after the desk is stored", "before the restart")
SWITCHES = ("after the rename", "before the restart")
Kind = Literal["login", "logout", "switch"]
BOTH: tuple[Kind, Kind] = ("login", "logout")


async def test_login_and_logout_killed_at_any_step_are_repaired(tmp_path: Path) -> None:
    times = rounds(1, 3)
    points = rounds(SHORT, tuple(DESKS))
    repaired = 0
    async with desk(tmp_path / "files") as outside, killer() as kill:
        service = await populated(tmp_path, outside, kill)
        for point in points:
            for kind in BOTH * times:
                await service.change(kind, point)
                repaired += await service.repaired(f"{kind}, {point}")
                await service.repeat_if_rolled_back(kind)
    assert repaired
    note(
        f"login and logout killed at {len(points)} points, {times} times each: phone and desk "
        f"agree after the next start; {repaired} were repaired"
    )


async def test_first_switch_killed_at_any_step_is_repaired(tmp_path: Path) -> None:
    points = rounds(SWITCHES, tuple(POINTS))
    repaired = 0
    async with desk(tmp_path / "files") as outside, killer() as kill:
        service = await populated(tmp_path, outside, kill)
        for point in points:
            await service.change("switch", point)
            repaired += await service.repaired(f"switch, {point}")
            await service.repeat_if_rolled_back("logout")
    assert repaired
    note(
        f"switch killed at {len(points)} points: phone and desk agree after the next start; "
        f"{repaired} were repaired"
    )


async def populated(folder: Path, outside: Desk, kill: Killer) -> "Service":
    environment = {
        "PHONEPROV_DATA_DIR": str(folder / "data"),
        "PHONEPROV_SECRET_KEYS": "the key of all the crashes of the tests",
        "PHONEPROV_SWITCHES_PER_PHONE": "0",
        "PHONEPROV_ASTERISK_TOKEN": "a token",
        **outside.settings(),
    }
    return Service(environment, await populate(environment), outside, kill)


class Service:
    """A service that is killed and started again. ``profile`` is the profile of the user."""

    def __init__(
        self, environment: Mapping[str, str], profile: str, outside: Desk, kill: Killer
    ) -> None:
        self._environment = environment
        self._profile = profile
        self._outside = outside
        self._kill = kill
        self._file = outside.folder / config_filename("SEP{MAC}.cnf.xml", MAC)
        self._file.write_text(FILES[None])

    async def change(self, kind: Kind, point: str = "") -> None:
        """Log in or out at the phone, or switch it, up to this point or to the end."""
        self._outside.becomes(MAC)
        order = Order(
            point=point,
            environment={**self._environment, "PHONEPROV_RESTART": "http"},
            user_uuid=OWNER,
            profile_uuid=self._profile,
            mac=MAC,
            desk=None if kind == "switch" else kind,
        )
        assert await self._kill(order) == (-signal.SIGKILL if point else 0), (kind, point)
        self._outside.forget(self._file.name)

    async def repaired(self, what: str) -> int:
        """Start the service again; the number of repaired desks."""
        async with started(self._environment) as container:
            record = await self._record(container)
            assert await self._agrees(container, record) or is_unsettled(record), what
            # A crash leaves the phone to its caller for a while.
            assert await container.keep_desks()() == 0, what
            keep_desks = dataclasses.replace(container.keep_desks(), repeat_seconds=0)
            count = await keep_desks()
            assert count == int(is_unsettled(record)), what
            record = await self._record(container)
            assert await self._agrees(container, record), what
            assert not is_unsettled(record), what
            assert await container.keep_desks()() == 0, what
        assert self._outside.leftovers() == [], what
        return count

    async def repeat_if_rolled_back(self, kind: Kind) -> None:
        """Repeat the killed change if the repair undid it."""
        async with started(self._environment) as container:
            is_used = (await self._record(container)).user_uuid is not None
        if is_used != (kind == "login"):
            await self.change(kind)
            assert self._file.read_text() == FILES[OWNER if kind == "login" else None]

    async def _agrees(self, container: Container, record: DeskRecord) -> bool:
        text = self._file.read_text()
        assert text in FILES.values()
        device = await container.lines().device(device_name(MAC)) or []
        buttons = [value for name, value in device if name == "button"]
        return FILES[record.user_uuid] == text and buttons == [f"line,{LINES[record.user_uuid]}"]

    async def _record(self, container: Container) -> DeskRecord:
        async with container.database().read() as tx:
            return await tx.desks.find(MAC)


def is_unsettled(record: DeskRecord) -> bool:
    return record.due is not None or record.change_uuid is not None


@asynccontextmanager
async def started(environment: Mapping[str, str]) -> AsyncIterator[Container]:
    container = prepare(read_settings(environment))
    async with running(container):
        yield container


async def populate(environment: Mapping[str, str]) -> str:
    """Add a phone with a default profile, and a user with a PIN and a profile; the user."""
    settings = read_settings(environment)
    prepare(settings)
    await create_database(settings)
    async with started(environment) as container:
        use_cases = container.use_cases()
        async with container.database().write(by=SYSTEM_ACTOR) as tx:
            await tx.users.add(a_user(1))
            await tx.users.add(a_user(2))
            for number, owner in ((1, OWNER), (2, identifier(2))):
                text = LINES[owner if owner == OWNER else None]
                await tx.extensions.add(an_extension(10 + number, extension=text))
                await tx.links.add(a_link(20 + number, owner, identifier(10 + number)))
        assert a_user(1).username == USER
        await use_cases.vendor_users.save(ACTOR, OWNER, CreatePin(pin_code=PIN))
        await use_cases.phones.create(ACTOR, CreatePhone(mac=MAC, phone_ip="127.0.0.1"))
        made = [
            await use_cases.profiles.create(
                ACTOR, CreateProfile(user_uuid=owner, name="One", cnf_xml=FILES[user])
            )
            for owner, user in ((OWNER, OWNER), (identifier(2), None))
        ]
        patch = DeskPatch(default_profile_uuid=made[1].uuid)
        await use_cases.desks.update(ACTOR, MAC, patch)
        # The file of the test is in place from here on.
        deployed = a_deployment(
            31, MAC, owner_uuid=identifier(2), profile_uuid=made[1].uuid, place="/", number=0,
            created_at=shown(container.clock()()), outcome=Outcome.DEPLOYED,
        )  # fmt: skip
        async with container.database().write(by=SYSTEM_ACTOR) as tx:
            await tx.deployments.add(deployed)
        return made[0].uuid
