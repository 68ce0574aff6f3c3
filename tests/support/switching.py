"""A desk for tests of the switch, and hooks into its steps."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest

from phoneprov_core.deployments.model import Deployment
from phoneprov_core.devices.ports import KeyPress, ManagerAction, Upload, Uploaded
from phoneprov_core.devices.restart import CLEAR_SERVICES
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.phones.model import CreatePhone
from phoneprov_core.profiles.model import CreateProfile, Profile, Switched, SwitchRequest
from support.office import Office

MAC = "00:1B:D4:12:34:56"
NOWHERE = "00000000-0000-4000-8000-ffffffffffff"
XML = "<device>\r\n\t<p>\u00e9</p>\r\n</device>\n"


async def a_desk(office: Office, root: Actor, owner: Actor, mac: str = MAC) -> Profile:
    """A phone in the inventory, and a profile that fits it."""
    await office.phones.create(
        root,
        CreatePhone(mac=mac, model="CP-7945G", phone_ip="10.20.30.40", software_type="SCCP"),
    )
    return await office.profiles.create(
        owner, CreateProfile(user_uuid=owner.user_uuid, name="Ada at the desk", cnf_xml=XML)
    )


async def deployments(office: Office) -> list[Deployment]:
    """Every deployment, oldest first."""
    async with office.database.read() as tx:
        return await tx.deployments.rows(1000)


async def last_deployment(office: Office) -> Deployment:
    """The newest deployment."""
    return (await deployments(office))[-1]


async def services_user(office: Office) -> str | None:
    """The user of the phone's service session."""
    async with office.database.read() as tx:
        return (await tx.desks.find(MAC)).user_uuid


async def switch(office: Office, actor: Actor, profile: Profile, mac: str = MAC) -> Switched:
    """Switch a phone to a profile."""
    return await office.switch(actor, SwitchRequest(profile_uuid=profile.uuid, mac=mac))


async def is_free(office: Office, mac: str = MAC) -> bool:
    """Whether the phone's lease is free; it is released at once."""
    async with office.database.write() as tx:
        fence = await tx.leases.take(mac, "a look", 60)
        if fence is not None:
            await tx.leases.release(mac, "a look", fence)
    return fence is not None


class Gate:
    """A step that waits until a test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.open.wait()


class Journal:
    """The steps that reached the network, in order, and a hook within each.

    Restarts are those of the manager interface; those over the phone's own web server have the name
    ``restart`` too.
    """

    def __init__(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        self.notes: tuple[str, ...] = ()
        self._acts: dict[str, Callable[[], Awaitable[object]]] = {}
        upload = office.uploader.upload
        execute = office.phone.execute
        perform = office.manager.perform

        async def uploading(file: Upload) -> Uploaded:
            await self._note("upload")
            return msgspec.structs.replace(await upload(file), notes=self.notes)

        async def executing(
            phone_ip: str, commands: Sequence[KeyPress], mac: str | None = None
        ) -> None:
            await self._note("clear" if tuple(commands) == CLEAR_SERVICES else "restart")
            await execute(phone_ip, commands, mac)

        async def performing(action: ManagerAction, phone_ip: str | None = None) -> None:
            await self._note("restart")
            await perform(action, phone_ip)

        monkeypatch.setattr(office.uploader, "upload", uploading)
        monkeypatch.setattr(office.phone, "execute", executing)
        monkeypatch.setattr(office.manager, "perform", performing)

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
