"""The contract of ``VendorUsers``."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
import pytest_asyncio

from phoneprov_adapters.testing.records import a_pin, a_user, identifier
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.stores import Database
from phoneprov_core.vendor_users.model import VendorUser

ADA, BOB, NO_USER = identifier(1), identifier(2), identifier(99)


async def _save(database: Database, pin: VendorUser) -> VendorUser:
    async with database.write() as tx:
        return await tx.vendor_users.save(pin)


async def _of_user(database: Database, user_uuid: str) -> VendorUser | None:
    async with database.read() as tx:
        return await tx.vendor_users.of_user(user_uuid)


@pytest.mark.asyncio
class VendorUsersContract:
    """The contract of ``VendorUsers``."""

    @pytest_asyncio.fixture(autouse=True)
    async def people(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(1))
            await tx.users.add(a_user(2))

    async def test_pin_is_saved_for_its_user(self, database: Database) -> None:
        assert await _of_user(database, ADA) is None

        assert await _save(database, a_pin(11, ADA)) == a_pin(11, ADA)

        assert await _of_user(database, ADA) == a_pin(11, ADA)
        assert await _of_user(database, BOB) is None

    async def test_pin_replaced_keeps_its_uuid(self, database: Database) -> None:
        first = await _save(database, a_pin(11, ADA))
        await _save(database, a_pin(12, BOB))

        second = await _save(database, a_pin(13, ADA))

        assert second == msgspec.structs.replace(first, pin_code="hash-13")
        assert await _of_user(database, ADA) == second
        assert await _of_user(database, BOB) == a_pin(12, BOB)

    async def test_racing_callers_leave_one_pin(self, database: Database) -> None:
        saved = await asyncio.gather(*(_save(database, a_pin(20 + i, ADA)) for i in range(20)))

        assert len({pin.uuid for pin in saved}) == 1
        assert len({pin.pin_code for pin in saved}) == 20
        assert await _of_user(database, ADA) in saved

    async def test_pin_of_a_missing_user_is_not_found(self, database: Database) -> None:
        with pytest.raises(NotFound):
            await _save(database, a_pin(11, NO_USER))

        assert await _of_user(database, NO_USER) is None

    async def test_pin_is_removed_once(self, database: Database) -> None:
        await _save(database, a_pin(11, ADA))
        await _save(database, a_pin(12, BOB))

        async with database.write() as tx:
            assert await tx.vendor_users.remove(ADA)
            assert not await tx.vendor_users.remove(ADA)
            assert not await tx.vendor_users.remove(NO_USER)

        assert await _of_user(database, ADA) is None
        assert await _of_user(database, BOB) == a_pin(12, BOB)
