"""PostgreSQL is unavailable, silent or disconnected: every request ends in time, no change is
stored in part, and the service recovers by itself."""

import asyncio
import random
import time
from collections.abc import Awaitable

import pytest

from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.postgres_reading import SIZE
from phoneprov_core.kernel.errors import Unavailable
from support import postgres
from support.polling import until
from support.postgres_databases import SHORT, database_at
from support.postgres_proxy import Proxy
from support.records import a_user, identifier

LATEST = SHORT.total + SHORT.answer + 0.5
"""Maximum seconds of a request, with a reserve for a slow machine."""


async def read(database: PostgresDatabase) -> int:
    async with database.read() as tx:
        return await tx.users.count()


async def write(database: PostgresDatabase, number: int) -> None:
    async with database.write() as tx:
        await tx.users.add(a_user(number))


async def written(url: str) -> set[str]:
    rows = await postgres.ask(url, "SELECT uuid FROM users")
    return {row[0] for row in rows}


async def unavailable(*requests: Awaitable[object]) -> None:
    """Each request fails in time because the database is unavailable."""
    began = time.monotonic()
    outcomes = await asyncio.gather(*requests, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * len(requests)
    assert time.monotonic() - began < LATEST


async def check_nothing_is_open(url: str) -> None:
    """At most the allowed connections are open, and none is in a transaction."""
    for _ in range(50):
        states = await postgres.ask(
            url,
            "SELECT state FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        if {state for (state,) in states} <= {"idle"} and len(states) <= SIZE:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(states)


async def test_network_silent_during_a_read_is_unavailable(
    far: PostgresDatabase, proxy: Proxy, url: str
) -> None:
    await asyncio.gather(*(read(far) for _ in range(SIZE)))
    proxy.stop_forwarding()

    # More requests than connections: some wait for one and then for a new one.
    await unavailable(*(read(far) for _ in range(SIZE)), *(write(far, n) for n in range(20)))
    await unavailable(read(far), write(far, 21))

    proxy.resume_forwarding()
    began = time.monotonic()
    await write(far, 30)
    assert await read(far) >= 1
    assert time.monotonic() - began < SHORT.answer
    await check_nothing_is_open(url)


async def test_network_silent_during_a_change_is_unavailable(
    far: PostgresDatabase, proxy: Proxy, url: str
) -> None:
    await write(far, 1)

    async def change() -> None:
        async with far.write() as tx:
            await tx.users.put(a_user(1, username="changed"))
            proxy.stop_forwarding()
            await tx.users.add(a_user(2))

    await unavailable(change())

    proxy.resume_forwarding()
    # The server releases the record at the latest when its response fails.
    async with asyncio.timeout(2 * SHORT.total):
        async with far.write() as tx:
            assert await tx.users.find(identifier(1)) == a_user(1)
            await tx.users.put(a_user(1, username="later"))
    assert await written(url) == {identifier(1)}


async def test_host_lost_during_a_change_is_unavailable(
    far: PostgresDatabase, proxy: Proxy, short_deadline_database: PostgresDatabase
) -> None:
    await write(short_deadline_database, 1)

    async def change() -> None:
        async with far.write() as tx:
            await tx.users.find(identifier(1))
            proxy.stop_forwarding()
            await tx.users.count()

    await unavailable(change())

    # The server got no message: it detects the loss by itself.
    async def take() -> bool:
        try:
            async with short_deadline_database.write() as tx:
                return await tx.users.remove(identifier(1))
        except Unavailable:
            return False

    async with asyncio.timeout(2 * LATEST):
        while not await take():
            pass


async def test_connections_forgotten_by_the_network_are_replaced(
    far: PostgresDatabase, proxy: Proxy
) -> None:
    await asyncio.gather(*(read(far) for _ in range(SIZE)))
    proxy.lose()

    # One request detects it, and none after it.
    await unavailable(read(far))
    await asyncio.gather(*(read(far) for _ in range(SIZE)))


@pytest.mark.parametrize("numbers", [(1,), (1, 2)])
async def test_network_silent_during_commit_is_unavailable(
    far: PostgresDatabase, proxy: Proxy, url: str, numbers: tuple[int, ...]
) -> None:
    async def change() -> None:
        async with far.write() as tx:
            for number in numbers:
                await tx.users.add(a_user(number))
            if len(numbers) > 1:
                await tx.users.count()
            proxy.stop_forwarding()

    with pytest.raises(Unavailable, match="outcome is unknown"):
        await change()

    assert await written(url) in (set(), {identifier(number) for number in numbers})


@pytest.mark.parametrize("is_begun", [False, True])
async def test_commit_after_a_slow_transaction_has_its_full_deadline(
    far: PostgresDatabase, proxy: Proxy, is_begun: bool
) -> None:
    async with far.write() as tx:
        await tx.users.add(a_user(1))
        if is_begun:
            await tx.users.count()
        await asyncio.sleep(SHORT.total - 0.4)
        proxy.stop_forwarding()
        asyncio.get_running_loop().call_later(0.7, proxy.resume_forwarding)

    assert await read(far) == 1


async def test_connection_reset_is_unavailable(
    far: PostgresDatabase, proxy: Proxy, url: str
) -> None:
    async def read_on_lost_connection() -> None:
        async with far.read() as tx:
            await tx.users.count()
            await proxy.cut()
            await tx.users.count()

    async def write_on_lost_connection() -> None:
        async with far.write() as tx:
            await tx.users.add(a_user(1))
            await proxy.cut()
            await tx.users.add(a_user(2))

    await unavailable(read_on_lost_connection())
    await unavailable(write_on_lost_connection())

    assert await read(far) == 0
    assert await written(url) == set()


async def test_idle_connections_that_were_cut_are_replaced(
    far: PostgresDatabase, proxy: Proxy
) -> None:
    await asyncio.gather(*(read(far) for _ in range(SIZE)))
    await proxy.cut()
    await asyncio.sleep(0.02)

    await asyncio.gather(*(read(far) for _ in range(SIZE)))
    await write(far, 1)


async def test_server_refusing_connections_is_unavailable(
    far: PostgresDatabase, proxy: Proxy
) -> None:
    await proxy.refuse()
    await unavailable(*(read(far) for _ in range(30)), *(write(far, n) for n in range(30)))

    await proxy.listen()
    await write(far, 99)
    assert await read(far) == 1


async def test_server_without_greeting_is_unavailable(proxy: Proxy, url: str) -> None:
    proxy.stop_forwarding()
    database = database_at(proxy.url(url), SHORT)
    await unavailable(database.open())

    proxy.resume_forwarding()
    await database.open()
    assert await read(database) == 0
    await database.close()


async def test_request_cancelled_while_the_server_is_silent_ends_in_time(
    far: PostgresDatabase, proxy: Proxy, url: str
) -> None:
    await read(far)
    proxy.stop_forwarding()
    requests = [asyncio.create_task(read(far)), asyncio.create_task(write(far, 1))]
    await asyncio.sleep(0.02)

    began = time.monotonic()
    for request in requests:
        request.cancel()
    await asyncio.gather(*requests, return_exceptions=True)

    assert all(request.cancelled() for request in requests)
    assert time.monotonic() - began < SHORT.rollback + 0.5
    proxy.resume_forwarding()
    await write(far, 2)
    await check_nothing_is_open(url)
    assert identifier(2) in await written(url)


async def test_request_cancelled_does_not_affect_the_next(
    far: PostgresDatabase, proxy: Proxy
) -> None:
    await read(far)
    proxy.lose()
    request = asyncio.create_task(read(far))
    await asyncio.sleep(0.02)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)

    assert await read(far) == 0


async def test_requests_cancelled_at_any_moment_leave_no_transaction_open(
    database: PostgresDatabase, url: str
) -> None:
    chance = random.Random(7)
    await write(database, 0)

    async def request(number: int) -> None:
        async with database.write() as tx:
            await tx.users.find(identifier(0))
            await tx.users.add(a_user(number))
        await read(database)

    for begin in range(1, 200, 20):
        requests = [asyncio.create_task(request(begin + n)) for n in range(20)]
        for task in requests:
            await asyncio.sleep(chance.random() / 500)
            task.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    await asyncio.gather(*(write(database, 1000 + n) for n in range(SIZE)))
    await check_nothing_is_open(url)


async def test_crashed_server_is_used_again_after_its_restart() -> None:
    server = postgres.Server()
    try:
        async with postgres.new_database(server) as url:
            database = database_at(url, SHORT)
            await database.open()
            acknowledged: set[str] = set()
            others: list[BaseException] = []
            number = iter(range(1, 1_000_000))
            over = asyncio.Event()

            async def keep_writing() -> None:
                while not over.is_set():
                    this = next(number)
                    try:
                        await write(database, this)
                        acknowledged.add(identifier(this))
                    except Unavailable:
                        await asyncio.sleep(0.01)
                    except Exception as error:  # noqa: BLE001 - every error is wrong here
                        others.append(error)

            writers = [asyncio.create_task(keep_writing()) for _ in range(20)]
            for _ in range(3):
                await asyncio.sleep(0.1)
                await asyncio.to_thread(server.stop, "QUIT")
                await asyncio.sleep(0.1)
                await asyncio.to_thread(server.start)
                before = len(acknowledged)
                await until(lambda before=before: len(acknowledged) > before, 5)  # type: ignore[misc]
            over.set()
            await asyncio.gather(*writers)

            assert others == []
            assert acknowledged <= await written(url)
            await check_nothing_is_open(url)
            await database.close()
    finally:
        await asyncio.to_thread(server.close)


async def test_connections_ended_by_the_server_are_replaced(
    database: PostgresDatabase, url: str
) -> None:
    async def write_on_ended_connection() -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(1))
            await postgres.ask(
                url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            await tx.users.add(a_user(2))

    await asyncio.gather(*(read(database) for _ in range(SIZE)))
    await unavailable(write_on_ended_connection())

    await asyncio.gather(*(read(database) for _ in range(2 * SIZE)))
    assert await written(url) == set()
