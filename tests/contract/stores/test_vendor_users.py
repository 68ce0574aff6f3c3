"""The contract of ``VendorUsers``."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.vendor_users.model import VendorUser
from support.stores import Database, a_pin, a_user, identifier

ADA, BOB, NOBODY = identifier(1), identifier(2), identifier(99)


@pytest.fixture(autouse=True)
async def people(database: Database) -> None:
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.users.add(a_user(2))


async def save(database: Database, pin: VendorUser) -> VendorUser:
    async with database.write() as tx:
        return await tx.vendor_users.save(pin)


async def of_user(database: Database, user_uuid: str) -> VendorUser | None:
    async with database.read() as tx:
        return await tx.vendor_users.of_user(user_uuid)


async def test_a_pin_is_saved_for_its_user(database: Database) -> None:
    assert await of_user(database, ADA) is None

    assert await save(database, a_pin(11, ADA)) == a_pin(11, ADA)

    assert await of_user(database, ADA) == a_pin(11, ADA)
    assert await of_user(database, BOB) is None


async def test_a_new_pin_keeps_the_record_s_identity(database: Database) -> None:
    first = await save(database, a_pin(11, ADA))
    await save(database, a_pin(12, BOB))

    second = await save(database, a_pin(13, ADA))

    assert second == msgspec.structs.replace(first, pin_code="hash-13")
    assert await of_user(database, ADA) == second
    assert await of_user(database, BOB) == a_pin(12, BOB)


async def test_racing_callers_leave_one_pin(database: Database) -> None:
    saved = await asyncio.gather(*(save(database, a_pin(20 + i, ADA)) for i in range(20)))

    assert len({pin.uuid for pin in saved}) == 1
    assert len({pin.pin_code for pin in saved}) == 20
    assert await of_user(database, ADA) in saved


async def test_a_pin_needs_a_user(database: Database) -> None:
    with pytest.raises(NotFound):
        await save(database, a_pin(11, NOBODY))

    assert await of_user(database, NOBODY) is None


async def test_a_pin_is_removed_once(database: Database) -> None:
    await save(database, a_pin(11, ADA))
    await save(database, a_pin(12, BOB))

    async with database.write() as tx:
        assert await tx.vendor_users.remove(ADA)
        assert not await tx.vendor_users.remove(ADA)
        assert not await tx.vendor_users.remove(NOBODY)

    assert await of_user(database, ADA) is None
    assert await of_user(database, BOB) == a_pin(12, BOB)
