"""Users' own directories, over the memory database."""

import asyncio
import dataclasses
from typing import Any, cast

import pytest

from phoneprov_adapters.testing.records import a_user, identifier
from phoneprov_core.directory.model import (
    CreatePersonalContact,
    PersonalContact,
    TooManyContacts,
)
from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Forbidden, NotFound
from support.office import Office

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
BOB = Actor(identifier(0xB), level=None)
CLERK = Actor(identifier(0xC), level=3, level_rule=LevelRule.STRICT)
MISSING = identifier(0xDEAD)


async def stored(office: Office) -> list[PersonalContact]:
    async with office.database.read() as tx:
        return await tx.personal_contacts.rows(100)


@pytest.fixture
async def office() -> Office:
    office = Office()
    async with office.database.write() as tx:
        for number in (0xAD, 0xA, 0xB, 0xC):
            await tx.users.add(a_user(number))
    return office


@pytest.fixture
async def grace(office: Office) -> PersonalContact:
    """Ada's one contact."""
    new = CreatePersonalContact(name="Grace", work="12")
    return await office.personal_directory.create(ADA, ADA.user_uuid, new)


@pytest.mark.parametrize("actor", [BOB, CLERK])
async def test_directory_of_another_user_is_forbidden(
    office: Office, grace: PersonalContact, actor: Actor
) -> None:
    for owner in (ADA.user_uuid, MISSING, ""):
        with pytest.raises(Forbidden):
            await office.personal_directory.of_user(actor, owner)
        with pytest.raises(Forbidden):
            await office.personal_directory.create(actor, owner, cast(Any, None))
    assert await stored(office) == [grace]


@pytest.mark.parametrize("actor", [BOB, CLERK])
async def test_contact_of_another_user_is_not_found(
    office: Office, grace: PersonalContact, actor: Actor
) -> None:
    messages = set()
    for uuid in (grace.uuid, MISSING, ""):
        with pytest.raises(NotFound) as missing:
            await office.personal_directory.update(actor, uuid, cast(Any, None))
        messages.add(missing.value.message)
        with pytest.raises(NotFound) as missing:
            await office.personal_directory.delete(actor, uuid)
        messages.add(missing.value.message)

    assert len(messages) == 1
    assert await stored(office) == [grace]


async def test_create_over_the_maximum_of_contacts_is_refused(office: Office) -> None:
    limited = dataclasses.replace(office.personal_directory, most_contacts=2)
    new = CreatePersonalContact(name="Grace")

    made = await asyncio.gather(
        *(limited.create(ADA, ADA.user_uuid, new) for _ in range(5)), return_exceptions=True
    )

    assert [type(one) for one in made].count(TooManyContacts) == 3
    await limited.create(BOB, BOB.user_uuid, new)
    with pytest.raises(TooManyContacts, match="PHONEPROV_MOST_CONTACTS"):
        await limited.create(ADMIN, ADA.user_uuid, new)
    first = next(one for one in made if isinstance(one, PersonalContact))
    await limited.delete(ADA, first.uuid)
    await limited.create(ADA, ADA.user_uuid, new)
