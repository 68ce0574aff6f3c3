"""A desk for tests of the switch, and hooks into its steps."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Self

import msgspec
import pytest

from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.inventory.phones.model import CreatePhone, PhonePatch
from phoneprov_core.inventory.profiles.model import (
    CreateProfile,
    Profile,
    ProfilePatch,
    Switched,
    SwitchRequest,
)
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES
from phoneprov_core.switching.devices.ports import (
    KeyPress,
    ManagerAction,
    Proceed,
    Upload,
    Uploaded,
    always,
)
from support.office import Office, Settings

MAC = "00:1B:D4:12:34:56"
NOWHERE = "00000000-0000-4000-8000-ffffffffffff"
XML = "<device>\r\n\t<p>\u00e9</p>\r\n</device>\n"


class Gate:
    """A step that waits until a test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.open.wait()


class Desk(Office):
    """An office with a superadmin, two users and a phone that fits the profile of Ada.

    ``steps`` are those that reached the network, in order. Restarts are those of the manager
    interface; those over the phone's own web server have the name ``restart`` too.
    """

    root: Actor
    ada: Actor
    bob: Actor
    profile: Profile

    @classmethod
    async def of(cls, settings: Settings | None = None, **more: int) -> Self:
        desk = cls(settings, **more)
        await desk.open()
        return desk

    async def open(self) -> None:
        self.root = await self.add_user("root", level=0)
        self.ada = await self.add_user("ada", level=1)
        self.bob = await self.add_user("bob")
        await self.furnish()

    async def furnish(self) -> None:
        await self.add_phone(MAC)
        self.profile = await self.profile_of(self.ada, XML, "Ada at the desk")

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.steps: list[str] = []
        self.notes: tuple[str, ...] = ()
        self._acts: dict[str, Callable[[], Awaitable[object]]] = {}
        upload, execute, perform = self.uploader.upload, self.phone.execute, self.manager.perform

        async def uploading(file: Upload) -> Uploaded:
            await self._note("upload")
            uploaded = await upload(file)
            return msgspec.structs.replace(uploaded, notes=self.notes or uploaded.notes)

        async def executing(
            phone_ip: str,
            commands: Sequence[KeyPress],
            mac: str | None = None,
            proceed: Proceed = always,
        ) -> None:
            await proceed()
            await self._note("clear" if tuple(commands) == CLEAR_SERVICES else "restart")
            await execute(phone_ip, commands, mac)

        async def performing(
            action: ManagerAction, phone_ip: str | None = None, proceed: Proceed = always
        ) -> None:
            await proceed()
            await self._note("restart")
            await perform(action, phone_ip)

        patch = pytest.MonkeyPatch()
        patch.setattr(self.uploader, "upload", uploading)
        patch.setattr(self.phone, "execute", executing)
        patch.setattr(self.manager, "perform", performing)

    def at(self, step: str, act: Callable[[], Awaitable[object]]) -> None:
        """Run this within a step."""
        self._acts[step] = act

    def gate(self, step: str) -> Gate:
        """Let the first switch that reaches a step wait there."""
        gate = Gate()
        self._acts[step] = gate
        return gate

    async def _note(self, step: str) -> None:
        self.steps.append(step)
        act = self._acts.get(step)
        if isinstance(act, Gate):
            del self._acts[step]
        if act is not None:
            await act()

    async def add_phone(self, mac: str) -> None:
        """A phone in the inventory that fits every profile here."""
        new = CreatePhone(mac=mac, model="CP-7945G", phone_ip="10.20.30.40", software_type="SCCP")
        await self.phones.create(self.root, new)

    async def profile_of(self, owner: Actor, xml: str, name: str = "Another") -> Profile:
        new = CreateProfile(user_uuid=owner.user_uuid, name=name, cnf_xml=xml)
        return await self.profiles.create(owner, new)

    async def save(self, xml: str) -> None:
        await self.change_profile(cnf_xml=xml)

    async def change_profile(self, **fields: object) -> None:
        patch = msgspec.convert(fields, ProfilePatch)
        await self.profiles.update(self.ada, self.profile.uuid, patch)

    async def give_profile_to(self, user: Actor) -> None:
        patch = ProfilePatch(user_uuid=user.user_uuid)
        await self.profiles.update(self.root, self.profile.uuid, patch)

    async def change_phone(self, **fields: object) -> None:
        await self.phones.update(self.root, MAC, msgspec.convert(fields, PhonePatch))

    async def switched(
        self, actor: Actor | None = None, profile: Profile | None = None, mac: str = MAC
    ) -> Switched:
        """Switch a phone, by default as Ada to her profile."""
        return await self.switch(actor or self.ada, self.request(profile, mac))

    def request(self, profile: Profile | None = None, mac: str = MAC) -> SwitchRequest:
        return SwitchRequest(profile_uuid=(profile or self.profile).uuid, mac=mac)

    async def records(self) -> list[Deployment]:
        """Every deployment, oldest first."""
        async with self.database.read() as tx:
            return await tx.deployments.rows(1000)

    async def last(self) -> Deployment:
        return (await self.records())[-1]

    async def services_user(self) -> str | None:
        """The user of the phone's service session."""
        async with self.database.read() as tx:
            return (await tx.desks.find(MAC)).user_uuid

    async def give_services_to(self, user: Actor) -> None:
        use = DeskRecord(MAC).used(DeskUse(user.user_uuid), timestamp(self.clock()))
        async with self.database.write() as tx:
            await tx.desks.put(use)

    async def is_free(self, mac: str = MAC) -> bool:
        """Whether the phone's lease is free; it is released at once."""
        async with self.database.write() as tx:
            fence = await tx.leases.take(mac, "a look", 60)
            if fence is not None:
                await tx.leases.release(mac, "a look", fence)
        return fence is not None
