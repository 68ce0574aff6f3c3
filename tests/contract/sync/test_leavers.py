"""What a person of the directory has here, and what ends when the directory lacks the person."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sync.conftest import ldif, people, person
from phoneprov_adapters.files.ldif import LdifTable
from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.sync.model import Synced, SyncOptions
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.kernel.errors import Forbidden
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api
from support.switch_rig import FILE, MAC, World, a_desk_phone, a_profile_of, switch

HELPER = {"sAMAccountName": "helper"}


class Office:
    """The service, a superadmin of no directory, and the people of one."""

    admin: Caller

    def __init__(self, api: Api, world: World, folder: Path) -> None:
        self.api, self.world, self._folder = api, world, folder

    async def sync(self, *entries: dict[str, Any]) -> Synced:
        """The use case of ``phoneprov sync people``, which has no other rule of its own."""
        file = self._folder / "people.ldif"
        file.write_text("".join(ldif(**one) for one in entries))
        container = self.api.container
        actor = container.use_cases().system_actor()
        return await container.sync_people()(actor, LdifTable(file), SyncOptions(source="ad"))

    async def logged_in(self, username: str) -> Caller:
        reply = await self.api.anonymous.post(
            "/auth/login", {"username": username, "password": PASSWORD}
        )
        made = data_of(reply)
        return Caller(self.api.client, await self.uuid(username), made["accessToken"])

    async def uuid(self, username: str) -> str:
        [found] = data_of(await self.admin.get("/users", q=username))
        return str(found["uuid"])

    def on_phone(self) -> str:
        return self.world.files["10.0.0.5:21"][FILE].decode()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def office(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Office]:
    world = World()
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind=request.param, overrides=adapters) as api:
        opened = Office(api, world, tmp_path)
        opened.admin = await api.account("admin", level=0)
        yield opened


async def test_person_of_a_directory_gets_pin_and_password_from_level_0_and_no_login_before(
    office: Office,
) -> None:
    await office.sync(*people(2))
    uuid, anonymous = await office.uuid("user1"), office.api.anonymous

    refused = [
        await anonymous.post("/auth/login", {"username": name, "password": password})
        for name, password in (("user1", PASSWORD), ("user1", "x" * 9), ("unknown", PASSWORD))
    ]
    assert {(one.status_code, one.json()["message"]) for one in refused} == {
        (401, refused[0].json()["message"])
    }
    data_of(await office.admin.put(f"/vendor-users/{uuid}", {"pin_code": "739128"}))
    data_of(await office.admin.put(f"/users/{uuid}", {"password": PASSWORD}))
    await office.logged_in("user1")
    await office.sync(*people(2))  # what the directory does not tell stays
    await office.logged_in("user1")
    pin = data_of(await office.admin.get(f"/vendor-users/by-user/{uuid}"))
    assert pin["user_uuid"] == uuid


async def test_helpdesk_whom_the_directory_lacks_loses_sessions_tokens_right_and_phone(
    office: Office,
) -> None:
    admin = office.admin
    await office.sync(person(1, **HELPER), *people(3)[1:])
    uuid = await office.uuid("helper")
    data_of(await admin.put(f"/users/{uuid}", {"password": PASSWORD}))
    right = {"right": "helpdesk", "locations": ["Berlin"]}
    data_of(await admin.put(f"/users/{uuid}/rights", right))
    helper = await office.logged_in("helper")
    token = data_of(await helper.post("/me/tokens", {"name": "script"}), 201)["token"]
    script = Caller(office.api.client, uuid, token)
    await a_desk_phone(admin, location="Berlin/3")
    lobby = await a_profile_of(admin, name="Lobby", cnf_xml="<device>Lobby</device>")
    own = await a_profile_of(helper, by=admin)
    data_of(await admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": lobby}))
    data_of(await switch(script, own), metadata=False)
    before = await office.api.container.authenticate()(helper.token)

    result = await office.sync(*people(3)[1:])

    assert result.left == ("helper",)
    for caller in (helper, script):
        for path in ("/me", "/users", f"/phones/{MAC}/state"):
            error_of(await caller.get(path), 401)
        error_of(await switch(caller, lobby), 401)
    login = {"username": "helper", "password": PASSWORD}
    error_of(await office.api.anonymous.post("/auth/login", login), 401, "wrong_credentials")
    # A request that was authenticated before the sync starts nothing after it.
    for refused in (
        office.api.container.restart_phone()(before, MAC),
        office.api.container.desks().update(before, MAC, DeskPatch()),
        office.api.container.switch_profile()(before, SwitchRequest(profile_uuid=lobby, mac=MAC)),
    ):
        with pytest.raises(Forbidden):
            await refused
    assert data_of(await admin.get(f"/phones/{MAC}/desk"))["user_uuid"] is None
    await office.api.container.keep_desks()()
    assert office.on_phone() == "<device>Lobby</device>"
    found = data_of(await admin.get("/audit", limit=100))
    trail = {(one["actor"], one["action"]) for one in found}
    assert trail >= {
        ("system", "user.updated"), ("system", "session.ended"), ("system", "sync.finished"),
        ("system", "api_token.deleted"),
    }  # fmt: skip

    await office.sync(person(1, **HELPER), *people(3)[1:])

    for caller in (helper, script):
        error_of(await caller.get("/me"), 401)
    back = await office.logged_in("helper")
    assert data_of(await back.get("/me"))["rights"] == [right]
