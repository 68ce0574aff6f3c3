"""The contracts of ``PhoneStore`` and ``StatisticsStore``."""

import time
from typing import Any

import msgspec
import pytest

from contract.stores.test_search import PHONES, moments_of
from phoneprov_core.features.batches.model import BatchState
from phoneprov_core.features.desks.records import DeskRecord, DeskUse, end_uses
from phoneprov_core.features.fleet.model import Statistics
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.kernel.search import Search
from phoneprov_core.switching.deployments.model import Outcome
from support.phone_records import a_batch, a_deployment, a_phone
from support.records import a_mac, a_user, identifier, moment
from support.store_tests import DatabaseTests


class TestPhoneSearch(DatabaseTests):
    """The contract of ``PhoneStore``: searches of phones."""

    async def test_mac_is_found_in_any_notation(self) -> None:
        await self.add(
            a_phone(1, mac="00:1B:D4:12:34:56", phone_ip="10.0.0.1"),
            a_phone(2, mac="00:1B:D4:12:34:57", phone_ip="10.0.0.2"),
        )
        async with self.database.read() as tx:
            for whole in (
                "00:1B:D4:12:34:56",
                "00-1b-d4-12-34-56",
                "001b.d412.3456",
                "001BD4123456",
                "SEP001BD4123456",
                "00 1b d4 12 34 56",
            ):
                assert await moments_of(tx, PHONES, q=whole) == [moment(1)]
            for part in ("001b", "00:1b:", "d4-12", "d412.34", "1B:D4 12:34"):
                assert await moments_of(tx, PHONES, q=part) == [moment(1), moment(2)]
            assert await moments_of(tx, PHONES, q="00:1c") == []

    async def test_phones_are_found_by_several_macs_and_sorted_by_outcome(self) -> None:
        async with self.database.write() as tx:
            for number in (1, 2, 3):
                await tx.phones.add(a_phone(number))
            failed = a_deployment(1, a_mac(1), number=1, outcome=Outcome.FAILED)
            await tx.deployments.add(failed)
        async with self.database.read() as tx:
            phones = tx.phones.matching(Search(filters=(("mac", (a_mac(1), a_mac(3))),)))
            assert [one.mac for one in await phones.rows(9)] == [a_mac(1), a_mac(3)]
            sorted_ = tx.phones.matching(Search(sort="-last_outcome"))
            rows, _ = await sorted_.page(9)
            assert [one.mac for one in rows] == [a_mac(3), a_mac(2), a_mac(1)]

    @pytest.mark.parametrize("field", ["username", "profile_name", "state", "seen_at"])
    async def test_pages_sorted_by_the_use_are_all_phones_once_in_order(self, field: str) -> None:
        async with self.database.write() as tx:
            for number in range(1, 14):
                await tx.phones.add(a_phone(number))
            for number, state in enumerate((FleetState.FINE, FleetState.FOREIGN) * 4, 1):
                at = moment(9 - number % 3) if number < 7 else None
                await tx.fleet.put(
                    SeenPhone(a_mac(number), state, moment(1), seen_at=at), is_change=False
                )
            for number, name in enumerate("bab", 1):
                await tx.users.add(a_user(number, username=name * number))
                for mac in (a_mac(number), a_mac(number + 6)):
                    await tx.desks.put(
                        DeskRecord(mac).used(DeskUse(identifier(number)), moment(number))
                    )
            for number, name in enumerate("caabc", 3):
                placed = a_deployment(
                    number, a_mac(number), number=1, profile_name=name, place="memory"
                )
                await tx.deployments.add(placed)
        async with self.database.read() as tx:
            uses = await tx.phones.uses([a_mac(number) for number in range(1, 14)])
            values = {mac: getattr(use, field) for mac, use in uses.items()}
            with_one = sorted((value, mac) for mac, value in values.items() if value is not None)
            without = sorted(mac for mac, value in values.items() if value is None)
            assert len(with_one) > 3
            assert len(without) > 3
            for sort, expected in (
                (field, [mac for _, mac in with_one] + without),
                (f"-{field}", [mac for _, mac in with_one[::-1]] + without[::-1]),
            ):
                found = tx.phones.matching(Search(sort=sort))
                pages = [(await found.page(4, offset=offset))[0] for offset in range(0, 16, 4)]
                assert [one.mac for page in pages for one in page] == expected
                for name, value in (
                    ("in_use", True),
                    ("state", "fine"),
                    ("user_uuid", identifier(1)),
                ):
                    filtered = Search(filters=((name, value),), sort=sort, people=True)
                    part = [one.mac for one in await tx.phones.matching(filtered).rows(99)]
                    assert part
                    assert part == [mac for mac in expected if mac in part]

    async def test_phones_are_found_by_the_outcome_of_their_newest_deployment(self) -> None:
        async with self.database.write() as tx:
            await tx.deployments.add(a_deployment(1, a_mac(1), number=1, outcome=Outcome.FAILED))
            for number in (1, 2, 3, 4):
                await tx.phones.add(a_phone(number))
            second = a_deployment(2, a_mac(2), number=1)
            await tx.deployments.add(second)
            await tx.deployments.add(a_deployment(3, a_mac(3), number=2, outcome=Outcome.DEPLOYED))
            await tx.deployments.add(a_deployment(4, a_mac(3), number=1, outcome=Outcome.FAILED))
            assert await moments_of(tx, PHONES, last_outcome="running") == [moment(2)]
        async with self.database.write() as tx:
            await tx.deployments.put(msgspec.structs.replace(second, outcome=Outcome.UNKNOWN))
            await tx.phones.put(a_phone(2, name="Changed"))
        async with self.database.read() as tx:
            for outcome, numbers in {
                "none": [4], "running": [], "deployed": [3], "failed": [1], "unknown": [2],
                "interrupted": [],
            }.items():  # fmt: skip
                found = await moments_of(tx, PHONES, last_outcome=outcome)
                assert found == [moment(number) for number in numbers]
            assert await moments_of(tx, PHONES, last_outcome="failed", q="nothing-like-it") == []
            assert await moments_of(tx, PHONES, last_outcome="unknown", q="changed") == [moment(2)]

    async def test_phone_whose_deployment_was_abandoned_was_interrupted(self) -> None:
        await self.add(a_phone(1), a_deployment(1, a_mac(1)))
        await self.write(lambda tx: tx.deployments.interrupt_abandoned(moment(9)))
        assert await self.read(lambda tx: moments_of(tx, PHONES, last_outcome="interrupted")) == [
            moment(1)
        ]

    async def test_phones_are_found_by_the_user_logged_in(self) -> None:
        user = identifier(7)
        async with self.database.write() as tx:
            for number in (1, 2, 3):
                await tx.phones.add(a_phone(number, location=f"floor {number}"))
                await tx.desks.put(
                    DeskRecord(a_mac(number)).used(DeskUse(user_uuid=user), moment(number))
                )
            await tx.desks.put(
                DeskRecord(a_mac(3)).used(DeskUse(user_uuid=identifier(8)), moment(4))
            )
        async with self.database.read() as tx:
            assert await moments_of(tx, PHONES, user_uuid=user) == [moment(1), moment(2)]
            assert await moments_of(tx, PHONES, user_uuid=user, location="floor 2") == [moment(2)]
            assert await moments_of(tx, PHONES, user_uuid=identifier(9)) == []
        async with self.database.write() as tx:
            await end_uses(tx, user)
            assert await moments_of(tx, PHONES, user_uuid=user) == []

    async def test_unknown_macs_are_those_outside_the_inventory(self) -> None:
        await self.add(*(a_phone(number) for number in (1, 2, 600)))
        macs = [a_mac(number) for number in range(700)]
        async with self.database.read() as tx:
            unknown = await tx.phones.unknown(macs)
            assert unknown == [mac for mac in macs if mac not in {a_mac(1), a_mac(2), a_mac(600)}]
            assert await tx.phones.unknown([a_mac(2), a_mac(1)]) == []
            assert await tx.phones.unknown([a_mac(2)]) == []
            assert await tx.phones.unknown([]) == []


