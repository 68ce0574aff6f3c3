"""The contracts of ``VendorUserStore`` and ``LinkStore``."""

import asyncio
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from phoneprov_core.inventory.links import FullLink, Link, LinkedExtension, LinkedUser
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.people.vendor_users import VendorUser
from support.records import (
    a_link,
    a_pin,
    a_user,
    an_extension,
    identifier,
    moment,
)
from support.store_tests import DatabaseTests

ADA, BOB, NO_USER = identifier(1), identifier(2), identifier(99)


class TestVendorUsers(DatabaseTests):
    """The contract of ``VendorUserStore``."""

    async def _save(self, pin: VendorUser) -> VendorUser:
        return await self.write(lambda tx: tx.vendor_users.save(pin))

    async def _of_user(self, user_uuid: str) -> VendorUser | None:
        return await self.read(lambda tx: tx.vendor_users.of_user(user_uuid))

    async def arrange(self) -> None:
        await self.add(a_user(1), a_user(2))

    async def test_pin_is_saved_replaced_and_removed_once(self) -> None:
        assert await self._of_user(ADA) is None
        assert await self._save(a_pin(11, ADA)) == a_pin(11, ADA)
        assert await self._of_user(ADA) == a_pin(11, ADA)
        assert await self._of_user(BOB) is None
        await self._save(a_pin(12, BOB))

        second = await self._save(a_pin(13, ADA))

        assert second == msgspec.structs.replace(a_pin(11, ADA), pin_code="hash-13")
        assert await self._of_user(ADA) == second
        async with self.database.write() as tx:
            assert await tx.vendor_users.remove(ADA)
            assert not await tx.vendor_users.remove(ADA)
            assert not await tx.vendor_users.remove(NO_USER)
        assert await self._of_user(ADA) is None
        assert await self._of_user(BOB) == a_pin(12, BOB)

    async def test_racing_callers_leave_one_pin(self) -> None:
        saved = await asyncio.gather(*(self._save(a_pin(20 + i, ADA)) for i in range(20)))

        assert len({pin.uuid for pin in saved}) == 1
        assert len({pin.pin_code for pin in saved}) == 20
        assert await self._of_user(ADA) in saved

    async def test_pin_of_a_missing_user_is_not_found(self) -> None:
        with pytest.raises(NotFound):
            await self._save(a_pin(11, NO_USER))

        assert await self._of_user(NO_USER) is None


DESK, LAB, NOTHING = identifier(101), identifier(102), identifier(99)

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


def _full_link(link: Link) -> FullLink:
    user, extension = USERS[link.user_uuid], EXTENSIONS[link.extension_uuid]
    return FullLink(
        **msgspec.structs.asdict(link),
        username=user.username,
        first_name=user.first_name,
        last_name=user.last_name,
        extension=extension.extension,
        ext_name=extension.name,
        type=extension.type,
    )


def _part_of(view: type[Any], link: Link) -> Any:
    whole = _full_link(link)
    return view(**{name: getattr(whole, name) for name in view.__struct_fields__})


