"""The contract of ``DrillStore``."""

from typing import Any

from phoneprov_core.features.lines.drills import Drill, DrillResult
from phoneprov_core.features.retention import Expiring
from phoneprov_core.kernel.search import Search
from support.phone_records import a_phone
from support.records import a_mac, identifier, moment
from support.store_tests import DatabaseTests, existing

PHONE, OTHER = a_mac(1), a_mac(2)


def a_drill(number: int, result: DrillResult = DrillResult.AGREES, **changes: Any) -> Drill:
    values: dict[str, Any] = {
        "uuid": identifier(number),
        "mac": PHONE,
        "location": "Berlin/3",
        "line": "101",
        "recorded_number": "+4930112",
        "recorded_place": "Hof; 100 % = ü",
        "presented_number": "+4930112",
        "presented_place": None,
        "result": result,
        "message": None,
        "created_at": moment(number),
    }
    return Drill(**(values | changes))


class TestDrills(DatabaseTests):
    """The contract of ``DrillStore``."""

    async def last_drills(self) -> dict[str, list[str]]:
        """The MACs of phones by the result of their last drill."""
        found = {}
        async with self.database.read() as tx:
            for result in ("none", "agrees", "differs"):
                rows = tx.phones.matching(Search(filters=(("last_drill", result),)))
                found[result] = [one.mac for one in await rows.rows(10)]
            assert (await tx.fleet.counts()).drilled == {k: len(v) for k, v in found.items() if v}
        return found

    async def test_drills_of_a_phone_are_listed_newest_first(self) -> None:
        third, fourth = (a_drill(number, created_at=moment(3)) for number in (3, 4))
        newest = [fourth, third, a_drill(2, DrillResult.UNKNOWN, line=None), a_drill(1)]
        async with self.database.write() as tx:
            for one in (*newest[::-1], a_drill(7, mac=OTHER)):
                await tx.drills.add(one)
        async with self.database.read() as tx:
            assert await tx.drills.newest(PHONE, 10) == newest
            assert await tx.drills.newest(PHONE, 2) == newest[:2]
            assert await tx.drills.newest(a_mac(9), 10) == []
            assert await tx.drills.newest(PHONE, 5, before=identifier(4)) == newest[1:]
            assert await tx.drills.newest(PHONE, 5, before=identifier(1)) == []
            assert await tx.drills.newest(PHONE, 5, before=identifier(99)) == []

    async def test_known_result_is_that_of_its_phone_alone(self) -> None:
        await self.add(a_phone(1), a_phone(2), a_phone(3))
        for number, result in enumerate(
            (DrillResult.DIFFERS, DrillResult.UNKNOWN, DrillResult.NOT_REGISTERED), 1
        ):
            drill = a_drill(number, result)
            async with self.database.write() as tx:
                await tx.drills.add(drill)
            assert await self.last_drills() == {
                "none": [a_mac(2), a_mac(3)], "agrees": [], "differs": [PHONE],
            }  # fmt: skip
        async with self.database.write() as tx:
            await tx.drills.add(a_drill(4))
            await tx.drills.add(a_drill(5, DrillResult.DIFFERS, mac=OTHER))
        assert await self.last_drills() == {
            "none": [a_mac(3)], "agrees": [PHONE], "differs": [OTHER],
        }  # fmt: skip

    async def test_old_drills_are_removed_but_for_the_newest_of_a_phone(self) -> None:
        async with self.database.write() as tx:
            for number in (1, 2, 3, 90):
                await tx.drills.add(a_drill(number))
            for number in (4, 5):
                await tx.drills.add(a_drill(number, mac=OTHER))
        async with self.database.read() as tx:
            piece = existing(await tx.retention.look(Expiring.DRILLS, moment(50), 100))
        assert piece.removable == 4
        async with self.database.write() as tx:
            assert await tx.retention.remove(Expiring.DRILLS, moment(50), piece) == 4
        async with self.database.read() as tx:
            left = [[one.uuid for one in await tx.drills.newest(a_mac(n), 9)] for n in (1, 2)]
        assert left == [[identifier(90)], [identifier(5)]]

    async def test_changed_phone_keeps_its_result_and_a_new_one_of_its_mac_has_it(self) -> None:
        await self.add(a_phone(1))
        await self.write(lambda tx: tx.drills.add(a_drill(1, DrillResult.DIFFERS)))
        await self.put(a_phone(1, location="Leipzig"))
        assert (await self.last_drills())["differs"] == [PHONE]
        await self.write(lambda tx: tx.phones.remove(PHONE))
        await self.add(a_phone(1))
        assert (await self.last_drills())["differs"] == [PHONE]
