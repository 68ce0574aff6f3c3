"""The contract of ``DeploymentStore``: filtered lists, and the current deployment of a phone."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.switching.deployments.model import Deployment, DeploymentFilter, Outcome
from support.phone_records import a_deployment, a_phone
from support.records import a_mac, identifier, moment
from support.store_tests import DatabaseTests, existing

ONE, TWO = a_mac(1), a_mac(2)
ADA, BOB, ROOT = identifier(901), identifier(902), identifier(900)


def _placed(number: int, mac: str = ONE, hash_: str = "0", **changes: Any) -> Deployment:
    """A deployment whose file is in place."""
    defaults = {"place": "somewhere", "outcome": Outcome.DEPLOYED, "sha256": hash_ * 64, **changes}
    return a_deployment(number, mac, **defaults)


def _numbers(deployments: Iterable[Deployment | None]) -> list[int | None]:
    return [None if one is None else one.number for one in deployments]


class TestDeploymentLists(DatabaseTests):
    """The contract of ``DeploymentStore``: filtered lists, and the current deployment."""

    async def _record(self, *deployments: Deployment) -> None:
        await self.add(*deployments)

    async def _matching(self, wanted: DeploymentFilter, **more: Any) -> list[int]:
        async with self.database.read() as tx:
            is_whole = not more
            rows = await tx.deployments.matching(wanted).rows(more.pop("limit", 100), **more)
            if is_whole:
                assert await tx.deployments.matching(wanted).count() == len(rows)
        return [row.number for row in rows]

    # Records
    async def test_deployment_number_is_unique_for_its_phone(self) -> None:
        await self._record(a_deployment(1, ONE), a_deployment(2, TWO, number=1))

        with pytest.raises(Conflict) as conflict:
            await self._record(a_deployment(3, ONE, number=1))

        assert conflict.value.code == "already_exists"
        assert await self.read(lambda tx: tx.deployments.find(identifier(3))) is None
        with pytest.raises(NotFound):
            await self.write(lambda tx: tx.deployments.put(a_deployment(3, ONE)))

    async def test_deployment_found_for_writing_is_locked(self) -> None:
        await self._record(a_deployment(1, ONE))
        seen: list[str | None] = []

        async def another() -> None:
            seen.append(
                existing(await self.write(lambda tx: tx.deployments.find(identifier(1)))).restart
            )

        async with self.database.write() as tx:
            found = existing(await tx.deployments.find(identifier(1)))
            asking = asyncio.create_task(another())
            await asyncio.sleep(0.05)
            await tx.deployments.put(msgspec.structs.replace(found, restart="ok"))
        await asking

        assert seen == ["ok"]

    # Filters
    async def test_deployments_to_phones_at_places_belong_to_every_account(self) -> None:
        owner = identifier(31)
        await self.add(a_phone(1, location="Köln"), a_phone(2, location="Bonn"))
        await self._record(
            a_deployment(1, ONE, created_at=moment(1)),
            a_deployment(2, TWO, created_at=moment(2)),
            a_deployment(3, TWO, created_at=moment(3), owner_uuid=owner),
            a_deployment(4, a_mac(3), created_at=moment(4)),
        )
        async with self.database.read() as tx:
            for places, found in ((["Köln", "x"], [1, 3]), (["Bonn"], [2, 3]), ([], [3])):
                rows = tx.deployments.matching(DeploymentFilter(), places=places)
                assert [one.uuid for one in await rows.rows(9, owner=owner)] == [
                    identifier(number) for number in found
                ]
                assert await rows.count(owner) == len(found)
                newest = await rows.newest(1, owner=owner)
                assert [one.uuid for one in newest] == [identifier(found[-1])]
            of_phone = tx.deployments.matching(DeploymentFilter(mac=TWO), places=["Köln"])
            assert [one.uuid for one in await of_phone.rows(9, owner=owner)] == [identifier(3)]

    async def test_deployments_match_every_field_of_the_filter(self) -> None:
        one, other = identifier(801), identifier(802)
        await self._record(
            _placed(1, ONE, profile_uuid=one),
            _placed(2, ONE, profile_uuid=other),
            _placed(3, TWO, profile_uuid=one),
            a_deployment(4, TWO, profile_uuid=one, outcome=Outcome.FAILED),
            a_deployment(5, ONE, profile_uuid=one),
        )

        assert await self._matching(DeploymentFilter(mac=ONE)) == [1, 2, 5]
        assert await self._matching(DeploymentFilter(profile_uuid=one)) == [1, 3, 4, 5]
        assert await self._matching(DeploymentFilter(outcome="failed")) == [4]
        assert await self._matching(DeploymentFilter(outcome="running")) == [5]
        assert await self._matching(DeploymentFilter(outcome="interrupted")) == []
        assert await self._matching(
            DeploymentFilter(mac=ONE, profile_uuid=one, outcome="deployed")
        ) == [1]
        assert await self._matching(DeploymentFilter(current=True)) == [2, 3]
        assert await self._matching(DeploymentFilter(current=True, profile_uuid=one)) == [3]
        assert await self._matching(DeploymentFilter(current=True, mac=ONE)) == [2]
        assert await self._matching(DeploymentFilter(mac=a_mac(3))) == []

    async def test_deployments_belong_to_requester_and_profile_owner(self) -> None:
        await self._record(
            _placed(1, ONE, owner_uuid=ADA, user_uuid=ROOT),
            _placed(2, ONE, owner_uuid=BOB, user_uuid=ADA),
            _placed(3, ONE, owner_uuid=BOB, user_uuid=ROOT),
        )

        assert await self._matching(DeploymentFilter(), owner=ADA) == [1, 2]
        assert await self._matching(DeploymentFilter(), owner=BOB) == [2, 3]
        assert await self._matching(DeploymentFilter(mac=ONE), owner=ROOT, limit=1) == [1]
        # The current deployment does not depend on its owner.
        assert await self._matching(DeploymentFilter(current=True), owner=ADA) == []
        async with self.database.read() as tx:
            assert await tx.deployments.matching(DeploymentFilter()).count(ADA) == 2
            assert await tx.deployments.matching(DeploymentFilter(current=True)).count(BOB) == 1

    async def test_deployments_page_begins_after_a_row_and_skips_the_offset(self) -> None:
        rows = [_placed(number, ONE, created_at=moment(number // 2)) for number in range(1, 8)]
        await self._record(*rows, _placed(9, TWO, created_at=moment(0)))
        wanted = DeploymentFilter(mac=ONE)

        assert await self._matching(DeploymentFilter()) == [1, 9, 2, 3, 4, 5, 6, 7]
        assert await self._matching(wanted, limit=3) == [1, 2, 3]
        assert await self._matching(wanted, limit=3, after=rows[2]) == [4, 5, 6]
        assert await self._matching(wanted, limit=3, after=rows[2], offset=2) == [6, 7]
        assert await self._matching(wanted, offset=6) == [7]
        assert await self._matching(wanted, after=rows[-1]) == []

    # Current deployments
    async def test_deployment_current_has_the_largest_number_with_a_place(self) -> None:
        await self._record(
            _placed(2, ONE, created_at=moment(9)),
            _placed(3, ONE, outcome=Outcome.INTERRUPTED, created_at=moment(1)),
            a_deployment(4, ONE, outcome=Outcome.FAILED),
            a_deployment(5, ONE),
            _placed(9, TWO),
        )

        async with self.database.read() as tx:
            found = [await tx.deployments.current(mac) for mac in (ONE, TWO, a_mac(3))]

        assert _numbers(found) == [3, 9, None]

    async def test_deployment_previous_is_the_last_other_configuration(self) -> None:
        await self._record(
            _placed(1, ONE, "a"),
            _placed(2, ONE, "b"),
            a_deployment(3, ONE, sha256="c" * 64, outcome=Outcome.FAILED),
            _placed(4, ONE, "d"),
            _placed(5, ONE, "d"),
            _placed(6, TWO, "e"),
        )

        async with self.database.read() as tx:

            async def before(number: int) -> Deployment | None:
                deployment = existing(await tx.deployments.find(identifier(number)))
                return await tx.deployments.previous(deployment)

            found = [await before(number) for number in (5, 4, 3, 2, 1, 6)]

        assert _numbers(found) == [2, 2, 2, 1, None, None]

    async def test_newest_pages_by_key_cover_the_list_backwards(self) -> None:
        same = moment(3)
        made = [
            _placed(1, ONE, created_at=moment(1)),
            _placed(2, TWO, created_at=same),
            _placed(3, ONE, created_at=same, owner_uuid=BOB),
            _placed(4, TWO, created_at=moment(4)),
        ]
        await self._record(*made)

        async with self.database.read() as tx:
            rows = tx.deployments.matching(DeploymentFilter())
            pages = [await rows.newest(3)]
            pages.append(await rows.newest(3, before=pages[0][-1]))
            pages.append(await rows.newest(3, before=pages[1][-1]))
            assert _numbers(await rows.newest(9, owner=BOB)) == [3]
            current = tx.deployments.matching(DeploymentFilter(current=True))
            assert _numbers(await current.newest(9)) == [4, 3]
            of_phone = tx.deployments.matching(DeploymentFilter(mac=ONE, current=True))
            assert _numbers(await of_phone.newest(9)) == [3]
        assert [_numbers(page) for page in pages] == [[4, 3, 2], [1], []]
