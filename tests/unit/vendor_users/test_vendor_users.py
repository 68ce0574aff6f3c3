"""PINs, over the memory database."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher
from phoneprov_adapters.testing.records import a_user, identifier
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.vendor_users.model import NewPin, VendorUser
from phoneprov_core.vendor_users.ports import PinHasher
from phoneprov_core.vendor_users.use_cases import VendorUsers

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
BOB = Actor(identifier(0xB), level=None)
MISSING = identifier(0xDEAD)


class Rig:
    """The use cases, and what they stand on."""

    def __init__(self) -> None:
        self.database = MemoryDatabase()
        self.hasher = PlainHasher()
        self.clock = FixedClock()
        self.vendor_users = VendorUsers(self.database, self.hasher, self.clock, CountingIds())

    async def stored(self, owner: Actor) -> VendorUser | None:
        async with self.database.read() as tx:
            return await tx.vendor_users.of_user(owner.user_uuid)


@pytest.fixture
async def rig() -> Rig:
    rig = Rig()
    async with rig.database.write() as tx:
        for number in (0xAD, 0xA, 0xB):
            await tx.users.add(a_user(number))
    return rig


@pytest.mark.parametrize("actor", [ADA, ADMIN])
async def test_a_pin_is_kept_as_a_hash(rig: Rig, actor: Actor) -> None:
    saved = await rig.vendor_users.save(actor, ADA.user_uuid.upper(), NewPin(pin_code="2468"))

    assert saved == VendorUser(
        identifier(1), ADA.user_uuid, saved.pin_code, "2026-01-31T08:15:30.250Z"
    )
    assert await rig.hasher.verify_pin("2468", saved.pin_code)
    assert await rig.stored(ADA) == saved
    assert await rig.vendor_users.get(actor, ADA.user_uuid) == saved


async def test_a_new_pin_keeps_the_record_s_identity(rig: Rig) -> None:
    first = await rig.vendor_users.save(ADA, ADA.user_uuid, NewPin(pin_code="2468"))
    rig.clock.advance(60)

    second = await rig.vendor_users.save(ADA, ADA.user_uuid, NewPin(pin_code="1357"))

    assert (second.uuid, second.created_at) == (first.uuid, first.created_at)
    assert await rig.hasher.verify_pin("1357", second.pin_code)
    assert await rig.stored(ADA) == second


async def test_a_pin_is_deleted(rig: Rig) -> None:
    await rig.vendor_users.save(ADA, ADA.user_uuid, NewPin(pin_code="2468"))
    await rig.vendor_users.save(BOB, BOB.user_uuid, NewPin(pin_code="2468"))

    await rig.vendor_users.delete(ADA, ADA.user_uuid)

    assert await rig.stored(ADA) is None
    assert await rig.stored(BOB) is not None


async def test_a_user_without_a_pin_has_none_to_find(rig: Rig) -> None:
    with pytest.raises(NotFound, match="no PIN"):
        await rig.vendor_users.get(ADA, ADA.user_uuid)
    with pytest.raises(NotFound, match="no PIN"):
        await rig.vendor_users.delete(ADA, ADA.user_uuid)


async def test_another_s_pin_is_forbidden(rig: Rig) -> None:
    saved = await rig.vendor_users.save(ADA, ADA.user_uuid, NewPin(pin_code="2468"))

    for owner in (ADA.user_uuid, MISSING, ""):
        with pytest.raises(Forbidden):
            await rig.vendor_users.get(BOB, owner)
        with pytest.raises(Forbidden):
            await rig.vendor_users.save(BOB, owner, cast(Any, None))
        with pytest.raises(Forbidden):
            await rig.vendor_users.delete(BOB, owner)
    assert await rig.stored(ADA) == saved


@pytest.mark.parametrize("owner", [MISSING, "", "ada"])
async def test_a_user_that_is_missing_is_not_found(rig: Rig, owner: str) -> None:
    with pytest.raises(NotFound, match="user"):
        await rig.vendor_users.get(ADMIN, owner)
    with pytest.raises(NotFound, match="user"):
        await rig.vendor_users.save(ADMIN, owner, cast(Any, None))
    with pytest.raises(NotFound, match="user"):
        await rig.vendor_users.delete(ADMIN, owner)


async def test_what_is_no_pin_is_not_hashed(rig: Rig) -> None:
    hasher = _Refusing()
    vendor_users = VendorUsers(rig.database, hasher, rig.clock, CountingIds())

    with pytest.raises(Invalid):
        await vendor_users.save(ADA, ADA.user_uuid, command_of(NewPin, {"pin_code": "246"}))

    assert await rig.stored(ADA) is None


async def test_the_database_is_free_while_a_pin_is_hashed(rig: Rig) -> None:
    class Deleting(PlainHasher):
        async def hash_pin(self, pin: str) -> str:
            async with rig.database.write() as tx:
                await tx.users.remove(ADA.user_uuid)
            return await super().hash_pin(pin)

    vendor_users = VendorUsers(rig.database, Deleting(), rig.clock, CountingIds())

    async with asyncio.timeout(5):
        with pytest.raises(NotFound):
            await vendor_users.save(ADA, ADA.user_uuid, NewPin(pin_code="2468"))

    assert await rig.stored(ADA) is None


async def test_neither_a_pin_nor_its_hash_is_in_a_representation(rig: Rig) -> None:
    new = NewPin(pin_code="2468")
    saved = await rig.vendor_users.save(ADA, ADA.user_uuid, new)

    assert "2468" not in repr(new)
    assert saved.pin_code not in repr(saved)
    assert ADA.user_uuid in repr(saved)


class _Refusing(PinHasher):
    async def hash_pin(self, pin: str) -> str:
        raise AssertionError("it was hashed")

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        raise AssertionError("it was verified")
