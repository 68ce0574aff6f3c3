"""The base of the tests of stores."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from phoneprov_adapters.sql.engines.transaction import Database, SqlTransaction
from phoneprov_core.inventory.phone_parts import VendorPhoneRecord
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.people.audit import AuditEntry, WantedEntries
from phoneprov_core.people.permissions import Right
from support.kinds import add, store_of

E = TypeVar("E")


def existing(found: E | None) -> E:
    """What was found, which must exist."""
    assert found is not None
    return found


@pytest.mark.asyncio
class DatabaseTests:
    """Tests on ``self.database``, which is open and empty but for the records of ``arrange``."""

    database: Database

    @pytest_asyncio.fixture(autouse=True, loop_scope="session")
    async def _arranged(self, database: Database) -> None:
        self.database = database
        await self.arrange()

    async def arrange(self) -> None:
        """Add the records that every test of the class needs."""

    async def read(self, query: Callable[[SqlTransaction], Awaitable[E]]) -> E:
        """The result of one query."""
        async with self.database.read() as tx:
            return await query(tx)

    async def write(self, change: Callable[[SqlTransaction], Awaitable[E]]) -> E:
        """The result of one change, in a transaction of its own."""
        async with self.database.write() as tx:
            return await change(tx)

    @asynccontextmanager
    async def rolled_back(self, by: Actor | None = None) -> AsyncIterator[SqlTransaction]:
        """A transaction with an error at its end."""
        with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block of the caller
            async with self.database.write(by=by) as tx:
                yield tx
                raise ZeroDivisionError

    async def add(self, *records: Any, by: Actor | None = None) -> None:
        """Add records of any kind in one transaction."""
        await add(self.database, *records, by=by)

    async def put(self, *records: Any, by: Actor | None = None) -> None:
        """Replace records of any kind in one transaction."""
        async with self.database.write(by=by) as tx:
            for record in records:
                await store_of(tx, record).put(record)

    async def find(self, record: Any) -> Any:
        """The stored record with the key of this one, or None."""
        key = record.mac if isinstance(record, Phone | VendorPhoneRecord) else None
        key = key or (record.user_uuid if isinstance(record, Right) else record.uuid)
        async with self.database.read() as tx:
            return await store_of(tx, record).find(key)

    async def recorded(self, **wanted: Any) -> list[AuditEntry]:
        """The audit entries, oldest first."""
        async with self.database.read() as tx:
            found = await tx.audit.newest(WantedEntries(**wanted), 1000)
        return [one.entry for one in reversed(found)]
