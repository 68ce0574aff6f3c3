"""The adapters of a switch, with a record of their calls in order."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from phoneprov_adapters.memory.devices import MemoryManager, MemoryPhone, MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.devices.ports import (
    KeyPress,
    ManagerAction,
    Proceed,
    Upload,
    Uploaded,
    always,
)
from support.api import Caller

STARS = [
    "Key:Settings", "Key:KeyPadStar", "Key:KeyPadStar", "Key:KeyPadPound", "Key:KeyPadStar",
    "Key:KeyPadStar",
]  # fmt: skip
MAC = "00:1B:D4:12:34:56"
FILE = "SEP001BD4123456.cnf.xml"
XML = "<device><name>\u00c5sa \U0001f4de</name></device>"


class World(MemoryUploader):
    """The uploader, with the phones and the manager.

    ``happened`` has every call of each, in order; an upload waits while ``gate`` is closed.
    """

    def __init__(self, *, host: str | None = None) -> None:
        super().__init__(PhoneNetworks.parse(PRIVATE_RANGES), host=host)
        self.happened: list[Any] = []
        self.phones = _Phones(self.happened)
        self.manager = _Manager(self.happened)
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()

    async def upload(self, upload: Upload) -> Uploaded:
        self.happened.append(("upload", upload.phone_ip, upload.filename, upload.content))
        self.begun.set()
        await self.gate.wait()
        return await super().upload(upload)

    def adapters(self, *, ami: bool = False) -> dict[str, object]:
        """The adapters to override in the container."""
        return {
            "uploader": self,
            "phone_commands": self.phones,
            "manager": self.manager if ami else None,
        }


class _Phones(MemoryPhone):
    def __init__(self, happened: list[Any]) -> None:
        super().__init__()
        self._happened = happened
        self._planned: dict[str, PhoneprovError] = {}

    def fail_at(self, uri: str, error: PhoneprovError) -> None:
        """Let every call whose first command is this URI fail."""
        self._planned[uri] = error

    def heal(self) -> None:
        """Let every call succeed again."""
        self._planned.clear()

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        await proceed()
        self._happened.append(("phone", phone_ip, [command.uri for command in commands]))
        if commands[0].uri in self._planned:
            raise self._planned[commands[0].uri]
        await super().execute(phone_ip, commands, mac, proceed)


class _Manager(MemoryManager):
    def __init__(self, happened: list[Any]) -> None:
        super().__init__()
        self._happened = happened

    async def perform(
        self, action: ManagerAction, phone_ip: str | None = None, proceed: Proceed = always
    ) -> None:
        await proceed()
        self._happened.append(("manager", action.name, dict(action.fields)))
        await super().perform(action, phone_ip, proceed)


async def a_desk_phone(admin: Caller, **fields: Any) -> str:
    """Add a phone to the inventory; its MAC."""
    body = {"mac": MAC, "model": "CP-7945G", "phone_ip": "10.0.0.5", **fields}
    reply = await admin.post("/phones", body)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["data"]["mac"])


async def a_profile_of(owner: Caller, by: Caller | None = None, **fields: Any) -> str:
    """Create a profile as ``by``, by default as its owner; its uuid."""
    body = {"user_uuid": owner.uuid, "name": "Ada's", "cnf_xml": XML, **fields}
    reply = await (by or owner).post("/phone-profiles", body)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["data"]["uuid"])


async def switch(caller: Caller, profile: str, mac: str = MAC) -> httpx.Response:
    """Request a switch."""
    return await caller.post("/phone-profiles/switch", {"profile_uuid": profile, "mac": mac})