class TestLinks(DatabaseTests):
    """The contract of ``LinkStore``: links with either end or both."""

    async def _full(self) -> list[FullLink]:
        return await self.read(lambda tx: tx.links.full.rows(1000))

    async def arrange(self) -> None:
        await self.add(*USERS.values(), *EXTENSIONS.values())

    @pytest_asyncio.fixture(loop_scope="session")
    async def links(self) -> list[Link]:
        await self.add(*reversed(LINKS))
        return LINKS

    async def test_links_are_listed_whole_and_by_either_end(self, links: list[Link]) -> None:
        whole = [_full_link(link) for link in links]
        of_user = [_part_of(LinkedExtension, link) for link in links]
        of_extension = [_part_of(LinkedUser, link) for link in links]
        async with self.database.read() as tx:
            rows: Any
            for rows, owner, expected in (
                (tx.links.full, None, whole),
                (tx.links.full, BOB, whole[1::2]),
                (tx.links.full, DESK, []),
                (tx.links.extensions, None, of_user),
                (tx.links.extensions, ADA, [of_user[0], of_user[2]]),
                (tx.links.extensions, BOB, [of_user[1], of_user[3]]),
                (tx.links.extensions, NO_USER, []),
                (tx.links.extensions, DESK, []),
                (tx.links.users, None, of_extension),
                (tx.links.users, DESK, of_extension[:2]),
                (tx.links.users, LAB, of_extension[2:]),
                (tx.links.users, NOTHING, []),
                (tx.links.users, ADA, []),
            ):
                assert await rows.rows(1000, owner=owner) == expected
                assert await rows.count(owner) == len(expected)

    async def test_links_are_read_in_pieces(self, links: list[Link]) -> None:
        whole = [_full_link(link) for link in links]
        async with self.database.read() as tx:
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

    async def test_links_continue_after_a_removed_link(self, links: list[Link]) -> None:
        await self.write(lambda tx: tx.links.remove(links[1].uuid))

        rest = await self.read(lambda tx: tx.links.full.rows(1000, after=_full_link(links[1])))
        assert rest == [_full_link(links[2]), _full_link(links[3])]

    async def test_links_show_current_names(self) -> None:
        await self.add(LINKS[0])
        await self.put(
            a_user(1, username="countess", last_name="King"),
            an_extension(101, extension="77", name="Salon", type="custom"),
        )

        (link,) = await self._full()

        assert (link.username, link.first_name, link.last_name) == ("countess", "Ada", "King")
        assert (link.extension, link.ext_name, link.type) == ("77", "Salon", "custom")

    async def test_link_of_a_linked_pair_conflicts(self, links: list[Link]) -> None:
        with pytest.raises(Conflict) as conflict:
            await self.add(a_link(20, ADA, DESK))

        assert conflict.value.code == "already_exists"
        assert [problem.field for problem in conflict.value.problems] == ["extension_uuid"]
        assert await self._full() == [_full_link(link) for link in links]

    async def test_link_one_of_racing_callers_succeeds(self) -> None:
        outcomes = await asyncio.gather(
            *(self.add(a_link(20 + i, ADA, DESK)) for i in range(10)), return_exceptions=True
        )

        assert sum(outcome is None for outcome in outcomes) == 1
        assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 9
        assert len(await self._full()) == 1

    @pytest.mark.parametrize(("user_uuid", "extension_uuid"), [(NO_USER, DESK), (ADA, NOTHING)])
    async def test_link_of_a_missing_user_or_extension_is_not_found(
        self, user_uuid: str, extension_uuid: str
    ) -> None:
        with pytest.raises(NotFound):
            await self.add(a_link(20, user_uuid, extension_uuid))

        assert await self.read(lambda tx: tx.links.full.count()) == 0

    async def test_link_is_removed_once(self, links: list[Link]) -> None:
        async with self.database.write() as tx:
            assert await tx.links.remove(links[0].uuid)
            assert not await tx.links.remove(links[0].uuid)
            assert not await tx.links.remove(NOTHING)
            assert not await tx.links.remove("")

        assert await self._full() == [_full_link(link) for link in links[1:]]
        await self.add(a_link(20, ADA, DESK, created_at=moment(1)))

    @pytest.mark.parametrize(
        ("end", "left"), [("user", slice(1, None, 2)), ("extension", slice(2, None))]
    )
    async def test_link_is_removed_with_either_end(
        self, links: list[Link], end: str, left: slice
    ) -> None:
        async with self.database.write() as tx:
            removed = tx.users.remove(ADA) if end == "user" else tx.extensions.remove(DESK)
            assert await removed
            assert await tx.links.full.count() == 2

        assert await self._full() == [_full_link(link) for link in links[left]]
        async with self.database.read() as tx:
            others = tx.extensions if end == "user" else tx.users
            assert await others.count() == 2

    async def test_link_of_a_failed_transaction_is_not_stored(self) -> None:
        async with self.rolled_back() as tx:
            await tx.links.add(LINKS[0])

        assert await self._full() == []
