"""After a kill at any step of any way in which the user of a phone changes, the next start brings
desk, file, lines and screen of each phone to the state before the change or to the one after it."""

import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import httpx
import msgspec
import pytest

from faults import changing
from faults.changing import (
    ACTS,
    ADMIN,
    IP,
    PIN,
    Floor,
    Office,
    Order,
    Person,
    log_in,
    log_out,
    opened,
    switch,
)
from faults.desk import Desk, desk
from faults.killer import Killer, killer
from phoneprov_adapters.composition.lifecycle import create_database, prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.people.vendor_users import CreatePin
from phoneprov_core.switching.devices.names import device_name
from support.phone_browser import PhoneBrowser
from support.postgres import new_database
from support.records import (
    a_link,
    a_mac,
    a_permission,
    a_user,
    an_assignment,
    an_extension,
    identifier,
)
from support.scale import long_only, note
from support.shared_app import shared_app

TOKEN = "a service token of Asterisk"
LOBBY, OWN = 100, 900
LATER = timedelta(seconds=100)
"""After this time a phone is called again that a crash kept from being called."""

Kind = Literal["default", "own", "both", "bare"]
"""What a desk without a user has: a default profile, a number of its own, both, or neither."""

KINDS: tuple[Kind, ...] = ("default", "own", "both", "bare")
SHORT: list[tuple[str, Kind, str]] = [
    *((way, "default", "phone 1") for way in ACTS),
    # The file is in place, and the desk is not stored.
    ("login", "bare", "commit 4"),
    ("next login", "bare", "commit 4"),
    ("logout", "bare", "phone 1"),
    ("deletion", "bare", "phone 1"),
]


class State(NamedTuple):
    """What a phone has: the user at its desk, its file, and the numbers of its lines."""

    user: str | None
    text: str | None
    numbers: list[str]


World = tuple[State, State]
"""The state of both phones."""


class Case(msgspec.Struct, frozen=True):
    """One change, at two phones of its own. ``lobby`` is the owner of the default profile."""

    way: str
    kind: Kind
    floor: Floor
    lobby: Person

    @property
    def worlds(self) -> tuple[World, ...]:
        """What may be found after the next start: the state before the change, unless it is
        certain to be made, and the one after it."""
        ada, bob = self._used(self.floor.ada), self._used(self.floor.bob)
        idle, left = self._idle(None), self._idle(self.floor.ada)
        return {
            "login": ((idle, idle), (ada, idle)),
            "next login": ((self._idle(self.floor.bob), idle), (ada, idle)),
            "move": ((ada, idle), (left, ada)),
            "switch": ((bob, idle), (ada, idle)),
            "rollback": ((ada, idle), (bob, idle)),
            "batch": ((bob, idle), (ada, bob)),
            "expiry": ((left, idle),),
        }.get(self.way, ((ada, idle), (left, idle)))

    def _used(self, person: Person) -> State:
        return State(person.username, person.text, [person.number])

    def _idle(self, left: Person | None) -> State:
        has_default = self.kind in {"default", "both"}
        text = self.lobby.text if has_default else left.text if left else None
        numbers = {"default": [self.lobby.number], "bare": []}.get(self.kind, [str(OWN)])
        return State(None, text, numbers)


