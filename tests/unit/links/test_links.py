"""Links of users and extensions, over the memory database."""

import asyncio
from typing import Any, cast

import pytest

from phoneprov_adapters.testing.records import a_user, an_extension, identifier
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.links import CreateLink, FullLink, LinkedExtension, LinkedUser
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


def sent(**body: Any) -> CreateLink:
    return command_of(CreateLink, body)


@pytest.fixture
async def office() -> Office:
    office = Office()
    async with office.database.write() as tx:
        await tx.users.add(a_user(201, username="ada"))
        await tx.users.add(a_user(202, username="bob", first_name="Bob", last_name="Noyce"))
        await tx.extensions.add(an_extension(101, extension="1001", name="Desk"))
        await tx.extensions.add(an_extension(102, extension="1002", name="Lab", type="custom"))
    return office


async def test_link_contains_user_and_extension(office: Office) -> None:
    link = await linked(office, BOB, LAB)

    assert link == FullLink(
        uuid=identifier(1),
        user_uuid=BOB,
        extension_uuid=LAB,
        username="bob",
        first_name="Bob",
        last_name="Noyce",
        extension="1002",
        ext_name="Lab",
        type="custom",
        created_at="2026-01-31T08:15:31.250Z",
    )
    assert await stored(office) == [link]


async def test_links_are_listed_from_either_end(office: Office) -> None:
    links = [
        await linked(office, ADA, DESK),
        await linked(office, BOB, DESK),
        await linked(office, ADA, LAB),
    ]

    everything = await office.links.all(ADMIN)
    of_ada = await office.links.of_user(ADMIN, ADA.upper())
    of_desk = await office.links.of_extension(ADMIN, DESK.upper())
    page = await office.links.of_user(ADMIN, ADA, Window(limit=1, offset=1))

    assert await everything.everything() == links
    extension = LinkedExtension(
        links[2].uuid, ADA, LAB, "1002", "Lab", "custom", links[2].created_at
    )
    assert [one.uuid for one in of_ada.first] == [links[0].uuid, links[2].uuid]
    assert of_ada.first[1] == extension
    assert page.first == [extension]
    assert page.total == 2
    assert [one.uuid for one in of_desk.first] == [links[0].uuid, links[1].uuid]
    assert of_desk.first[1] == LinkedUser(
        links[1].uuid, BOB, DESK, "bob", "Bob", "Noyce", links[1].created_at
    )


async def test_link_that_exists_is_conflict(office: Office) -> None:
    outcomes = await asyncio.gather(
        *(linked(office, ADA, DESK) for _ in range(5)), return_exceptions=True
    )

    (link,) = [outcome for outcome in outcomes if isinstance(outcome, FullLink)]
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert len(conflicts) == 4
    for conflict in conflicts:
        assert conflict.code == "already_exists"
        assert [problem.field for problem in conflict.problems] == ["extension_uuid"]
    assert await stored(office) == [link]


@pytest.mark.parametrize(
    "body",
    [
        {"user_uuid": MISSING, "extension_uuid": DESK},
        {"user_uuid": ADA, "extension_uuid": MISSING},
        {"user_uuid": MISSING, "extension_uuid": MISSING},
    ],
)
async def test_link_to_missing_record_is_not_found(office: Office, body: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        await office.links.create(ADMIN, sent(**body))
    assert await stored(office) == []


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"user_uuid", "extension_uuid"}),
        ({"user_uuid": ADA}, {"extension_uuid"}),
        ({"user_uuid": "ada", "extension_uuid": DESK}, {"user_uuid"}),
        ({"user_uuid": ADA, "extension_uuid": DESK, "uuid": MISSING}, {"uuid"}),
    ],
)
async def test_link_with_invalid_identifiers_is_refused(
    office: Office, body: dict[str, Any], fields: set[str]
) -> None:
    with pytest.raises(Invalid) as invalid:
        await office.links.create(ADMIN, sent(**body))

    assert {problem.field for problem in invalid.value.problems} == fields
    assert await stored(office) == []


async def test_link_deleted_twice_is_not_found_and_its_records_remain(office: Office) -> None:
    link = await linked(office, ADA, DESK)
    left = await linked(office, ADA, LAB)

    await office.links.delete(ADMIN, link.uuid.upper())

    assert await stored(office) == [left]
    with pytest.raises(NotFound):
        await office.links.delete(ADMIN, link.uuid)
    async with office.database.read() as tx:
        assert await tx.users.count() == 2
        assert await tx.extensions.count() == 2


@pytest.mark.parametrize("uuid", [MISSING, "", "ada", "1001"])
async def test_link_of_missing_records_is_not_found(office: Office, uuid: str) -> None:
    with pytest.raises(NotFound):
        await office.links.of_user(ADMIN, uuid, Window())
    with pytest.raises(NotFound):
        await office.links.of_extension(ADMIN, uuid, Window())
    with pytest.raises(NotFound):
        await office.links.delete(ADMIN, uuid)


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
