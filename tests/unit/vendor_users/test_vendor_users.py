"""PINs, over the memory database."""

import asyncio
from typing import Any, cast

import pytest

from phoneprov_adapters.memory.system import CountingIds, PlainHasher
from phoneprov_adapters.testing.records import a_user, identifier
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.vendor_users import CreatePin, PinHasher, VendorUser, VendorUsers
from support.office import Office

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
BOB = Actor(identifier(0xB), level=None)
MISSING = identifier(0xDEAD)


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


@pytest.mark.parametrize("actor", [ADA, ADMIN])
async def test_pin_is_stored_as_a_hash(office: Office, actor: Actor) -> None:
    saved = await office.vendor_users.save(actor, ADA.user_uuid.upper(), CreatePin(pin_code="2468"))

    assert saved == VendorUser(
        identifier(1), ADA.user_uuid, saved.pin_code, "2026-01-31T08:15:30.250Z"
    )
    assert await office.hasher.verify_pin("2468", saved.pin_code)
    assert await stored(office, ADA) == saved
    assert await office.vendor_users.get(actor, ADA.user_uuid) == saved


async def test_pin_set_again_keeps_the_identifier(office: Office) -> None:
    first = await office.vendor_users.save(ADA, ADA.user_uuid, CreatePin(pin_code="2468"))
    office.clock.advance(60)

    second = await office.vendor_users.save(ADA, ADA.user_uuid, CreatePin(pin_code="1357"))

    assert (second.uuid, second.created_at) == (first.uuid, first.created_at)
    assert await office.hasher.verify_pin("1357", second.pin_code)
    assert await stored(office, ADA) == second


async def test_pin_is_deleted(office: Office) -> None:
    await office.vendor_users.save(ADA, ADA.user_uuid, CreatePin(pin_code="2468"))
    await office.vendor_users.save(BOB, BOB.user_uuid, CreatePin(pin_code="2468"))

    await office.vendor_users.delete(ADA, ADA.user_uuid)

    assert await stored(office, ADA) is None
    assert await stored(office, BOB) is not None


async def test_user_without_pin_is_not_found(office: Office) -> None:
    with pytest.raises(NotFound, match="no PIN"):
        await office.vendor_users.get(ADA, ADA.user_uuid)
    with pytest.raises(NotFound, match="no PIN"):
        await office.vendor_users.delete(ADA, ADA.user_uuid)


async def test_pin_of_another_user_is_forbidden(office: Office) -> None:
    saved = await office.vendor_users.save(ADA, ADA.user_uuid, CreatePin(pin_code="2468"))

    for owner in (ADA.user_uuid, MISSING, ""):
        with pytest.raises(Forbidden):
            await office.vendor_users.get(BOB, owner)
        with pytest.raises(Forbidden):
            await office.vendor_users.save(BOB, owner, cast(Any, None))
        with pytest.raises(Forbidden):
            await office.vendor_users.delete(BOB, owner)
    assert await stored(office, ADA) == saved


@pytest.mark.parametrize("owner", [MISSING, "", "ada"])
async def test_missing_user_is_not_found(office: Office, owner: str) -> None:
    with pytest.raises(NotFound, match="user"):
        await office.vendor_users.get(ADMIN, owner)
    with pytest.raises(NotFound, match="user"):
        await office.vendor_users.save(ADMIN, owner, cast(Any, None))
    with pytest.raises(NotFound, match="user"):
        await office.vendor_users.delete(ADMIN, owner)


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

    async with asyncio.timeout(5):
        with pytest.raises(NotFound):
            await vendor_users.save(ADA, ADA.user_uuid, CreatePin(pin_code="2468"))

    assert await stored(office, ADA) is None


async def test_pin_and_hash_are_in_no_representation(office: Office) -> None:
    new = CreatePin(pin_code="2468")
    saved = await office.vendor_users.save(ADA, ADA.user_uuid, new)

    assert "2468" not in repr(new)
    assert saved.pin_code not in repr(saved)
    assert ADA.user_uuid in repr(saved)


class _Refusing(PinHasher):
    async def hash_pin(self, pin: str) -> str:
        raise AssertionError("it was hashed")

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        raise AssertionError("it was verified")
