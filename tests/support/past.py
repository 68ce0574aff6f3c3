"""An office in which everything that history knows of happens at random, and what it says then."""

import contextlib
import random
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.change import ChangeDesk
from phoneprov_core.features.desks.model import DeskPatch, DeskPolicy
from phoneprov_core.features.desks.occupancy import DeskChange, with_change
from phoneprov_core.features.desks.records import DeskUse
from phoneprov_core.features.desks.upkeep import KeepDesks
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.fleet.model import ReplacePhone
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.features.fleet.use_cases import ChangeFleet
from phoneprov_core.features.history.model import HistoryQuery, PastPhone
from phoneprov_core.features.history.use_cases import History
from phoneprov_core.features.lines.model import numbers_of
from phoneprov_core.features.retention import KeepDays, Prune
from phoneprov_core.inventory.extensions import CreateExtension, ExtensionPatch
from phoneprov_core.inventory.links import CreateLink
from phoneprov_core.inventory.phones.model import CreatePhone, Phone, PhonePatch
from phoneprov_core.inventory.profiles.model import Profile, ProfilePatch
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import Conflict, NotFound, Refused
from phoneprov_core.kernel.ports import Window
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.users.model import UserPatch
from phoneprov_core.switching.deployments.model import Action, DeploymentFilter, Outcome
from phoneprov_core.switching.deployments.order import newest_request
from phoneprov_core.switching.deployments.ports import is_of
from phoneprov_core.switching.deployments.steps import upload
from phoneprov_core.switching.errors import RefusedMidway
from support.floor import Floor
from support.office import Settings
from support.records import a_mac

PLACES = ("floor 1", "Floor 3", "floor 3 ", None, "basement")


class Said(Struct, frozen=True):
    """What the service said of a phone at a moment: read from the records of the present then."""

    location: str | None
    is_active: bool
    deployment_uuid: str | None
    is_known: bool
    user_uuid: str | None
    username: str | None
    since: str | None
    lines: tuple[str, ...]
    state: str | None
    created_at: str


class Silent:
    """No phone answers."""

    async def read(self, ip: str) -> None:
        return None


