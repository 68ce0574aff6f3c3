"""The contract of ``RevisionStore``."""

import pytest

from phoneprov_core.features.batches.model import BatchState
from phoneprov_core.inventory.profiles.model import Content, Revision, whole
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.switching.deployments.model import Outcome
from support.phone_records import a_batch, a_deployment, a_profile, a_revision
from support.records import a_mac, a_user, identifier, moment
from support.store_tests import DatabaseTests

OWNER = identifier(900)
ONE, TWO = (a_profile(number, OWNER) for number in (1, 2))
XML = "<a>\r\n\té\U0001f4de</a>\n"


def _revision(number: int, uuid: int, of: int = 1) -> Revision:
    return a_revision(uuid, a_profile(of, OWNER), number=number)


class TestRevisions(DatabaseTests):
    """The contract of ``RevisionStore``."""

    async def revisions(self) -> list[int]:
        """The numbers of the revisions of the profile."""
        async with self.database.read() as tx:
            return [one.number for one in await tx.revisions.rows(99, owner=ONE.uuid)]

    async def _add(self, *revisions: Revision, xml: str = "<a/>") -> None:
        async with self.database.write() as tx:
            for one in revisions:
                await tx.revisions.add(one, xml)

    async def arrange(self) -> None:
        await self.add(a_user(900), ONE, TWO)

    async def test_revision_and_its_configuration_are_found_as_they_were_added(self) -> None:
        await self._add(_revision(1, 11), xml=XML)
        await self._add(_revision(2, 12), _revision(10, 14), _revision(9, 15))
        await self.put(a_profile(1, OWNER, name="Other"))  # it keeps its revisions

        async with self.database.read() as tx:
            assert await tx.revisions.find(ONE.uuid, 1) == _revision(1, 11)
            assert await tx.revisions.content(identifier(11)) == Content(XML)
            assert await tx.revisions.content(identifier(12)) == Content("<a/>")
            assert await tx.revisions.newest(ONE.uuid) == _revision(10, 14)

    @pytest.mark.parametrize("number", [0, -1, 3, 2**31, 2**63, 2**80])
    async def test_missing_revision_is_none(self, number: int) -> None:
        await self._add(_revision(1, 11))

        async with self.database.read() as tx:
            assert await tx.revisions.find(ONE.uuid, number) is None
            assert await tx.revisions.find(TWO.uuid, 1) is None
            assert await tx.revisions.newest(TWO.uuid) is None
            assert await tx.revisions.newest("") is None
            assert await tx.revisions.content(identifier(12)) is None
            for key in ("", identifier(3), TWO.uuid):
                assert await tx.whole_profiles.find(key) is None

    async def test_revision_number_is_unique_in_its_profile(self) -> None:
        await self._add(_revision(1, 11), _revision(1, 12, of=2))

        with pytest.raises(Conflict) as conflict:
            await self._add(_revision(1, 13))
        with pytest.raises(NotFound):
            await self._add(_revision(1, 14, of=3))

        assert conflict.value.code == "already_exists"
        assert await self.read(lambda tx: tx.revisions.find(ONE.uuid, 1)) == _revision(1, 11)

    @pytest.mark.parametrize("removed", ["profile", "user"])
    async def test_revisions_are_removed_with_their_profile(self, removed: str) -> None:
        await self._add(_revision(1, 11), _revision(1, 12, of=2))

        async with self.database.write() as tx:
            if removed == "profile":
                await tx.profiles.remove(ONE.uuid)
            else:
                await tx.users.remove(OWNER)

        async with self.database.read() as tx:
            assert await tx.revisions.content(identifier(11)) is None
            assert await tx.revisions.count() == (1 if removed == "profile" else 0)

    async def test_revisions_are_counted_and_listed_by_number_then_uuid(self) -> None:
        first, second, third = _revision(1, 12), _revision(2, 11), _revision(3, 13)
        other = _revision(2, 10, of=2)
        await self._add(third, first, other, second)

        async with self.database.read() as tx:
            assert await tx.revisions.count() == 4
            assert await tx.revisions.count(ONE.uuid) == 3
            assert await tx.revisions.count(identifier(3)) == 0
            assert await tx.revisions.rows(9) == [first, other, second, third]
            assert await tx.revisions.rows(9, owner=ONE.uuid) == [first, second, third]
            assert await tx.revisions.rows(1, after=first, owner=ONE.uuid) == [second]
            assert await tx.revisions.rows(9, after=first, offset=1, owner=ONE.uuid) == [third]
            assert await tx.revisions.rows(9, after=other) == [second, third]
            assert await tx.revisions.rows(2, offset=3) == [third]

    async def test_whole_profiles_have_the_configuration_of_their_newest_revision(self) -> None:
        await self._add(_revision(1, 11), xml="<old/>")
        await self._add(_revision(2, 12), xml=XML)
        await self._add(_revision(1, 13, of=2))

        async with self.database.read() as tx:
            one, two = whole(ONE, Content(XML)), whole(TWO, Content("<a/>"))
            assert await tx.whole_profiles.find(ONE.uuid) == one
            assert await tx.whole_profiles.rows(9) == [one, two]
            assert await tx.whole_profiles.rows(1, owner=OWNER) == [one]
            assert await tx.whole_profiles.rows(9, after=one) == [two]
            assert await tx.whole_profiles.rows(9, offset=1, owner=OWNER) == [two]
            assert await tx.whole_profiles.rows(9, owner=identifier(901)) == []
            assert await tx.whole_profiles.count(OWNER) == 2
            assert await tx.whole_profiles.count(identifier(901)) == 0

    async def test_remove_oldest_keeps_the_newest_and_needed_revisions(self) -> None:
        """Of twelve revisions, 2 is on a phone and 4 to 6 were before; 7 is being deployed, 8 in a
        batch."""
        await self._add(*(_revision(number, 10 + number) for number in range(1, 13)))
        await self._add(_revision(1, 40, of=2))
        placed = {"profile_uuid": ONE.uuid, "place": "there", "outcome": Outcome.DEPLOYED}
        running = {"profile_uuid": ONE.uuid, "place": None, "outcome": Outcome.RUNNING}
        async with self.database.write() as tx:
            for number, revision in enumerate((3, 1, 4, 5, 6, 2, 2), 1):
                one = a_deployment(
                    50 + number, a_mac(1), number=number, revision=revision, **placed
                )
                await tx.deployments.add(one)
            await tx.deployments.add(a_deployment(60, a_mac(2), revision=7, **running))
            failed = {**running, "outcome": Outcome.FAILED}
            await tx.deployments.add(a_deployment(61, a_mac(3), revision=9, **failed))
            await tx.batches.add(
                a_batch(70, profile_uuid=ONE.uuid, revision=8, state=BatchState.RUNNING)
            )
            ended = {"state": BatchState.DONE, "ended_at": moment(9)}
            await tx.batches.add(a_batch(71, profile_uuid=ONE.uuid, revision=10, **ended))

        removed = []
        for most in (12, 11, 9, 1, 1):
            async with self.database.write() as tx:
                removed.append(await tx.revisions.remove_oldest(ONE.uuid, most))

        assert await self.read(lambda tx: tx.revisions.count(TWO.uuid)) == 1
        assert await self.revisions() == [2, 4, 5, 6, 7, 8, 12]
        assert removed == [0, 1, 2, 2, 0]

    @pytest.mark.parametrize("size", [7, 9])
    async def test_remove_oldest_keeps_rollback_target_before_many_equal_texts(
        self, size: int
    ) -> None:
        """Revision 1 has another text than 2 to 9, which all have the same one."""
        await self._add(*(_revision(number, 10 + number) for number in range(1, 10)))
        async with self.database.write() as tx:
            for number in range(1, 9):
                one = a_deployment(
                    50 + number,
                    a_mac(1),
                    number=number,
                    revision=number,
                    profile_uuid=ONE.uuid,
                    place="there",
                    outcome=Outcome.DEPLOYED,
                    sha256=("a" if number == 1 else "b") * 64,
                    size=size if number == 1 else 7,
                )
                await tx.deployments.add(one)

        assert await self.write(lambda tx: tx.revisions.remove_oldest(ONE.uuid, 1)) == 3

        assert await self.revisions() == [1, 5, 6, 7, 8, 9]
