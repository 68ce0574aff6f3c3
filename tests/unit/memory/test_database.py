"""The memory database beyond the contract of stores."""

import time

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.kinds import COUNTED, PASSWORDS, PHONES, USERS, Password
from phoneprov_adapters.testing.phone_records import a_phone, a_profile
from phoneprov_adapters.testing.records import a_mac, a_user, identifier
from phoneprov_core.auth.throttle import KEPT_UNKNOWN, Attempts


async def test_read_transaction_refuses_writes() -> None:
    database = MemoryDatabase()

    async with database.read() as tx:
        with pytest.raises(RuntimeError, match="opened for reading"):
            await tx.phones.add(a_phone(1))

    async with database.read() as tx:
        assert await tx.phones.count() == 0


async def test_leases_use_the_clock_of_the_database() -> None:
    now = [1000]
    database = MemoryDatabase(clock=lambda: now[0])

    async with database.write() as tx:
        assert await tx.leases.take(a_mac(1), "me", 60) == 1
        now[0] += 59_999
        assert await tx.leases.take(a_mac(1), "you", 60) is None
        now[0] += 1
        assert await tx.leases.take(a_mac(1), "you", 60) == 2


async def test_expired_lease_is_not_released() -> None:
    now = [1000]
    database = MemoryDatabase(clock=lambda: now[0])

    async with database.write() as tx:
        fence = await tx.leases.take(a_mac(1), "me", 60)
        assert fence is not None
        now[0] += 60_000
        assert not await tx.leases.release(a_mac(1), "me", fence)


async def test_write_cost_is_independent_of_the_number_of_records() -> None:
    database = MemoryDatabase()
    async with database.write() as tx:
        for number in range(20_000):
            await tx.phones.add(a_phone(number))

    began = time.process_time()
    for number in range(20_000, 20_200):
        async with database.write() as tx:
            await tx.phones.add(a_phone(number))
    seconds = time.process_time() - began

    # A copy of everything per write would take over a second.
    assert seconds < 0.5


async def test_long_list_from_its_middle_cost_is_bounded() -> None:
    database = MemoryDatabase()
    async with database.write() as tx:
        for number in range(20_000):
            await tx.phones.add(a_phone(number))

    began = time.process_time()
    async with database.read() as tx:
        for _ in range(200):
            rows = await tx.phones.rows(10, after=a_phone(15_000))
    seconds = time.process_time() - began

    assert rows[0] == a_phone(15_001)
    assert seconds < 0.5


async def test_removed_records_leave_no_index_entries() -> None:
    database = MemoryDatabase()
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.users.set_password_hash(identifier(1), "hash")
        await tx.profiles.add(a_profile(1, identifier(1)))
        await tx.phones.add(a_phone(1))
    for kind in (USERS, PASSWORDS, PHONES):
        assert len(database._committed[kind].by_key) == 1
    async with database.write() as tx:
        await tx.users.remove(identifier(1))
        await tx.phones.remove(a_mac(1))

    for kind in (USERS, PASSWORDS, PHONES):
        records = database._committed[kind]
        assert (records.by_key, records._groups) == ({}, {})


async def test_counted_guesses_are_deleted_when_obsolete() -> None:
    database = MemoryDatabase()
    for number in range(50):
        async with database.write() as tx:
            now = number * (KEPT_UNKNOWN // 24)
            await tx.attempts.keep(f"key-{number}", Attempts(1, now, now))

    assert sorted(database._committed[COUNTED].by_key) == [f"key-{n}" for n in range(25, 50)]


def test_password_hash_is_in_no_representation() -> None:
    assert "secret" not in repr(Password("u", "$plain$1$1$secret"))
