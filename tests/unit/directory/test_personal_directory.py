"""Users' own directories, over the memory database."""

import asyncio
import dataclasses
from typing import Any, cast

import msgspec
import pytest

from phoneprov_adapters.testing.records import a_user, identifier
from phoneprov_core.directory.model import (
    CreatePersonalContact,
    PersonalContact,
    PersonalContactPatch,
    TooManyContacts,
)
from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
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


async def test_contact_belongs_to_its_owner(office: Office, grace: PersonalContact) -> None:
    assert grace == PersonalContact(
        uuid=identifier(1),
        user_uuid=ADA.user_uuid,
        name="Grace",
        work="12",
        mobile=None,
        home=None,
        email=None,
        ringtone=None,
        created_at="2026-01-31T08:15:30.250Z",
    )
    assert await stored(office) == [grace]
    assert await (await office.personal_directory.of_user(ADA, ADA.user_uuid)).everything() == [
        grace
    ]
    assert await (await office.personal_directory.of_user(BOB, BOB.user_uuid)).everything() == []


async def test_list_page_has_the_total_of_its_owner(office: Office, grace: PersonalContact) -> None:
    await office.personal_directory.create(BOB, BOB.user_uuid, CreatePersonalContact(name="Mary"))

    page = await office.personal_directory.of_user(ADA, ADA.user_uuid, Window(limit=5))

    assert page.first == [grace]
    assert page.total == 1


async def test_update_keeps_other_fields(office: Office, grace: PersonalContact) -> None:
    changed = await office.personal_directory.update(
        ADA, grace.uuid, PersonalContactPatch(work=None, ringtone="Chirp1")
    )

    assert changed == msgspec.structs.replace(grace, work=None, ringtone="Chirp1")
    assert await stored(office) == [changed]


async def test_superadmin_manages_directories_of_every_user(
    office: Office, grace: PersonalContact
) -> None:
    assert await (await office.personal_directory.of_user(ADMIN, ADA.user_uuid)).everything() == [
        grace
    ]

    mary = await office.personal_directory.create(
        ADMIN, BOB.user_uuid, CreatePersonalContact(name="Mary")
    )
    await office.personal_directory.update(ADMIN, grace.uuid, PersonalContactPatch(name="G. H."))

    assert mary.user_uuid == BOB.user_uuid
    assert [one.name for one in await stored(office)] == ["G. H.", "Mary"]
    await office.personal_directory.delete(ADMIN, grace.uuid)
    assert await stored(office) == [mary]


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


@pytest.mark.parametrize("owner", [MISSING, "", "ada"])
async def test_missing_user_is_not_found(office: Office, owner: str) -> None:
    with pytest.raises(NotFound):
        await office.personal_directory.of_user(ADMIN, owner)
    with pytest.raises(NotFound):
        await office.personal_directory.create(ADMIN, owner, CreatePersonalContact(name="G"))


@pytest.mark.parametrize("owner", [BOB.user_uuid, None, "", 7])
async def test_owner_in_the_body_must_match(office: Office, owner: object) -> None:
    body = {"name": "Grace", "user_uuid": owner}

    with pytest.raises(Invalid) as invalid:
        await office.personal_directory.create(
            ADA, ADA.user_uuid, command_of(CreatePersonalContact, body)
        )

    assert [problem.field for problem in invalid.value.problems] == ["user_uuid"]
    assert await stored(office) == []


async def test_contact_owner_cannot_be_changed(office: Office, grace: PersonalContact) -> None:
    body = {"user_uuid": BOB.user_uuid}

    with pytest.raises(Invalid):
        await office.personal_directory.update(
            ADMIN, grace.uuid, command_of(PersonalContactPatch, body)
        )

    assert await stored(office) == [grace]