class TestStatistics(DatabaseTests):
    """The contract of ``StatisticsStore``."""

    async def test_empty_database_has_no_states(self) -> None:
        assert await self.read(lambda tx: tx.statistics.read()) == Statistics({}, {}, 0)

    async def test_records_are_counted_by_state(self) -> None:
        ended: dict[str, Any] = {"state": BatchState.DONE, "ended_at": moment(9)}
        async with self.database.write() as tx:
            await tx.users.add(a_user(900))
            for number in (1, 2):
                await tx.phones.add(a_phone(number))
                await tx.batches.add(a_batch(number))
            await tx.phones.add(a_phone(3, is_active=False))
            await tx.batches.add(a_batch(3, **ended))
            await tx.desks.put(DeskRecord(a_mac(1)).used(DeskUse(identifier(900)), moment(1)))
            await tx.desks.put(DeskRecord(a_mac(2)).used(DeskUse(), moment(1)))

        found = await self.read(lambda tx: tx.statistics.read())
        fleet = {"never_seen": 2}
        drills = {"none": 2}
        assert found == Statistics(
            {"active": 2, "inactive": 1}, {"running": 2}, 1, fleet, {}, drills
        )

    async def test_clock_is_the_time_in_milliseconds(self) -> None:
        clock = await self.read(lambda tx: tx.statistics.clock())
        assert abs(clock - time.time() * 1000) < 600_000
