"""The phones that a caller can take, over the memory database."""

import msgspec

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.testing.phone_records import a_flag, a_kem, a_phone
from phoneprov_adapters.testing.records import a_mac, identifier, moment
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.paging import Window
from phoneprov_core.me import PIECE, EnrichedPhone, Me, enriched
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones import VendorPhone

ADA = Actor(identifier(0xA), level=None)


def test_me_phone_has_its_fields_without_updated_at() -> None:
    more = ("is_vendor", "vendor", "key_expansion_modules")
    phone = a_phone(1, name="Reception", is_active=False, updated_at=moment(7))

    shown = enriched(phone, None, ())

    assert EnrichedPhone.__struct_fields__ == (
        *(name for name in Phone.__struct_fields__ if name != "updated_at"),
        *more,
    )
    for name in set(EnrichedPhone.__struct_fields__) - set(more):
        assert getattr(shown, name) == getattr(phone, name)


def test_me_phone_is_vendor_follows_the_flag() -> None:
    yes, no = VendorPhone(a_mac(1), True), VendorPhone(a_mac(1), False)

    shown = [enriched(a_phone(1), flag, ()) for flag in (yes, no, None)]

    assert [phone.is_vendor for phone in shown] == [True, False, False]
    assert [phone.vendor for phone in shown] == [yes, no, None]


async def test_me_phones_are_visible_to_every_account_oldest_first() -> None:
    database = MemoryDatabase()
    kems = (a_kem(11, connected_phone=a_mac(2)), a_kem(12, connected_phone=a_mac(2)))
    async with database.write() as tx:
        for number in (2, 1):
            await tx.phones.add(a_phone(number))
        for kem in reversed(kems):
            await tx.kems.add(kem)
        await tx.vendor_phones.add(a_flag(1))
    me = Me(database)

    everything = await (await me.phones(ADA)).everything()
    page = await me.phones(ADA, Window(limit=1, offset=1))

    assert everything == [
        enriched(a_phone(1), VendorPhone(a_mac(1), True), ()),
        enriched(a_phone(2), None, kems),
    ]
    assert page.first == everything[1:]
    assert page.total == 2


async def test_me_phones_list_over_one_piece_is_complete() -> None:
    database = MemoryDatabase()
    async with database.write() as tx:
        for number in range(2 * PIECE + 1):
            await tx.phones.add(a_phone(number))
            await tx.kems.add(a_kem(number, connected_phone=a_mac(number)))

    pieces = [piece async for piece in await Me(database).phones(ADA)]

    phones = [phone for piece in pieces for phone in piece]
    assert [len(piece) for piece in pieces] == [PIECE, PIECE, 1]
    assert [phone.mac for phone in phones] == [a_mac(number) for number in range(2 * PIECE + 1)]
    assert [phone.key_expansion_modules for phone in phones] == [
        (a_kem(number, connected_phone=a_mac(number)),) for number in range(2 * PIECE + 1)
    ]
    assert not any(msgspec.structs.asdict(phone)["is_vendor"] for phone in phones)
