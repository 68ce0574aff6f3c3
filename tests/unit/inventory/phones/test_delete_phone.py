"""The records of a phone after its deletion."""

import msgspec
import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.system import FixedClock
from phoneprov_adapters.sql.stores.inventory.phone_parts import SqlKems
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.serving.model import ServedFile
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.phones.use_cases import Phones
from phoneprov_core.kernel.actor import Actor, SharedWrite
from phoneprov_core.kernel.errors import Conflict, Forbidden, NotFound, Unavailable
from phoneprov_core.people.audit import WantedEntries
from support.phone_records import a_flag, a_kem, a_phone
from support.records import a_mac, identifier

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
    async def fail(self: SqlKems, phone_mac: str) -> None:
        raise Unavailable("The database is away.")

    monkeypatch.setattr(SqlKems, "disconnect", fail)

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


async def test_delete_phone_takes_its_desk_and_its_served_files_along(
    database: MemoryDatabase, phones: Phones
) -> None:
    mine, other = (a_mac(number).replace(":", "") for number in (1, 2))
    async with database.write() as tx:
        await tx.desks.put(DeskRecord(a_mac(1), identifier(9)))
        for name in (f"SEP{mine}.cnf.xml", f"{mine.lower()}.cfg", f"SEP{other}.cnf.xml"):
            await tx.served_files.put(ServedFile(name, b"<device/>", identifier(1)))

    await phones.delete(ADMIN, a_mac(1))

    async with database.read() as tx:
        assert await tx.desks.find(a_mac(1)) == DeskRecord(a_mac(1))
        assert await tx.served_files.find(f"SEP{mine}.cnf.xml") is None
        assert await tx.served_files.find(f"{mine}.cfg") is None
        assert await tx.served_files.find(f"SEP{other}.cnf.xml") is not None
        assert await tx.leases.holder(a_mac(1)) is None
        (entry,) = await tx.audit.newest(WantedEntries(action="served_file.deleted"), 9)
        assert (entry.entry.resource, entry.entry.resource_id) == ("served_file", a_mac(1))

    await phones.delete(ADMIN, a_mac(2))
    await phones.create(ADMIN, CreatePhone(mac=a_mac(3)))
    await phones.delete(ADMIN, a_mac(3))
    async with database.read() as tx:
        entries = await tx.audit.newest(WantedEntries(action="served_file.deleted"), 9)
        assert [one.entry.resource_id for one in entries] == [a_mac(2), a_mac(1)]


@pytest.mark.parametrize("what", ["address", "desk", "file", "nothing"])
async def test_delete_phone_in_use_needs_level_0_with_shared_writing(
    database: MemoryDatabase, what: str
) -> None:
    """It could be created again without an address, and its configuration be fetched."""
    phones = Phones(database, SharedWrite.BEARER, FixedClock())
    name = f"SEP{a_mac(1).replace(':', '')}.cnf.xml"
    address = "10.0.0.5" if what == "address" else None
    async with database.write() as tx:
        await tx.phones.put(msgspec.structs.replace(PHONES[0], phone_ip=address))
        if what == "desk":
            await tx.desks.put(DeskRecord(a_mac(1), hotdesk=False))
        if what == "file":
            await tx.served_files.put(ServedFile(name, b"<device/>", identifier(1)))
    before = await stored(database)

    if what == "nothing":
        await phones.delete(ADA, a_mac(1))
        return
    with pytest.raises(Forbidden, match="needs permission level 0"):
        await phones.delete(ADA, a_mac(1))
    assert await stored(database) == before
    async with database.read() as tx:
        assert (await tx.served_files.find(name) is not None) is (what == "file")
        assert await tx.leases.holder(a_mac(1)) is None
    await phones.delete(ADMIN, a_mac(1))


async def test_delete_phone_during_a_switch_is_a_conflict(
    database: MemoryDatabase, phones: Phones
) -> None:
    async with database.write() as tx:
        fence = await tx.leases.take(a_mac(1), "switch", 60)

    with pytest.raises(Conflict) as error:
        await phones.delete(ADMIN, a_mac(1))
    assert error.value.code == "phone_busy"
    assert await stored(database) == (PHONES, FLAGS, KEMS)
    async with database.write() as tx:
        assert await tx.leases.release(a_mac(1), "switch", fence or 0)
    await phones.delete(ADMIN, a_mac(1))
