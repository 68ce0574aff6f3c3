"""The contract of ``Links``: who has which extension, told with either end or both."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser
from support.stores import Database, a_link, a_user, an_extension, identifier, moment

ADA, BOB = identifier(1), identifier(2)
DESK, LAB = identifier(101), identifier(102)
NOBODY = NOTHING = identifier(999)

# By creation: 13, 11, 12, 14; two of the same moment, so that the key decides.
LINKS = [
    a_link(13, ADA, DESK, created_at=moment(1)),
    a_link(11, BOB, DESK, created_at=moment(2)),
    a_link(12, ADA, LAB, created_at=moment(2)),
    a_link(14, BOB, LAB, created_at=moment(3)),
]
USERS = {
    ADA: a_user(1, username="ada", first_name="Ada", last_name="Lovelace"),
    BOB: a_user(2, username="bob", first_name="Robert", last_name="Noyce"),
}
EXTENSIONS = {
    DESK: an_extension(101, extension="1001", name="Desk", type="chan_sccp"),
    LAB: an_extension(102, extension="1002", name="Lab", type="chan_pjsip"),
}


@pytest.fixture(autouse=True)
async def ends(database: Database) -> None:
    async with database.write() as tx:
        for user in USERS.values():
            await tx.users.add(user)
        for extension in EXTENSIONS.values():
            await tx.extensions.add(extension)


@pytest.fixture
async def links(database: Database) -> list[Link]:
    for link in reversed(LINKS):
        await add(database, link)
    return LINKS


async def add(database: Database, link: Link) -> None:
    async with database.write() as tx:
        await tx.links.add(link)


async def full(database: Database) -> list[FullLink]:
    async with database.read() as tx:
        return await tx.links.full.rows(1000)


def told(link: Link) -> FullLink:
    user, extension = USERS[link.user_uuid], EXTENSIONS[link.extension_uuid]
    return FullLink(
        uuid=link.uuid,
        user_uuid=user.uuid,
        extension_uuid=extension.uuid,
        username=user.username,
        first_name=user.first_name,
        last_name=user.last_name,
        extension=extension.extension,
        ext_name=extension.name,
        type=extension.type,
        created_at=link.created_at,
    )


def told_of(view: type[Any], link: Link) -> Any:
    whole = told(link)
    return view(**{name: getattr(whole, name) for name in view.__struct_fields__})


async def test_links_are_told_with_both_ends(database: Database, links: list[Link]) -> None:
    assert await full(database) == [told(link) for link in links]


async def test_links_are_told_with_their_extension(database: Database, links: list[Link]) -> None:
    linked = [told_of(LinkedExtension, link) for link in links]
    async with database.read() as tx:
        rows = tx.links.extensions
        assert await rows.rows(1000, owner=ADA) == [linked[0], linked[2]]
        assert await rows.rows(1000, owner=BOB) == [linked[1], linked[3]]
        assert await rows.rows(1000, owner=NOBODY) == []
        assert await rows.rows(1000, owner=DESK) == []
        assert await rows.rows(1000) == linked
        assert [await rows.count(owner) for owner in (ADA, NOBODY, None)] == [2, 0, 4]


async def test_links_are_told_with_their_user(database: Database, links: list[Link]) -> None:
    linked = [told_of(LinkedUser, link) for link in links]
    async with database.read() as tx:
        rows = tx.links.users
        assert await rows.rows(1000, owner=DESK) == linked[:2]
        assert await rows.rows(1000, owner=LAB) == linked[2:]
        assert await rows.rows(1000, owner=NOTHING) == []
        assert await rows.rows(1000, owner=ADA) == []
        assert await rows.rows(1000) == linked
        assert [await rows.count(owner) for owner in (LAB, NOTHING, None)] == [2, 0, 4]


async def test_full_links_belong_to_their_user(database: Database, links: list[Link]) -> None:
    async with database.read() as tx:
        assert await tx.links.full.rows(1000, owner=BOB) == [told(links[1]), told(links[3])]
        assert [await tx.links.full.count(owner) for owner in (BOB, DESK, None)] == [2, 0, 4]


async def test_links_are_read_in_pieces(database: Database, links: list[Link]) -> None:
    whole = [told(link) for link in links]
    async with database.read() as tx:
        rows = tx.links.full
        assert await rows.rows(2) == whole[:2]
        for place, link in enumerate(whole):
            assert await rows.rows(1000, after=link) == whole[place + 1 :]
        assert await rows.rows(1, after=whole[1]) == whole[2:3]
        assert await rows.rows(2, offset=1) == whole[1:3]
        assert await rows.rows(1000, after=whole[0], offset=1) == whole[2:]
        assert await rows.rows(1000, offset=4) == []
        first, second = await tx.links.users.rows(2, owner=LAB)
        assert await tx.links.users.rows(1000, owner=LAB, after=first) == [second]
        one, other = await tx.links.extensions.rows(2, owner=ADA)
        assert await tx.links.extensions.rows(1000, owner=ADA, after=one) == [other]
        assert await tx.links.extensions.rows(1000, owner=ADA, offset=1) == [other]


async def test_pieces_go_on_behind_a_link_that_is_gone(
    database: Database, links: list[Link]
) -> None:
    async with database.write() as tx:
        await tx.links.remove(links[1].uuid)

    async with database.read() as tx:
        rest = await tx.links.full.rows(1000, after=told(links[1]))
    assert rest == [told(links[2]), told(links[3])]


async def test_ends_are_told_as_they_are_now(database: Database) -> None:
    await add(database, LINKS[0])
    async with database.write() as tx:
        await tx.users.put(a_user(1, username="countess", last_name="King"))
        await tx.extensions.put(an_extension(101, extension="77", name="Salon", type="custom"))

    (link,) = await full(database)

    assert (link.username, link.first_name, link.last_name) == ("countess", "Ada", "King")
    assert (link.extension, link.ext_name, link.type) == ("77", "Salon", "custom")


async def test_two_are_linked_once(database: Database, links: list[Link]) -> None:
    with pytest.raises(Conflict) as conflict:
        await add(database, a_link(20, ADA, DESK))

    assert conflict.value.code == "already_exists"
    assert [problem.field for problem in conflict.value.problems] == ["extension_uuid"]
    assert await full(database) == [told(link) for link in links]


async def test_of_racing_callers_one_links_the_two(database: Database) -> None:
    outcomes = await asyncio.gather(
        *(add(database, a_link(20 + i, ADA, DESK)) for i in range(10)), return_exceptions=True
    )

    assert sum(outcome is None for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 9
    assert len(await full(database)) == 1


@pytest.mark.parametrize(("user_uuid", "extension_uuid"), [(NOBODY, DESK), (ADA, NOTHING)])
async def test_both_ends_must_exist(
    database: Database, user_uuid: str, extension_uuid: str
) -> None:
    with pytest.raises(NotFound):
        await add(database, a_link(20, user_uuid, extension_uuid))

    async with database.read() as tx:
        assert await tx.links.full.count() == 0


async def test_a_link_is_removed_once(database: Database, links: list[Link]) -> None:
    async with database.write() as tx:
        assert await tx.links.remove(links[0].uuid)
        assert not await tx.links.remove(links[0].uuid)
        assert not await tx.links.remove(NOTHING)
        assert not await tx.links.remove("")

    assert await full(database) == [told(link) for link in links[1:]]
    await add(database, a_link(20, ADA, DESK, created_at=moment(1)))


async def test_a_link_goes_with_its_user(database: Database, links: list[Link]) -> None:
    async with database.write() as tx:
        assert await tx.users.remove(ADA)
        assert await tx.links.full.count() == 2

    assert await full(database) == [told(links[1]), told(links[3])]
    async with database.read() as tx:
        assert await tx.extensions.count() == 2


async def test_a_link_goes_with_its_extension(database: Database, links: list[Link]) -> None:
    async with database.write() as tx:
        assert await tx.extensions.remove(DESK)
        assert await tx.links.full.count() == 2

    assert await full(database) == [told(links[2]), told(links[3])]
    async with database.read() as tx:
        assert await tx.users.count() == 2


async def test_an_error_s_transaction_links_nothing(database: Database) -> None:
    async def link_and_fail() -> None:
        async with database.write() as tx:
            await tx.links.add(LINKS[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await link_and_fail()

    assert await full(database) == []
