"""The contracts of ``DeploymentStore`` and ``LeaseStore``; lists are in ``deployment_lists``."""

import asyncio
import time
from itertools import pairwise

import msgspec
import pytest

from phoneprov_core.features.desks.records import EarlierUse
from phoneprov_core.switching.deployments.model import Action, Deployment, Outcome, Step, StepName
from support.phone_records import a_deployment, a_phone
from support.records import a_mac, identifier, moment
from support.store_tests import DatabaseTests, existing
from support.stores import process_of

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
NOW = moment(50)
ADA = identifier(31)


class TestDeployments(DatabaseTests):
    """The contract of ``DeploymentStore``."""

    async def _take(self, mac: str, holder: str, seconds: int = 60) -> int:
        return existing(await self.write(lambda tx: tx.leases.take(mac, holder, seconds)))

    async def _record(self, *deployments: Deployment) -> None:
        await self.add(*deployments)

    async def _interrupted(self, now: str) -> int:
        return await self.write(lambda tx: tx.deployments.interrupt_abandoned(now))

    async def _find(self, number: int) -> Deployment | None:
        return await self.read(lambda tx: tx.deployments.find(identifier(number)))

    async def test_use_is_kept_with_the_certain_deployment_before(self) -> None:
        use = EarlierUse(NOW, ADA, identifier(41), moment(1), moment(2), None, True)
        outcomes = [Outcome.DEPLOYED, Outcome.UNKNOWN, Outcome.FAILED, Outcome.INTERRUPTED]
        made = [
            a_deployment(
                number, PHONE, number=number, outcome=outcome,
                place=None if outcome is Outcome.FAILED else "p",
            )
            for number, outcome in enumerate(outcomes, 1)
        ]  # fmt: skip
        other = a_deployment(9, OTHER_PHONE, number=1, place="p")
        await self._record(*made, other)
        async with self.database.write() as tx:
            for following in (made[3], other):
                await tx.deployments.keep_use(following, use)
        await self.put(msgspec.structs.replace(made[0], message="x"))  # it keeps its use

        async with self.database.read() as tx:
            kept = [await tx.deployments.use_with(one) for one in (*made, other)]
            assert kept == [use, None, None, None, None]

    async def test_login_since_counts_at_other_phones_only(self) -> None:
        login = {"owner_uuid": ADA, "action": Action.LOGIN}
        await self._record(
            a_deployment(50, OTHER_PHONE, number=1, place="p", **login),
            a_deployment(51, OTHER_PHONE, number=2, **login),
            a_deployment(52, OTHER_PHONE, number=3, place="p", owner_uuid=ADA),
        )
        async with self.database.read() as tx:
            asked = [(moment(49), PHONE), (moment(50), PHONE), (moment(49), OTHER_PHONE)]
            found = [await tx.deployments.logged_in_since(ADA, *one) for one in asked]
            assert found == [True, False, False]

    @pytest.mark.parametrize(
        ("outcomes", "in_place"),
        [
            ("", None),
            ("deployed", 1),
            ("running+", 1),
            ("interrupted+", 1),
            ("running", None),
            ("unknown+", None),
            ("deployed unknown+", None),
            ("unknown+ deployed", 2),
            ("deployed failed", 1),
            ("deployed running", None),
            ("deployed interrupted", None),
            ("deployed interrupted failed", None),
            ("deployed interrupted deployed", 3),
            ("deployed interrupted+", 2),
        ],
    )
    async def test_deployment_in_place_is_the_current_one_unless_another_may_be(
        self, outcomes: str, in_place: int | None
    ) -> None:
        """With a plus the file has its place."""
        await self.add(a_phone(1, created_at=moment(0)))
        for number, word in enumerate(outcomes.split(), 1):
            outcome = Outcome(word.rstrip("+"))
            has_place = outcome is Outcome.DEPLOYED or word.endswith("+")
            place = "s/f" if has_place else None
            await self.add(a_deployment(number, PHONE, outcome=outcome, place=place))
        other = {"outcome": Outcome.DEPLOYED, "place": "s/f"}
        await self.add(a_deployment(9, OTHER_PHONE, **other))

        found = await self.read(lambda tx: tx.deployments.in_place(PHONE))
        assert (None if found is None else found.number) == in_place
        assert await self.read(lambda tx: tx.deployments.in_place(OTHER_PHONE)) is None

    async def test_deployment_of_an_earlier_phone_is_not_in_place(self) -> None:
        await self.add(a_phone(1, created_at=moment(5)))
        await self.add(a_deployment(4, PHONE, outcome=Outcome.DEPLOYED, place="s/f"))
        assert await self.read(lambda tx: tx.deployments.in_place(PHONE)) is None
        await self.add(a_deployment(5, PHONE, outcome=Outcome.DEPLOYED, place="s/f"))
        assert existing(await self.read(lambda tx: tx.deployments.in_place(PHONE))).number == 5

    async def test_deployment_and_its_end_are_found_unchanged(self) -> None:
        ended = msgspec.structs.replace(
            a_deployment(2, OTHER_PHONE),
            outcome=Outcome.FAILED,
            steps=(
                Step(StepName.UPLOAD, True, None, 12),
                Step(StepName.CLEAR_SESSION, False, 'a "quoted" s\u00e9ntence', 5000),
            ),
            size=2**40,
            ended_at=NOW,
        )
        await self._record(a_deployment(1, PHONE), a_deployment(2, OTHER_PHONE))
        await self.write(lambda tx: tx.deployments.put(ended))

        assert await self._find(1) == a_deployment(1, PHONE)
        assert await self._find(2) == ended
        assert await self._find(3) is None

    async def test_interrupt_abandoned_marks_deployments_without_a_lease(self) -> None:
        over = a_deployment(4, a_mac(4), outcome=Outcome.DEPLOYED, ended_at=moment(10))
        await self._record(
            a_deployment(1, a_mac(1)),
            a_deployment(2, a_mac(2)),
            a_deployment(3, a_mac(3)),
            over,
        )
        await self._take(a_mac(1), identifier(1))
        await self._take(a_mac(2), identifier(2), seconds=0)
        await self._take(a_mac(4), identifier(4), seconds=0)

        assert await self._interrupted(NOW) == 2
        assert await self._interrupted(moment(60)) == 0

        assert await self._find(1) == a_deployment(1, a_mac(1))  # running
        for number in (2, 3):  # its lease has expired; it never had one
            assert await self._find(number) == a_deployment(
                number, a_mac(number), outcome=Outcome.INTERRUPTED, ended_at=NOW
            )
        assert await self._find(4) == over
        # That of another deployment does not keep one running, nor does one that was released.
        await self._record(a_deployment(5, a_mac(1)), a_deployment(6, a_mac(6)))
        fence = await self._take(a_mac(6), identifier(6))
        async with self.database.write() as tx:
            await tx.leases.release(a_mac(6), identifier(6), fence)
            assert await tx.deployments.interrupt_abandoned(NOW) == 2


PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
ME, YOU = identifier(1), identifier(2)


class TestLeases(DatabaseTests):
    """The contract of ``LeaseStore``."""

    async def _take(self, mac: str = PHONE, holder: str = ME, seconds: int = 60) -> int | None:
        return await self.write(lambda tx: tx.leases.take(mac, holder, seconds))

    async def _taken(self, mac: str = PHONE, holder: str = ME, seconds: int = 60) -> int:
        return existing(await self._take(mac, holder, seconds))

    async def _release(self, fence: int, mac: str = PHONE, holder: str = ME) -> bool:
        return await self.write(lambda tx: tx.leases.release(mac, holder, fence))

    async def test_phone_has_one_lease_holder_until_it_is_released_or_expires(self) -> None:
        fences = await asyncio.gather(*(self._take(holder=ME) for _ in range(20)))
        (fence,) = [fence for fence in fences if fence is not None]
        assert await self._take(holder=YOU) is None
        assert await self._take(OTHER_PHONE, YOU) is not None

        assert await self._release(fence)
        assert not await self._release(fence)
        lost = await self._taken(seconds=0)
        fence = await self._taken(holder=YOU)
        assert not await self._release(lost)
        assert await self._take() is None
        assert await self._release(fence, holder=YOU)

    async def test_lease_fence_grows_with_every_holder(self) -> None:
        fences = []
        for turn in range(6):
            # Released or expired: the fence grows in either case.
            fence = await self._taken(holder=(ME, YOU)[turn % 2], seconds=(60, 0)[turn // 3])
            fences.append(fence)
            await self._release(fence, holder=(ME, YOU)[turn % 2])

        assert all(earlier < later for earlier, later in pairwise(fences))

    async def _is_held(self, fence: int, holder: str = ME, *, even_expired: bool = False) -> bool:
        """Asked in a reading and in a writing transaction."""
        async with self.database.read() as tx:
            read = await tx.leases.is_held(PHONE, holder, fence, even_expired=even_expired)
        written = await self.write(
            lambda tx: tx.leases.is_held(PHONE, holder, fence, even_expired=even_expired)
        )
        assert read is written
        return read

    async def test_lease_is_held_until_it_is_released_expires_or_another_follows(self) -> None:
        assert not await self._is_held(1, even_expired=True)
        fence = await self._taken()
        assert await self._is_held(fence)
        assert not await self._is_held(fence, YOU)
        assert not await self._is_held(fence + 1)

        await self._release(fence)
        assert not await self._is_held(fence)
        assert await self._is_held(fence, even_expired=True)
        expired = await self._taken(seconds=0)
        assert not await self._is_held(fence, even_expired=True)
        assert not await self._is_held(expired)
        assert await self._is_held(expired, even_expired=True)
        await self._taken(holder=YOU)
        assert not await self._is_held(expired, even_expired=True)

    async def test_expired_lease_is_not_acquired_while_its_holder_writes(self) -> None:
        fence = await self._taken(seconds=0)
        async with self.database.write() as tx:
            assert await tx.leases.is_held(PHONE, ME, fence, even_expired=True)
            waiting = asyncio.ensure_future(self._take(holder=YOU))
            await asyncio.wait({waiting}, timeout=0.2)
            assert not waiting.done()
            await tx.leases.continue_after(PHONE, fence + 7)
        assert await waiting == fence + 8

    async def test_lease_continues_after_the_fence_of_another_phone(self) -> None:
        fence = await self._taken()
        await self._release(fence)
        async with self.database.write() as tx:
            await tx.leases.continue_after(PHONE, fence + 7)
            await tx.leases.continue_after(PHONE, fence)

        assert await self._take() == fence + 8

    async def test_leases_of_an_ended_process_are_released(self) -> None:
        first = await self._taken()
        other = await self._taken(OTHER_PHONE, YOU)

        await self.write(lambda tx: tx.leases.release_of(identifier(9)))
        assert await self._take(holder=YOU) is None
        await self.write(lambda tx: tx.leases.release_of(process_of(self.database)))

        assert not await self._release(first)
        assert (await self._take(holder=YOU) or 0) > first
        assert (await self._take(OTHER_PHONE, ME) or 0) > other

    async def test_lease_expires_after_its_seconds(self) -> None:
        began = time.monotonic()
        assert await self._take(seconds=1) is not None

        while await self._take(holder=YOU) is None:  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.02)

        # Clocks of databases may be as coarse as a few milliseconds.
        assert 0.98 <= time.monotonic() - began < 5

    @pytest.mark.parametrize(
        ("holder", "mac", "more"),
        [(ME, PHONE, 1), (ME, PHONE, -1), (YOU, PHONE, 0), (ME, OTHER_PHONE, 0)],
    )
    async def test_only_the_holder_with_the_right_fence_releases(
        self, holder: str, mac: str, more: int
    ) -> None:
        fence = await self._taken()

        assert not await self._release(fence + more, mac, holder)

        assert await self._take(holder=YOU) is None
        assert await self._release(fence)

    async def test_lease_holder_is_returned(self) -> None:
        async def holder() -> str | None:
            return await self.read(lambda tx: tx.leases.holder(PHONE))

        assert await holder() is None
        await self._take(seconds=0)
        assert await holder() is None
        fence = await self._taken(holder=YOU)
        assert await holder() == YOU

        await self._release(fence, holder=YOU)
        assert await holder() is None
