"""PINs, over the memory database."""

import asyncio

import pytest

from phoneprov_adapters.memory.system import CountingIds, PlainHasher
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid, NotFound
from phoneprov_core.people.vendor_users import CreatePin, PinHasher, VendorUser, VendorUsers
from support.office import Office
from support.records import a_user, identifier

ADA = Actor(identifier(0xA), level=None)


async def stored(office: Office, owner: Actor) -> VendorUser | None:
    async with office.database.read() as tx:
        return await tx.vendor_users.of_user(owner.user_uuid)


@pytest.fixture
async def office() -> Office:
    office = Office()
    async with office.database.write() as tx:
        for number in (0xAD, 0xA, 0xB):
            await tx.users.add(a_user(number))
    return office


async def test_invalid_pin_is_not_hashed(office: Office) -> None:
    hasher = _Refusing()
    vendor_users = VendorUsers(office.database, hasher, office.clock, CountingIds())

    with pytest.raises(Invalid):
        await vendor_users.save(ADA, ADA.user_uuid, command_of(CreatePin, {"pin_code": "246"}))

    assert await stored(office, ADA) is None


async def test_no_transaction_is_open_during_pin_hashing(office: Office) -> None:
    class Deleting(PlainHasher):
        async def hash_pin(self, pin: str) -> str:
            async with office.database.write() as tx:
                await tx.users.remove(ADA.user_uuid)
            return await super().hash_pin(pin)

    vendor_users = VendorUsers(office.database, Deleting(), office.clock, CountingIds())

    async with asyncio.timeout(60):
        with pytest.raises(NotFound):
            await vendor_users.save(ADA, ADA.user_uuid, CreatePin(pin_code="2468"))

    assert await stored(office, ADA) is None


class _Refusing(PinHasher):
    async def hash_pin(self, pin: str) -> str:
        raise AssertionError("it was hashed")

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        raise AssertionError("it was verified")
