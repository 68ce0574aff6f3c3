"""Links of users and extensions, over the memory database."""

from typing import Any, cast

import pytest

from phoneprov_adapters.testing.records import a_user, an_extension, identifier
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.kernel.paging import Window
from phoneprov_core.links import CreateLink, FullLink
from support.office import Office

ADMIN = Actor(identifier(0xAD), level=0)
NO_USER = Actor(identifier(0xA), level=None)
ADA, BOB = identifier(201), identifier(202)
DESK, LAB = identifier(101), identifier(102)
MISSING = identifier(0xDEAD)


async def stored(office: Office) -> list[FullLink]:
    async with office.database.read() as tx:
        return await tx.links.full.rows(100)


async def linked(office: Office, user_uuid: str, extension_uuid: str) -> FullLink:
    office.clock.advance(1)
    new = CreateLink(user_uuid=user_uuid, extension_uuid=extension_uuid)
    return await office.links.create(ADMIN, new)


@pytest.fixture
async def office() -> Office:
    office = Office()
    async with office.database.write() as tx:
        await tx.users.add(a_user(201, username="ada"))
        await tx.users.add(a_user(202, username="bob", first_name="Bob", last_name="Noyce"))
        await tx.extensions.add(an_extension(101, extension="1001", name="Desk"))
        await tx.extensions.add(an_extension(102, extension="1002", name="Lab", type="custom"))
    return office


async def test_links_without_level_0_are_forbidden_without_details(
    office: Office,
) -> None:
    link = await linked(office, ADA, DESK)

    with pytest.raises(Forbidden):
        await office.links.all(NO_USER, Window())
    with pytest.raises(Forbidden):
        await office.links.create(NO_USER, cast(Any, None))
    for uuid in (ADA, DESK, link.uuid, MISSING):
        with pytest.raises(Forbidden):
            await office.links.of_user(NO_USER, uuid)
        with pytest.raises(Forbidden):
            await office.links.of_extension(NO_USER, uuid)
        with pytest.raises(Forbidden):
            await office.links.delete(NO_USER, uuid)
    assert await stored(office) == [link]