class RandomOffice(Floor):
    """Phones, users with profiles and lines; ``step`` lets something happen."""

    def __init__(self, settings: Settings | None = None, phones: int = 12, seed: int = 1) -> None:
        super().__init__(settings, phones)
        self.random = random.Random(seed)
        self.people: list[Actor] = []
        self.texts: list[Profile] = []
        self.number = 0
        self.history = History(self.database, self.clock)
        self.change = ChangeDesk(
            self.database, self.deploy, self.driver, None, _await, self.pause, self.clock,
            clear_calls=False,
        )  # fmt: skip
        self.keep = KeepDesks(self.database, self.change, SYSTEM_ACTOR, self.clock, DeskPolicy())
        self.fleet = ChangeFleet(self.database, Silent(), self.clock, self.new_id)  # type: ignore[arg-type]

    async def furnish(self) -> None:
        await self.add_phones(range(1, self._count + 1))
        for number in range(max(4, self._count // 6)):
            await self.hire(number)
        self.profile = self.texts[0]
        for _ in range(len(self.people)):
            with contextlib.suppress(Conflict):
                await self.do_link()

    async def hire(self, number: int) -> None:
        user = await self.add_user(f"user{number}")
        self.people.append(user)
        self.texts.append(await self.profile_of(user, f"<d>{number}</d>", f"of {number}"))

    async def step(self) -> None:
        """Let something happen. What the service refuses did not happen."""
        happens = self.random.choices(list(self.happenings), list(self.happenings.values()))[0]
        self.clock.advance(self.random.choice([0.001, 1, 60, 3600]))
        with contextlib.suppress(Conflict, NotFound, Refused):
            await getattr(self, f"do_{happens}")()
        await self.background.done()

    happenings = {
        "switch": 12, "fail": 2, "lose": 2, "cut_off": 1, "save": 4, "log_in_at": 8, "log_out": 4,
        "leave": 2, "settle": 3, "roll_back": 4, "batch": 1, "create": 2, "delete": 2, "move": 4,
        "toggle": 2, "replace": 1, "link": 4, "unlink": 3, "extension": 2, "desk": 3, "see": 6,
        "person": 2, "lay_off": 1,
    }  # fmt: skip

    async def a_phone(self) -> Phone:
        async with self.database.read() as tx:
            return self.random.choice(await tx.phones.rows(2000))

    def a_text(self) -> Profile:
        return self.random.choice(self.texts)

    async def do_switch(self) -> None:
        phone, text = await self.a_phone(), self.a_text()
        made = newest_request(self.database, self.deploy.texts, Action.SWITCH, text.uuid, phone)
        if (order := await made) is not None:
            await self.deploy(self.root, order)

    async def do_fail(self) -> None:
        self.uploader.fail_next(Refused("The disk is full."))
        await self.do_switch()
        self.uploader._planned.clear()

    async def do_lose(self) -> None:
        self.uploader.fail_next(RefusedMidway("The connection was lost."))
        await self.do_switch()
        self.uploader._planned.clear()

    async def do_cut_off(self) -> None:
        phone, text = await self.a_phone(), self.a_text()
        made = newest_request(self.database, self.deploy.texts, Action.SWITCH, text.uuid, phone)
        if (order := await made) is not None:
            begun = await self.deploy.records.begin(
                self.root, order, self.deploy.filename(order.phone)
            )
            if self.random.random() < 0.5:
                await upload(self.deploy.uploader, begun)
                await self.deploy.records.store(begun, replace(begun.record, place="there"))
            self.clock.advance(61)
            await self.deploy.records.interrupt()

    async def do_save(self) -> None:
        text = self.a_text()
        patch = ProfilePatch(cnf_xml=f"<d>{self.random.random()}</d>")
        await self.profiles.update(self.root, text.uuid, patch)

    async def do_log_in_at(self) -> None:
        phone, text = await self.a_phone(), self.a_text()
        made = newest_request(self.database, self.deploy.texts, Action.LOGIN, text.uuid, phone)
        if (order := await made) is not None:
            hours = self.random.choice([None, 1, 8])
            until = timestamp(self.clock() + timedelta(hours=hours)) if hours else None
            use = DeskUse(order.profile.user_uuid, text.uuid, until)
            change = DeskChange(use, end_elsewhere=self.random.random() < 0.7)
            await self.deploy(self.root, with_change(order, change))

    async def do_log_out(self) -> None:
        phone = await self.a_phone()
        async with self.database.read() as tx:
            desk = await tx.desks.find(phone.mac)
        order = await self.change.default_order(desk, phone, Action.LOGOUT, desk.version)
        if order is not None:
            await self.change.put(self.root, order)

    async def do_leave(self) -> None:
        async with self.database.read() as tx:
            used = [
                desk
                for phone in await tx.phones.rows(2000)
                if (desk := await tx.desks.find(phone.mac)).user_uuid
            ]
        if used:
            desk = self.random.choice(used)
            async with self.database.read() as tx:
                phone = await tx.phones.find(desk.mac)
            assert phone is not None
            (await self.change.leave(self.root, phone, desk.version)).answered()
            await self.background.done()

    async def do_settle(self) -> None:
        await self.keep()

    async def do_roll_back(self) -> None:
        await self.rollback(self.root, (await self.a_phone()).mac)

    async def do_batch(self) -> None:
        macs = tuple({(await self.a_phone()).mac for _ in range(4)})
        more = {"profile_uuid": self.a_text().uuid} if self.random.random() < 0.6 else {}
        await self.run_without(action="switch", macs=macs, **more)

    async def do_create(self) -> None:
        number = self.random.randint(1, self._count + 5)
        new = CreatePhone(
            mac=a_mac(number), model="7945", phone_ip="10.20.30.40",
            location=self.random.choice(PLACES),
        )  # fmt: skip
        await self.phones.create(self.root, new)

    async def do_delete(self) -> None:
        await self.phones.delete(self.root, (await self.a_phone()).mac)

    async def do_move(self) -> None:
        patch = PhonePatch(location=self.random.choice(PLACES))
        await self.phones.update(self.root, (await self.a_phone()).mac, patch)

    async def do_toggle(self) -> None:
        phone = await self.a_phone()
        await self.phones.update(self.root, phone.mac, PhonePatch(is_active=not phone.is_active))

    async def do_replace(self) -> None:
        new = a_mac(self.random.randint(self._count + 6, 2 * self._count + 20))
        await self.fleet.replace(self.root, (await self.a_phone()).mac, ReplacePhone(mac=new))

    async def do_link(self) -> None:
        async with self.database.read() as tx:
            known = await tx.extensions.rows(2000)
        if not known or self.random.random() < 0.5:
            self.number += 1
            new = CreateExtension(
                type=self.random.choice(["chan_sccp", "chan_sccp", "chan_pjsip"]),
                extension=str(1000 + self.number),
                name="Desk",
                password="a password",
            )
            extension = (await self.extensions.create(self.root, new)).uuid
        else:
            extension = self.random.choice(known).uuid
        user = self.random.choice(self.people).user_uuid
        await self.links.create(self.root, CreateLink(user_uuid=user, extension_uuid=extension))

    async def do_unlink(self) -> None:
        links = await (await self.links.all(self.root)).everything()
        if links:
            await self.links.delete(self.root, self.random.choice(links).uuid)

    async def do_extension(self) -> None:
        async with self.database.read() as tx:
            known = await tx.extensions.rows(2000)
        if not known:
            return
        one = self.random.choice(known)
        if self.random.random() < 0.3:
            await self.extensions.delete(self.root, one.uuid)
        else:
            patch = ExtensionPatch(is_active=not one.is_active)
            await self.extensions.update(self.root, one.uuid, patch)

    async def do_desk(self) -> None:
        async with self.database.read() as tx:
            own = [one for one in await tx.extensions.rows(2000) if one.type == "chan_sccp"]
        patch = DeskPatch(extension_uuid=None)
        if self.random.random() < 0.5:
            patch = DeskPatch(default_profile_uuid=self.a_text().uuid)
        elif own and self.random.random() < 0.7:
            patch = DeskPatch(extension_uuid=self.random.choice(own).uuid)
        mac = (await self.a_phone()).mac
        async with self.database.write(by=self.root) as tx:
            await configure(tx, mac, patch)

    async def do_see(self) -> None:
        phone, now = await self.a_phone(), timestamp(self.clock())
        state = self.random.choice(list(FleetState))
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            await tx.fleet.put(SeenPhone(phone.mac, state, now), is_change=True)

    async def do_person(self) -> None:
        user = self.random.choice(self.people).user_uuid
        active = self.random.random() < 0.6
        await self.users.update(self.root, user, UserPatch(is_active=active))

    async def do_lay_off(self) -> None:
        user = self.random.choice(self.people)
        await self.users.delete(self.root, user.user_uuid)
        place = self.people.index(user)
        del self.people[place], self.texts[place]
        await self.hire(1000 + self.number * 100 + self.random.randint(0, 99))

    def brought(self, deployment_uuid: str) -> bytes:
        """The file that a deployment uploaded."""
        (content,) = [
            one.content for one in self.uploader.uploads if one.attempt == deployment_uuid
        ]
        return content

    def on_phones(self) -> dict[str, bytes]:
        """The file of each phone, by MAC."""
        files = {one.filename: one.content for one in self.uploader.uploads}
        return {
            ":".join(name[3:15][place : place + 2] for place in range(0, 12, 2)): content
            for name, content in files.items()
        }

    async def created(self) -> dict[str, str]:
        """The phones of the inventory, and when each was created."""
        async with self.database.read() as tx:
            return {phone.mac: phone.created_at for phone in await tx.phones.rows(5000)}

    async def prune(self, days: int) -> None:
        await Prune(self.database, KeepDays(deployments=days, audit=days), self.clock, self.pause)()

    async def now(self) -> dict[str, Said]:
        """What the service says of each phone now."""
        found = {}
        now = timestamp(self.clock())
        async with self.database.read() as tx:
            for phone in await tx.phones.rows(5000):
                mac = phone.mac
                in_place = await tx.deployments.in_place(mac)
                made = await tx.deployments.matching(DeploymentFilter(mac=mac)).rows(5000)
                begun = [
                    one for one in made if is_of(phone, one) and one.outcome is not Outcome.FAILED
                ]
                desk = (await tx.desks.find(mac)).as_of(now)
                user = await tx.users.find(desk.user_uuid or "")
                numbers, seen = await tx.lines.at(mac), await tx.fleet.find(mac)
                assert numbers is not None
                found[mac] = Said(
                    phone.location,
                    phone.is_active,
                    in_place.uuid if in_place else None,
                    in_place is not None or not begun,
                    desk.user_uuid,
                    user.username if user else None,
                    desk.since,
                    tuple(one.number for one in numbers_of(numbers, now)),
                    seen.state.value if seen else None,
                    phone.created_at,
                )
        return found

    async def then(self, at: str, **more: Any) -> list[PastPhone]:
        """The phones as of a moment, read in pages of 7."""
        found: list[PastPhone] = []
        while True:
            after = found[-1].mac if found else None
            wanted = HistoryQuery(at=at, after=after, **more)
            page = (await self.history.phones(self.root, wanted, Window(limit=7))).first
            found += page
            if len(page) < 7:
                return found


def said(phone: PastPhone, expected: dict[str, Said]) -> Said:
    """A phone of the past in the same form. When it was created is not shown."""
    assert phone.lines is not None
    return Said(
        phone.location,
        phone.is_active,
        phone.deployment_uuid,
        phone.is_known,
        phone.user_uuid,
        phone.username,
        phone.since,
        phone.lines,
        phone.state.value if phone.state else None,
        expected[phone.mac].created_at if phone.mac in expected else "",
    )


async def _await(work: Awaitable[Any]) -> Any:
    return await work
