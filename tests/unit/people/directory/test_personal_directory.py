"""Users' own directories, over the memory database."""

import asyncio
import dataclasses

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.people.directory.model import (
    CreatePersonalContact,
    PersonalContact,
    TooManyContacts,
)
from support.office import Office
from support.records import a_user, identifier

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
BOB = Actor(identifier(0xB), level=None)


@pytest.fixture
async def office() -> Office:
    office = Office()
    async with office.database.write() as tx:
        for number in (0xAD, 0xA, 0xB, 0xC):
            await tx.users.add(a_user(number))
    return office


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
