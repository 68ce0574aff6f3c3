"""The records of a phone after its deletion."""

import msgspec
import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.phones import MemoryKems
from phoneprov_adapters.memory.system import FixedClock
from phoneprov_adapters.testing.phone_records import a_flag, a_kem, a_phone
from phoneprov_adapters.testing.records import a_mac, identifier
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden, NotFound, Unavailable
from phoneprov_core.phones.use_cases import Phones

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)

PHONES = [a_phone(1), a_phone(2)]
FLAGS = [a_flag(1), a_flag(2)]
KEMS = [
    a_kem(11, connected_phone=a_mac(1)),
    a_kem(12, connected_phone=a_mac(2)),
    a_kem(13, connected_phone=a_mac(1)),
]


@pytest.fixture
async def database() -> MemoryDatabase:
    database = MemoryDatabase()
    async with database.write() as tx:
        for phone, flag in zip(PHONES, FLAGS, strict=True):
            await tx.phones.add(phone)
            await tx.vendor_phones.add(flag)
        for kem in KEMS:
            await tx.kems.add(kem)
    return database


@pytest.fixture
def phones(database: MemoryDatabase) -> Phones:
    return Phones(database, SharedWrite.SUPERADMIN, FixedClock())


async def stored(database: MemoryDatabase) -> tuple[object, ...]:
    async with database.read() as tx:
        return (
            await tx.phones.rows(10),
            await tx.vendor_phones.rows(10),
            await tx.kems.rows(10),
        )


async def test_delete_phone_removes_its_flag_and_keeps_its_kems(
    database: MemoryDatabase, phones: Phones
) -> None:
    await phones.delete(ADMIN, a_mac(1).replace(":", "").lower())

    left = [
        msgspec.structs.replace(KEMS[0], connected_phone=None),
        KEMS[1],
        msgspec.structs.replace(KEMS[2], connected_phone=None),
    ]
    assert await stored(database) == ([PHONES[1]], [FLAGS[1]], left)


async def test_delete_phone_is_atomic(
    database: MemoryDatabase, phones: Phones, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: MemoryKems, phone_mac: str) -> None:
        raise Unavailable("The database is away.")

    monkeypatch.setattr(MemoryKems, "disconnect", fail)

    with pytest.raises(Unavailable):
        await phones.delete(ADMIN, a_mac(1))

    assert await stored(database) == (PHONES, FLAGS, KEMS)


@pytest.mark.parametrize("mac", [a_mac(3), "", "desk"])
async def test_delete_missing_phone_removes_nothing(
    database: MemoryDatabase, phones: Phones, mac: str
) -> None:
    async with database.write() as tx:
        await tx.vendor_phones.add(a_flag(3))
        await tx.kems.add(a_kem(14, connected_phone=a_mac(3)))
    before = await stored(database)

    with pytest.raises(NotFound):
        await phones.delete(ADMIN, mac)

    assert await stored(database) == before


async def test_delete_phone_without_level_0_is_forbidden(
    database: MemoryDatabase, phones: Phones
) -> None:
    with pytest.raises(Forbidden):
        await phones.delete(ADA, a_mac(1))

    assert await stored(database) == (PHONES, FLAGS, KEMS)
