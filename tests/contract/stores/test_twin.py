"""What a twin gets of each database: the same records, secrets opened by the same keys."""

from typing import Any

from phoneprov_adapters.memory.database import TwinDatabase
from phoneprov_adapters.security.crypto import SecretBox, Subkeys
from phoneprov_core.features.batches.ports import BatchItem
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.switching.deployments.model import DeploymentFilter, Outcome
from support.phone_records import a_batch, a_deployment, a_phone, a_profile, a_revision
from support.records import OWNER, a_mac, a_user, identifier, moment
from support.store_tests import DatabaseTests

PROFILE = a_profile(800)
MAC = a_mac(1)


class TestTwin(DatabaseTests):
    """The rows that a twin gets."""

    async def fill(self) -> None:
        async with self.database.write() as tx:
            await tx.users.add(a_user(900))
            await tx.profiles.add(PROFILE)
            for number in (1, 2, 3):
                revision = a_revision(number, PROFILE, number=number)
                await tx.revisions.add(revision, f"<device>{number}</device>")
            await tx.phones.add(a_phone(1))
            await tx.fleet.put(SeenPhone(MAC, FleetState.FINE, moment(1)), is_change=True)
            for number in range(1, 21):
                is_placed = number <= 5
                await tx.deployments.add(
                    a_deployment(
                        number, MAC, profile_uuid=PROFILE.uuid, owner_uuid=OWNER,
                        place="x" if is_placed else None,
                        outcome=Outcome.DEPLOYED if is_placed else Outcome.FAILED,
                        created_at=moment(number), ended_at=moment(number),
                    )
                )  # fmt: skip

    async def test_records_and_secrets_are_the_same(self) -> None:
        await self.fill()
        async with self.database.read() as tx:
            rows = [
                (table, await tx.twin.rows(table, column, keys))
                for table, column, keys in (
                    ("users", "uuid", [PROFILE.user_uuid]),
                    ("profiles", "uuid", [PROFILE.uuid]),
                    ("phones", "mac", [MAC, a_mac(9)]),
                    ("phone_states", "mac", [MAC]),
                )
            ]
            rows.append(("profile_revisions", await tx.twin.revisions([PROFILE.uuid], [1])))
            keys = tx.twin.keys
            phone, seen = await tx.phones.find(MAC), await tx.fleet.find(MAC)
        twin = TwinDatabase(lambda: 0, SecretBox(keys))
        await twin.fill(rows)
        async with twin.read() as tx:
            assert await tx.phones.find(MAC) == phone
            assert await tx.fleet.find(MAC) == seen
            assert await tx.profiles.find(PROFILE.uuid) == PROFILE
            numbers = [one.number for one in await tx.revisions.rows(9, owner=PROFILE.uuid)]
            assert numbers == [1, 3]
            newest = await tx.revisions.newest(PROFILE.uuid)
            assert newest is not None
            content = await tx.revisions.content(newest.uuid)
            assert content is not None
            assert content.text == "<device>3</device>"

    async def test_deployments_are_the_newest_and_the_newest_with_a_place(self) -> None:
        await self.fill()
        async with self.database.read() as tx:
            rows = await tx.twin.deployments([MAC])
            past = await tx.twin.past([MAC], moment(2))
            of_all = await tx.twin.newest_deployments(4)
            keys = tx.twin.keys
        assert await self.numbers(keys, rows) == [3, 4, 5, *range(13, 21)]
        assert await self.numbers(keys, past["deployments"]) == [*range(1, 21)]
        assert await self.numbers(keys, of_all) == [17, 18, 19, 20]

    async def numbers(self, keys: Subkeys, rows: list[tuple[Any, ...]]) -> list[int]:
        twin = TwinDatabase(lambda: 0, SecretBox(keys))
        await twin.fill([("deployments", rows)])
        async with twin.read() as tx:
            found = await tx.deployments.matching(DeploymentFilter()).rows(99)
        return sorted(one.number for one in found)

    async def test_phones_that_were_busy_are_named_with_the_newest_batch_last(self) -> None:
        await self.fill()
        async with self.database.write() as tx:
            for number in (1, 2):
                batch = a_batch(number, created_at=moment(number))
                await tx.batches.add(batch)
                since = moment(100 + number)
                item = BatchItem(
                    batch.uuid, 1, MAC, identifier(number), waiting_since=since, message="busy"
                )
                await tx.batches.add_phones([item])
        async with self.database.read() as tx:
            found = await tx.twin.busy([MAC], moment(0))
            none = await tx.twin.busy([a_mac(9)], moment(0))
        assert [row[1] for row in found] == [moment(101), moment(102)]
        assert found[0][3:] == ("waiting", "busy")
        assert none == []
