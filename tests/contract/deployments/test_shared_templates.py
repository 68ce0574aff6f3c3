"""Templates hold an office's secrets: only level 0 makes profiles of one that is not shared."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.sql.engines.transaction import Database
from support.api import Caller, data_of, error_of, opened_api
from support.store_tests import existing
from support.switch_rig import MAC, World, a_desk_phone

TEMPLATES, PROFILES = "/configuration-templates", "/phone-profiles"
BODY = "<d><wifi>secret</wifi><v>{{ values.v|default('') }}</v></d>"


@dataclass
class Office:
    """A phone, and a template that is not shared."""

    world: World
    admin: Caller
    ada: Caller
    database: Database
    template: str = ""

    async def make(self, by: Caller, **fields: Any) -> Any:
        new = {"user_uuid": self.ada.uuid, "name": "desk", **fields}
        return await by.post(PROFILES, new)

    async def made(self, by: Caller, **fields: Any) -> str:
        return str(data_of(await self.make(by, **fields), 201, metadata=False)["uuid"])

    async def share(self, shared: bool) -> dict[str, Any]:
        found: dict[str, Any] = data_of(
            await self.admin.put(f"{TEMPLATES}/{self.template}", {"shared": shared})
        )
        return found

    async def switch(self, profile: str, by: Caller | None = None) -> Any:
        body = {"profile_uuid": profile, "mac": MAC}
        return await (by or self.ada).post(f"{PROFILES}/switch", body)


@pytest.fixture(params=["memory", "postgres"])
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    world = World()
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind=request.param, overrides=adapters) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        opened = Office(world, admin, ada, api.database)
        await a_desk_phone(opened.admin)
        new = {"name": "office", "body": BODY}
        made = data_of(await opened.admin.post(TEMPLATES, new), 201)
        assert made["shared"] is False
        opened.template = made["uuid"]
        yield opened


async def test_user_makes_no_profile_of_a_template_that_is_not_shared(office: Office) -> None:
    typed = await office.made(office.ada, cnf_xml="<d/>")

    replies = [
        await office.make(office.ada, template="office"),
        await office.ada.put(f"{PROFILES}/{typed}", {"template": "office"}),
    ]

    for reply in replies:
        error_of(reply, 403, "template_not_shared")
        assert reply.json()["message"] == (
            "The template office is not shared: only level 0 makes profiles of it."
        )
    error_of(await office.make(office.ada, template="nothing"), 404, "not_found")
    assert data_of(await office.ada.get(f"{PROFILES}/{typed}"), metadata=False)["cnf_xml"] == "<d/>"


async def test_user_makes_profiles_of_a_shared_template(office: Office) -> None:
    assert await office.share(True) == {
        **data_of(await office.admin.get(f"{TEMPLATES}/{office.template}")),
        "shared": True, "revision": 1,
    }  # fmt: skip
    profile = await office.made(office.ada, template="office")

    data_of(await office.switch(profile), metadata=False)
    # A variant that is not shared would give its text to the user.
    new = {"name": "office", "body": BODY, "model": "8841"}
    data_of(await office.admin.post(TEMPLATES, new), 201)
    error_of(await office.make(office.ada, template="office"), 403, "template_not_shared")


async def test_profile_of_a_template_that_is_shared_no_longer_is_not_deployed(
    office: Office,
) -> None:
    await office.share(True)
    profile = await office.made(office.ada, template="office")
    await office.share(False)

    replies = [
        await office.switch(profile),
        await office.switch(profile, office.admin),
        await office.ada.post(f"{PROFILES}/switch/preview", {"profile_uuid": profile, "mac": MAC}),
    ]

    for reply in replies:
        error_of(reply, 409, "profile_not_allowed")
    assert office.world.uploads == []
    # Level 0 allows it by a save of its own.
    data_of(await office.admin.put(f"{PROFILES}/{profile}", {"values": {"v": "1"}}), metadata=False)
    data_of(await office.switch(profile), metadata=False)


async def test_earlier_text_of_a_template_that_is_shared_no_longer_does_not_come_back(
    office: Office,
) -> None:
    await office.share(True)
    profile = await office.made(office.ada, template="office")
    data_of(await office.switch(profile), metadata=False)
    data_of(await office.ada.put(f"{PROFILES}/{profile}", {"values": {"v": "2"}}), metadata=False)
    data_of(await office.switch(profile), metadata=False)
    uploads = len(office.world.uploads)
    await office.share(False)

    for by in (office.ada, office.admin):
        error_of(await by.post(f"/phones/{MAC}/rollback", {}), 409, "profile_not_allowed")
    assert len(office.world.uploads) == uploads
    await office.share(True)
    data_of(await office.ada.post(f"/phones/{MAC}/rollback", {}))


async def test_user_changes_the_values_of_a_profile_that_level_0_made(office: Office) -> None:
    profile = await office.made(office.admin, template="office")

    data_of(await office.ada.put(f"{PROFILES}/{profile}", {"values": {"v": "7"}}), metadata=False)
    data_of(await office.switch(profile), metadata=False)

    assert (
        office.world.uploads[-1].content == BODY.replace("{{ values.v|default('') }}", "7").encode()
    )


async def test_profile_stays_one_of_level_0_when_its_account_loses_the_level(
    office: Office,
) -> None:
    profile = await office.made(office.admin, template="office")
    async with office.database.write() as tx:
        await tx.assignments.remove(office.admin.uuid)

    data_of(await office.switch(profile), metadata=False)


async def test_phone_that_a_pin_adopted_gets_no_text_of_its_user(office: Office) -> None:
    typed = await office.made(office.ada, cnf_xml="<d>mine</d>")
    by_level_0 = await office.made(office.admin, cnf_xml="<d>office</d>")
    await office.share(True)
    shared = await office.made(office.ada, template="office")
    async with office.database.write() as tx:
        phone = existing(await tx.phones.find(MAC))
        await tx.phones.put(replace(phone, adopted_with_pin=True))

    refused = await office.switch(typed)
    for profile in (by_level_0, shared):
        data_of(await office.switch(profile), metadata=False)

    error_of(refused, 409, "profile_not_allowed")
    assert b"mine" not in b"".join(one.content for one in office.world.uploads)
    # A profile of level 0 that its user rewrites is the user's.
    await office.ada.put(f"{PROFILES}/{by_level_0}", {"cnf_xml": "<d>mine too</d>"})
    error_of(await office.switch(by_level_0), 409, "profile_not_allowed")
    async with office.database.write() as tx:
        await tx.phones.put(phone)
    data_of(await office.switch(typed), metadata=False)
