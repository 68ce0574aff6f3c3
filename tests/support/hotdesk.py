"""An office with phones at which users log in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.switching.deployments.model import Deployment, DeploymentFilter
from support.api import Api, Caller, data_of, opened_api
from support.phone_browser import PhoneBrowser
from support.polling import until
from support.switch_rig import MAC, World, a_desk_phone, a_profile_of

IP, OTHER_IP = "10.0.0.5", "10.0.0.6"
OTHER_MAC = "00:1B:D4:12:34:57"
PIN = "24681357"
LOBBY = "<device><name>lobby</name></device>"


class Hotdesk:
    """The application, a superadmin, and ada, who has a PIN and a profile."""

    def __init__(self, api: Api, world: World, admin: Caller, ada: Caller) -> None:
        self.api, self.world, self.admin, self.ada = api, world, admin, ada
        self.app: Any = api.client._transport.app  # type: ignore[attr-defined]
        self.profile = ""
        self.lobby = ""

    def phone(self, mac: str = MAC, ip: str = IP, **headers: str) -> PhoneBrowser:
        return PhoneBrowser(self.app, mac, ip, headers=headers)

    async def person(self, name: str, *, pin: str = PIN) -> Caller:
        """Another user with a PIN and a profile."""
        caller = await self.api.account(name)
        await caller.put(f"/vendor-users/{caller.uuid}", {"pin_code": pin})
        xml = f"<device><name>{name}</name></device>"
        await a_profile_of(caller, self.admin, name=f"{name}'s", cnf_xml=xml)
        return caller

    async def another_phone(self) -> PhoneBrowser:
        await a_desk_phone(self.admin, mac=OTHER_MAC, phone_ip=OTHER_IP)
        await self.admin.put(f"/phones/{OTHER_MAC}/desk", {"default_profile_uuid": self.lobby})
        return self.phone(OTHER_MAC, OTHER_IP)

    async def desk(self, mac: str = MAC) -> dict[str, Any]:
        return dict(data_of(await self.admin.get(f"/phones/{mac}/desk"), 200, "Desk found"))

    async def record(self, mac: str = MAC) -> DeskRecord:
        async with self.api.database.read() as tx:
            return await tx.desks.find(mac)

    async def deployments(self, mac: str = MAC) -> list[Deployment]:
        async with self.api.database.read() as tx:
            return await tx.deployments.matching(DeploymentFilter(mac=mac)).rows(1000)

    async def settled(self, mac: str = MAC) -> None:
        """Wait until no deployment of the phone is running."""

        async def is_settled() -> bool:
            async with self.api.database.read() as tx:
                return await tx.leases.holder(mac) is None

        await until(is_settled)

    async def log_in(self) -> None:
        """Log ada in at the phone, and wait for its restart."""
        assert (await self.phone().log_in("ada", PIN)).title == "Logged in"
        await self.settled()

    async def log_out(self) -> None:
        """Log the user of the phone out, and wait for its restart."""
        assert (await self.phone().log_out()).title == "Logged out"
        await self.settled()

    async def keep_desks(self) -> int:
        """Do what a serving process does every two seconds."""
        return int(await self.api.container.keep_desks()())

    def on_phone(self, ip: str = IP, mac: str = MAC) -> bytes:
        """The file at a phone."""
        files: dict[str, bytes] = self.world.files[self.world.server_of(ip)]
        return files[f"SEP{mac.replace(':', '')}.cnf.xml"]


async def no_pause(_seconds: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def hotdesk(
    folder: Path, *, database_kind: str = "memory", **environment: str
) -> AsyncIterator[Hotdesk]:
    """The office, with one phone that has the lobby's profile as its default."""
    world = World(host=environment.get("PHONEPROV_FTP_HOST"))
    adapters = {**world.adapters(), "pause": no_pause}
    environment = {"PHONEPROV_CONFIRM_TIMEOUT": "0", **environment}
    async with opened_api(
        folder, database_kind=database_kind, overrides=adapters, **environment
    ) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        office = Hotdesk(api, world, admin, ada)
        await a_desk_phone(admin, software_type="SCCP")
        office.lobby = await a_profile_of(admin, name="Lobby", cnf_xml=LOBBY)
        office.profile = await a_profile_of(ada, admin)
        await ada.put(f"/vendor-users/{ada.uuid}", {"pin_code": PIN})
        await admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": office.lobby})
        try:
            yield office
        finally:
            await api.container.tasks().drain(30)
