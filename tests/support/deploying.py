"""A desk phone, a superadmin and two users, over HTTP."""

from functools import partial
from typing import Any

from support.api import Api, Caller, data_of
from support.switch_rig import FILE, MAC, XML, World, switch

bare_data_of = partial(data_of, metadata=False)

OTHER = "00:1B:D4:12:34:99"
NEWER = XML.replace("name", "label")


class Workplace:
    """A phone, a superadmin, ada with a profile, and bob."""

    def __init__(self, api: Api, world: World, admin: Caller, ada: Caller, bob: Caller) -> None:
        self.api, self.world, self.admin, self.ada, self.bob = api, world, admin, ada, bob
        self.profile = ""

    async def switch(self, mac: str = MAC, profile: str = "") -> None:
        data_of(await switch(self.ada, profile or self.profile, mac), metadata=False)

    async def save(self, xml: str) -> None:
        reply = await self.ada.put(f"/phone-profiles/{self.profile}", {"cnf_xml": xml})
        assert reply.status_code == 200

    def on_phone(self) -> str:
        return self.world.files["10.0.0.5:21"][FILE].decode()


async def listed(caller: Caller, path: str = "/deployments", **query: Any) -> list[Any]:
    rows = data_of(await caller.get(path, **query))
    assert isinstance(rows, list)
    return rows