class Building:
    """Makes the floors of cases, and looks at them."""

    def __init__(self, environment: dict[str, str], outside: Desk, kill: Killer) -> None:
        self.environment = environment
        self._outside = outside
        self.run = kill
        self._count = 1
        self._lobby: Person

    async def begin(self) -> None:
        """Add an administrator, the owner of default profiles, and the number of desks."""
        async with opened(self.environment) as office:
            async with office.container.database().write(by=SYSTEM_ACTOR) as tx:
                await tx.users.add(a_user(1, uuid=ADMIN.user_uuid, username="admin"))
                await tx.permissions.add(a_permission(2, level=0))
                assigned = an_assignment(ADMIN.user_uuid, identifier(2), 3)
                await tx.assignments.assign(assigned)
                await tx.extensions.add(an_extension(OWN, extension=str(OWN)))
            self._lobby = await self._person(office, "lobby", LOBBY)

    async def _person(self, office: Office, name: str, number: int) -> Person:
        use_cases = office.container.use_cases()
        text = f"<device><n>{name}</n></device>"
        async with office.container.database().write(by=SYSTEM_ACTOR) as tx:
            user = a_user(number, username=name, first_name=name, email=f"{name}@example.com")
            await tx.users.add(user)
            await tx.extensions.add(an_extension(number, extension=str(number)))
            await tx.links.add(a_link(number, user.uuid, identifier(number)))
        await use_cases.vendor_users.save(ADMIN, user.uuid, CreatePin(pin_code=PIN))
        new = CreateProfile(user_uuid=user.uuid, name=name, cnf_xml=text)
        profile = await use_cases.profiles.create(ADMIN, new)
        return Person(user.uuid, name, profile.uuid, str(number), text)

    async def case(self, way: str, kind: Kind) -> Case:
        """The phones and users of a case, in the state before the change."""
        self._count += 1
        number = self._count
        async with opened(self.environment) as office:
            floor = Floor(
                here=a_mac(2 * number),
                there=a_mac(2 * number + 1),
                ada=await self._person(office, f"ada-{number}", 1000 + 2 * number),
                bob=await self._person(office, f"bob-{number}", 1001 + 2 * number),
            )
            for mac in (floor.here, floor.there):
                await self._phone(office, mac, kind)
            if way in {"switch", "rollback", "batch"}:
                await switch(office, floor.here, floor.bob)
            if way == "next login":
                await log_in(office, floor.here, floor.bob)
                await log_out(office, floor.here)
                await office.settled()
            elif way == "rollback":
                await switch(office, floor.here, floor.ada)
            elif way not in {"login", "switch", "batch"}:
                await log_in(office, floor.here, floor.ada)
            case = Case(way, kind, floor, self._lobby)
            if way == "expiry":
                async with office.container.database().write(by=SYSTEM_ACTOR) as tx:
                    record = await tx.desks.find(floor.here)
                    over = msgspec.structs.replace(record, until=record.since)
                    await tx.desks.put(over)
            else:
                assert await self._world(office, case) == case.worlds[0], (way, kind)
        return case

    async def _phone(self, office: Office, mac: str, kind: Kind) -> None:
        use_cases = office.container.use_cases()
        new = CreatePhone(mac=mac, phone_ip=IP, model="CP-7945G", software_type="SCCP")
        await use_cases.phones.create(ADMIN, new)
        if kind in {"own", "both"}:
            await use_cases.desks.update(ADMIN, mac, DeskPatch(extension_uuid=identifier(OWN)))
        if kind in {"default", "both"}:
            default = DeskPatch(default_profile_uuid=self._lobby.profile)
            await use_cases.desks.update(ADMIN, mac, default)
            await switch(office, mac, self._lobby)
        else:
            await office.register(mac)

    async def kill(self, way: str, kind: Kind, before: str) -> None:
        """Kill a change before this effect; the next start leaves both phones whole."""
        case = await self.case(way, kind)
        await self.killed(case, before)
        await self.check(case, before)

    async def killed(self, case: Case, before: str) -> None:
        """Make the change in a process that is killed."""
        order = Order(way=case.way, floor=case.floor, environment=self.environment, before=before)
        code = await self.run(order)
        # How often a batch looks for work depends on time.
        assert code == -signal.SIGKILL or (case.way == "batch" and not code), (case, before)
        await self._outside.hung_up()
        self._outside.forget_all()

    async def effects(self, case: Case, file: Path) -> list[str]:
        """The effects of the change, when it is not killed."""
        order = Order(
            way=case.way, floor=case.floor, environment=self.environment, effects=str(file)
        )
        assert await self.run(order) == 0, (case.way, case.kind)
        async with opened(self.environment) as office:
            assert await self._world(office, case) == case.worlds[-1], (case.way, case.kind)
        return list(json.loads(file.read_text()))

    async def check(self, case: Case, before: str) -> None:
        """Start the service again."""
        what = case.way, case.kind, before
        async with opened(self.environment, later=LATER) as office:
            await office.settled()
            world = await self._world(office, case)
            assert world in case.worlds, what
            if case.way in {"deactivation", "deletion"}:
                async with office.container.database().read() as tx:
                    user = await tx.users.find(case.floor.ada.uuid)
                is_there = user is not None and user.is_active
                assert is_there == (world == case.worlds[0]), what
            assert await office.container.keep_desks()() == 0, what
        assert self._outside.leftovers() == [], what

    async def _world(self, office: Office, case: Case) -> World:
        container = office.container
        with shared_app(container.use_cases(), container.settings()) as app:
            transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return (
                    await self._state(office, app, client, case.floor.here),
                    await self._state(office, app, client, case.floor.there),
                )

    async def _state(
        self, office: Office, app: object, client: httpx.AsyncClient, mac: str
    ) -> State:
        """What is found at a phone. The phone has restarted since its file or its lines changed,
        and its screen shows its user."""
        found = await office.container.use_cases().desks.get(ADMIN, mac)
        reply = await client.post(
            "/asterisk/sccpdevice/single",
            data={"name": device_name(mac)},
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        buttons = [part for part in reply.text.split("&") if part.startswith("button=line%2C")]
        state = State(
            found.username,
            office.file(mac),
            [button.removeprefix("button=line%2C") for button in buttons],
        )
        assert office.registered(mac) == state[1:], (mac, "has not restarted", state)
        menu = (await PhoneBrowser(app, mac, IP).first()).items
        shown = [name.removeprefix("Log out ") for name in menu if name.startswith("Log out")]
        assert shown == ([f"{found.username} Lovelace"] if found.username else []), mac
        assert ("Log in" in menu) is (found.username is None), mac
        return state


@asynccontextmanager
async def building(folder: Path, url: str = "", **more: str) -> AsyncIterator[Building]:
    (folder / "phones").mkdir()
    async with desk(folder / "files") as outside, killer(changing) as kill:
        environment = {
            **outside.settings(),
            "PHONEPROV_DATA_DIR": str(folder / "data"),
            "PHONEPROV_SECRET_KEYS": "the key of all the crashes of the tests",
            "PHONEPROV_SWITCHES_PER_PHONE": "0",
            "PHONEPROV_GUESSES_PER_ADDRESS": "0",
            "PHONEPROV_ASTERISK_TOKEN": TOKEN,
            "PHONEPROV_RESTART": "http",
            "PHONEPROV_CONFIRM_TIMEOUT": "0",
            "PHONES": str(folder / "phones"),
            "FILES": str(folder / "files"),
            **({"PHONEPROV_DATABASE_URL": url} if url else {}),
            **more,
        }
        if not url:
            settings = read_settings(environment)
            prepare(settings)
            await create_database(settings)
        made = Building(environment, outside, kill)
        await made.begin()
        yield made


async def test_phone_is_whole_after_a_kill_after_the_upload(tmp_path: Path) -> None:
    async with building(tmp_path) as made:
        for way, kind, before in SHORT:
            await made.kill(way, kind, before)


@long_only
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_phone_is_whole_after_a_kill_at_any_step(tmp_path: Path, database: str) -> None:
    count, problems = 0, []
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(new_database()) if database == "postgres" else ""
        made = await stack.enter_async_context(building(tmp_path, url))
        for kind in KINDS:
            for way in ACTS:
                effects = await made.effects(await made.case(way, kind), tmp_path / "effects")
                for effect in effects:
                    try:
                        await made.kill(way, kind, effect)
                    except AssertionError as error:
                        problems.append(str(error))
                count += len(effects)
    assert problems == []
    note(f"{len(ACTS)} changes of a phone's user, killed at {count} places, {database}")
