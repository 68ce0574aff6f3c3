"""A list whose entities are converted for the response."""

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_core.kernel.paging import Listing, Page, Window, listing
from phoneprov_core.phones.model import Phone
from support.phone_records import a_phone
from support.records import a_mac


@pytest.fixture
async def database() -> MemoryDatabase:
    database = MemoryDatabase()
    async with database.write() as tx:
        for number in range(5):
            await tx.phones.add(a_phone(number))
    return database


async def macs(database: MemoryDatabase, page: Page = None) -> Listing[str]:
    phones: Listing[Phone] = await listing(database.read, lambda tx: tx.phones, page, piece=2)
    return phones.mapped(lambda phone: phone.mac)


async def test_mapped_list_maps_every_piece(database: MemoryDatabase) -> None:
    mapped = await macs(database)

    assert mapped.first == [a_mac(0), a_mac(1)]
    assert not mapped.complete
    assert mapped.window is None
    assert [piece async for piece in mapped] == [
        [a_mac(0), a_mac(1)],
        [a_mac(2), a_mac(3)],
        [a_mac(4)],
    ]


async def test_mapped_page_has_the_total_of_the_page(database: MemoryDatabase) -> None:
    page = await macs(database, Window(limit=2, offset=3))

    assert page.complete
    assert page.window == Window(limit=2, offset=3)
    assert page.total == 5
    assert await page.everything() == page.first == [a_mac(3), a_mac(4)]


async def test_mapped_empty_list_is_empty() -> None:
    nothing = await macs(MemoryDatabase())

    assert nothing.complete
    assert await nothing.everything() == nothing.first == []
