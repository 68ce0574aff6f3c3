"""The contract of ``DirectoryKeyStore``."""

import pytest

from phoneprov_core.features.sync.model import CONTACT, USER, DirectoryKey
from phoneprov_core.kernel.errors import AlreadyExists
from support.records import a_user, identifier
from support.store_tests import DatabaseTests

ADA = DirectoryKey("ad", "1", USER, identifier(1))


class TestDirectoryKeys(DatabaseTests):
    """Keys of people in directories."""

    async def keys(self) -> list[DirectoryKey]:
        async with self.database.read() as tx:
            return await tx.directory_keys.all()

    async def test_keys_of_all_sources_and_kinds_are_kept(self) -> None:
        contact = DirectoryKey("ad", "1", CONTACT, identifier(1))
        other = DirectoryKey("entra", "1", USER, identifier(2))
        async with self.database.write() as tx:
            for key in (ADA, contact, other):
                await tx.directory_keys.put(key)

        assert sorted(await self.keys(), key=repr) == sorted([ADA, contact, other], key=repr)

    async def test_key_gets_another_record(self) -> None:
        moved = DirectoryKey("ad", "1", USER, identifier(2))
        await self.write(lambda tx: tx.directory_keys.put(ADA))
        await self.write(lambda tx: tx.directory_keys.put(moved))

        assert await self.keys() == [moved]

    async def test_record_with_another_key_is_a_conflict(self) -> None:
        await self.write(lambda tx: tx.directory_keys.put(ADA))

        with pytest.raises(AlreadyExists):
            await self.write(
                lambda tx: tx.directory_keys.put(DirectoryKey("entra", "9", USER, identifier(1)))
            )

    async def test_key_outlives_its_record_until_it_is_removed(self) -> None:
        await self.add(a_user(1))
        await self.write(lambda tx: tx.directory_keys.put(ADA))
        await self.write(lambda tx: tx.users.remove(identifier(1)))
        kept = await self.keys()
        for _ in range(2):
            await self.write(lambda tx: tx.directory_keys.remove(ADA))

        assert (kept, await self.keys()) == ([ADA], [])

    async def test_last_sync_of_each_source_is_in_the_statistics(self) -> None:
        async with self.database.write() as tx:
            for source, at in (("ad", 1), ("entra", 2), ("ad", 3)):
                await tx.directory_keys.finished(source, at)

        async with self.database.read() as tx:
            assert (await tx.statistics.read()).syncs == {"ad": 3, "entra": 2}
