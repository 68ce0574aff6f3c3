"""The contract of ``ServedFileStore``, ``FetchStore`` and ``DiscoveredPhoneStore``."""

import asyncio

from phoneprov_core.features.serving.model import (
    MOST_DISCOVERED,
    MOST_NAMES,
    DiscoveredPhone,
    SeenAddress,
    ServedFile,
)
from support.phone_records import a_fetch, a_phone
from support.records import a_mac, identifier, moment
from support.store_tests import DatabaseTests

NAME = "SEP001BD4123456.cnf.xml"
PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
IP, OTHER_IP = "10.0.0.1", "10.0.0.2"


class TestProvisioning(DatabaseTests):
    """The contract of ``ServedFileStore``, ``FetchStore`` and ``DiscoveredPhoneStore``."""

    async def test_served_file_is_replaced_by_name_and_removed_by_mac(self) -> None:
        file = ServedFile(NAME, bytes(range(256)), identifier(1))
        newer = ServedFile(NAME.lower(), b"", identifier(2))
        other = ServedFile("001BD4123499.cfg", b"", identifier(3))
        await self.write(lambda tx: tx.served_files.put(file))
        async with self.database.read() as tx:
            assert await tx.served_files.find(NAME) == file
            assert await tx.served_files.find(NAME.upper()) == file
            assert await tx.served_files.find("other") is None
        async with self.database.write() as tx:
            await tx.served_files.put(newer)
            assert await tx.served_files.find(NAME) == newer
            await tx.served_files.put(other)
            attempts = {NAME.lower(): newer.attempt, other.key: other.attempt}
            assert await tx.served_files.attempts() == attempts
            for nothing in ("00:1B:D4:12:34:57", "", "%"):
                assert not await tx.served_files.remove_of(nothing)
            assert await tx.served_files.remove_of("00:1B:D4:12:34:56")
            assert not await tx.served_files.remove_of("00:1B:D4:12:34:56")
        async with self.database.read() as tx:
            assert await tx.served_files.find(NAME) is None
            assert await tx.served_files.find(other.name) == other

    async def test_fetches_of_a_phone_are_listed_newest_first(self) -> None:
        third, fourth = (a_fetch(number, created_at=moment(3)) for number in (3, 4))
        newest = [fourth, third, a_fetch(2), a_fetch(1)]
        await self.add(*newest[::-1], a_fetch(7, mac=OTHER_PHONE), a_fetch(8, mac=None))

        async with self.database.read() as tx:
            assert await tx.fetches.newest(PHONE, 10) == newest
            assert await tx.fetches.newest(PHONE, 2) == newest[:2]
            assert await tx.fetches.newest(a_mac(9), 10) == []
            assert await tx.fetches.newest(PHONE, 5, before=identifier(4)) == newest[1:]
            assert await tx.fetches.newest(PHONE, 1, before=identifier(3)) == [newest[2]]
            assert await tx.fetches.newest(PHONE, 5, before=identifier(1)) == []
            assert await tx.fetches.newest(PHONE, 5, before=identifier(99)) == []

    async def test_discovered_phone_keeps_the_first_and_the_latest_request(self) -> None:
        await self.write(lambda tx: tx.discovered_phones.see(PHONE, IP, "CP-7945G", "a", moment(1)))
        async with self.database.write() as tx:
            await tx.discovered_phones.see(PHONE, IP, None, "b", moment(2))
            await tx.discovered_phones.see(PHONE, OTHER_IP, None, "a", moment(3))

        async with self.database.read() as tx:
            assert await tx.discovered_phones.rows(10) == [
                DiscoveredPhone(
                    PHONE,
                    OTHER_IP,
                    "CP-7945G",
                    moment(1),
                    moment(3),
                    ("b", "a"),
                    (SeenAddress(IP, moment(2)),),
                )
            ]
            assert await tx.discovered_phones.count() == 1

    async def test_names_of_a_discovered_phone_are_limited(self) -> None:
        async with self.database.write() as tx:
            for number in range(MOST_NAMES + 5):
                await tx.discovered_phones.see(PHONE, IP, None, str(number), moment(1))

        [phone] = await self.read(lambda tx: tx.discovered_phones.rows(10))
        assert phone.names == tuple(str(number) for number in range(5, MOST_NAMES + 5))

    async def test_phone_of_the_inventory_is_not_listed_as_discovered(self) -> None:
        async with self.database.write() as tx:
            for number in range(1, 6):
                await tx.discovered_phones.see(a_mac(number), IP, None, "a", moment(number))
            await tx.phones.add(a_phone(3))

        async with self.database.read() as tx:
            listed = await tx.discovered_phones.rows(10)
            assert [phone.mac for phone in listed] == [a_mac(1), a_mac(2), a_mac(4), a_mac(5)]
            assert await tx.discovered_phones.count() == 4
            assert await tx.discovered_phones.rows(2, after=listed[0]) == listed[1:3]
            assert await tx.discovered_phones.rows(2, offset=3) == listed[3:]

    async def test_discovered_phones_oldest_is_removed_first(self) -> None:
        # In several transactions: each has a deadline.
        for first in range(0, MOST_DISCOVERED, 50):
            async with self.database.write() as tx:
                for number in range(first, first + 50):
                    address = f"10.1.{first // 50}.1"  # has a part of the table
                    await tx.discovered_phones.see(a_mac(number + 1), address, None, "a", moment(2))
        async with self.database.write() as tx:
            await tx.discovered_phones.see(a_mac(5), "10.1.0.1", None, "a", moment(1))
            await tx.discovered_phones.see(a_mac(MOST_DISCOVERED + 1), IP, None, "a", moment(3))

        async with self.database.read() as tx:
            listed = {phone.mac for phone in await tx.discovered_phones.rows(MOST_DISCOVERED + 9)}
        assert len(listed) == MOST_DISCOVERED
        assert a_mac(5) not in listed
        assert a_mac(MOST_DISCOVERED + 1) in listed

    async def test_requests_of_a_new_phone_at_once_make_one_row(self) -> None:
        async def see(number: int) -> None:
            await self.write(
                lambda tx: tx.discovered_phones.see(PHONE, IP, None, str(number), moment(1))
            )

        await asyncio.gather(*map(see, range(8)))

        [phone] = await self.read(lambda tx: tx.discovered_phones.rows(10))
        assert sorted(phone.names) == [str(number) for number in range(8)]
