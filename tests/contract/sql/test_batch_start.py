"""The start of a batch: its statements, and the order of its phones."""

from collections.abc import Awaitable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import CountingIds, FixedClock
from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.sqlite_writing import WriteConnection
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from support.phone_records import a_phone
from support.records import a_mac, identifier
from support.stores import DATABASES

ROOT = Actor(identifier(900), SUPERADMIN)
MANY = 2000


async def test_batch_start_number_of_statements_is_constant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[Statement] = []
    run = WriteConnection.fetch_all

    async def counted(self: WriteConnection, statement: Statement, **values: Any) -> Sequence[Row]:
        statements.append(statement)
        return await run(self, statement, **values)

    async with DATABASES["sqlite"](tmp_path) as database:
        async with database.write(by=ROOT) as tx:
            for number in range(1, MANY + 1):
                await tx.phones.add(a_phone(number))

        async def nothing() -> None:
            pass

        def later(work: Awaitable[None]) -> None:
            assert isinstance(work, Coroutine)
            work.close()

        batches = Batches(database, nothing, later, FixedClock(), CountingIds())
        monkeypatch.setattr(WriteConnection, "fetch_all", counted)

        async def cost(phones: int) -> int:
            statements.clear()
            macs = tuple(a_mac(number) for number in range(1, phones + 1))
            batch = await batches.start(ROOT, CreateBatch(action="restart", macs=macs))
            assert batch.phones.waiting == phones
            return len(statements)

        assert await cost(MANY) == await cost(2) < 10


@pytest.mark.parametrize("name", sorted(DATABASES))
async def test_batch_start_chosen_phones_have_the_first_positions(
    tmp_path: Path, name: str
) -> None:
    async with DATABASES[name](tmp_path) as database:
        async with database.write(by=ROOT) as tx:
            for number in range(1, 8):
                await tx.phones.add(a_phone(number, location="Hall"))

        async def nothing() -> None:
            pass

        def later(work: Awaitable[None]) -> None:
            assert isinstance(work, Coroutine)
            work.close()

        batches = Batches(database, nothing, later, FixedClock(), CountingIds())
        chosen = (a_mac(6), a_mac(2), a_mac(4))
        new = CreateBatch(action="switch", location="hall", first_macs=chosen)
        batch = await batches.start(ROOT, new)

        phones = await (await batches.phones(ROOT, batch.uuid)).everything()
        others = (a_mac(number) for number in (1, 3, 5, 7))
        assert [one.mac for one in phones] == [*chosen, *others]
        assert [one.position for one in phones] == list(range(1, 8))
        assert (batch.first, batch.phones.total) == (3, 7)
