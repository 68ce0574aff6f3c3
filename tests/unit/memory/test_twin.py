"""The database of a twin: no other task runs within a transaction, and nothing is copied."""

import asyncio
from datetime import UTC, datetime

from phoneprov_adapters.memory.database import TwinDatabase
from phoneprov_adapters.rehearsal.process import JumpingLoop
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
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
