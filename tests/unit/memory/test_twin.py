"""The database of a twin: no other task runs within a transaction, and nothing is copied."""

import asyncio
import time
from datetime import UTC, datetime

import pytest

from phoneprov_adapters.memory.database import TwinDatabase
from phoneprov_adapters.rehearsal.phones import TwinPhone
from phoneprov_adapters.rehearsal.process import JumpingLoop
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.features.rehearsal.foresight import durations_of, expected_of
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from support.phone_records import a_phone
from support.records import a_mac


async def test_transaction_of_a_twin_lets_no_other_task_run() -> None:
    box = SecretBox(SecretKeys.parse("a key of at least thirty-two letters"))
    database = TwinDatabase(lambda: 0, box)
    turns: list[str] = []
    other = asyncio.get_running_loop().call_soon(turns.append, "other")
    async with database.write(by=SYSTEM_ACTOR) as tx:
        await tx.phones.add(a_phone(1))
        assert await tx.phones.find(a_mac(1)) is not None
    async with database.read() as tx:
        assert await tx.phones.find(a_mac(1)) is not None
    assert turns == []
    other.cancel()


async def test_twin_takes_rows_whose_references_are_missing() -> None:
    box = SecretBox(SecretKeys.parse("a key of at least thirty-two letters"))
    database, copy = TwinDatabase(lambda: 0, box), TwinDatabase(lambda: 0, box)
    seen = SeenPhone(a_mac(1), FleetState.FINE, "2026-03-02T09:00:00.000Z")
    async with database.write(by=SYSTEM_ACTOR) as tx:
        await tx.phones.add(a_phone(1))
        await tx.fleet.put(seen, is_change=False)
        await tx.flush()
        rows = await tx.twin.rows("phone_states", "mac", [a_mac(1)])
    await copy.fill([("phone_states", rows)])
    async with copy.read() as tx:
        assert await tx.fleet.find(a_mac(1)) == seen
        assert await tx.phones.find(a_mac(1)) is None


def test_time_of_a_twin_jumps() -> None:
    loop = JumpingLoop(datetime(2026, 3, 2, 9, tzinfo=UTC))
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(asyncio.sleep(3600))
    assert loop.clock() == datetime(2026, 3, 2, 10, tzinfo=UTC)


def test_time_of_a_twin_has_the_work_of_the_service() -> None:
    loop = JumpingLoop(datetime(2026, 3, 2, 9, tzinfo=UTC))
    box = SecretBox(SecretKeys.parse("a key of at least thirty-two letters"))
    database = TwinDatabase(lambda: 0, box)
    database.count(lambda statements: loop.work(7.5 * statements))
    ended: list[float] = []

    async def work() -> None:
        async with database.read() as tx:
            await tx.phones.find(a_mac(1))
        ended.append(loop.time())

    async def work_four_times() -> None:
        loop.begin_work()
        await asyncio.gather(*(work() for _ in range(4)), asyncio.sleep(1))

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(work_four_times())
    assert ended == [2.5, 5, 7.5, 10]
    loop.work(0)
    begin, until = loop.time(), time.process_time() + 0.02
    while time.process_time() < until:
        pass
    loop.work(0.001)
    assert loop.time() - begin >= 0.02


async def test_recorded_duration_of_a_step_contains_the_work_of_the_service() -> None:
    loop = JumpingLoop(datetime(2026, 3, 2, 9, tzinfo=UTC))
    phone = TwinPhone(expected_of(
        a_phone(1), None, (), None, usual=durations_of(()), server=None, is_own_server=False,
        now=loop.clock(),
    ))  # fmt: skip

    async def steps() -> list[float]:
        ends = []
        loop.begin_work()
        phone.begin_step()
        for seconds, work in ((3, 1), (3, 5)):
            loop.work(work)
            await phone.end_step(seconds)
            ends.append(loop.time())
        return ends

    def run() -> list[float]:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(steps())

    assert await asyncio.to_thread(run) == pytest.approx([3, 8], abs=0.5)
