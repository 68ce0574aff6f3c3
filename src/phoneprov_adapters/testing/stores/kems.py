"""The contract of KEMs beyond ``Store``: disconnecting from their phone."""

from __future__ import annotations

import msgspec
import pytest
import pytest_asyncio

from phoneprov_adapters.testing.phone_records import a_kem, a_phone
from phoneprov_adapters.testing.records import a_mac
from phoneprov_core.stores import Database

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)

# The first phone is in the inventory, the other is not.
KEMS = [
    a_kem(11, connected_phone=PHONE),
    a_kem(12, connected_phone=OTHER_PHONE),
    a_kem(13, connected_phone=PHONE, model=None, mac=None, ip=None),
    a_kem(14, connected_phone=None),
]
WITHOUT_THE_PHONE = [
    msgspec.structs.replace(KEMS[0], connected_phone=None),
    KEMS[1],
    msgspec.structs.replace(KEMS[2], connected_phone=None),
    KEMS[3],
]


@pytest.mark.asyncio
class KemsContract:
    """The contract of KEMs beyond ``Store``: disconnecting from their phone."""

    @pytest_asyncio.fixture(autouse=True)
    async def kems(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.phones.add(a_phone(1))
            for kem in KEMS:
                await tx.kems.add(kem)

    async def test_kems_disconnect_changes_kems_of_that_phone_only(
        self, database: Database
    ) -> None:
        async with database.write() as tx:
            await tx.kems.disconnect(PHONE)
            assert await tx.kems.rows(10) == WITHOUT_THE_PHONE

        async with database.read() as tx:
            assert await tx.kems.rows(10) == WITHOUT_THE_PHONE
            assert await tx.phones.rows(10) == [a_phone(1)]

    @pytest.mark.parametrize("mac", [a_mac(3), ""])
    async def test_kems_disconnect_without_kems_changes_nothing(
        self, database: Database, mac: str
    ) -> None:
        async with database.write() as tx:
            await tx.kems.disconnect(mac)

        async with database.read() as tx:
            assert await tx.kems.rows(10) == KEMS

    async def test_kems_can_be_connected_again(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.kems.disconnect(PHONE)
            await tx.kems.put(KEMS[0])
            await tx.kems.disconnect(OTHER_PHONE)
            await tx.kems.disconnect(PHONE)

        async with database.read() as tx:
            assert {kem.connected_phone for kem in await tx.kems.rows(10)} == {None}

    async def test_phone_removed_alone_changes_no_kem(
        self,
        database: Database,
    ) -> None:
        async with database.write() as tx:
            assert await tx.phones.remove(PHONE)

        async with database.read() as tx:
            assert await tx.kems.rows(10) == KEMS
