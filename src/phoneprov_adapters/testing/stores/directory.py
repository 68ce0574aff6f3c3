"""The contract of contacts beyond ``Store``: owners, and deletion with the owner."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.records import (
    a_company_contact,
    a_personal_contact,
    a_user,
    identifier,
    moment,
)
from phoneprov_core.directory.model import PersonalContact
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.stores import Database

ADA, BOB, NO_USER = identifier(1), identifier(2), identifier(99)

# By creation: 13, 11, 12, 14; two of the same moment, so that the key decides.
CONTACTS = [
    a_personal_contact(13, ADA, created_at=moment(1)),
    a_personal_contact(11, BOB, created_at=moment(2)),
    a_personal_contact(12, ADA, created_at=moment(2)),
    a_personal_contact(14, ADA, created_at=moment(3)),
]
ADAS = [CONTACTS[0], *CONTACTS[2:]]


@pytest.mark.asyncio
class DirectoryContract:
    """The contract of contacts beyond ``Store``: owners, and deletion with the owner."""

    @pytest_asyncio.fixture(autouse=True)
    async def contacts(self, database: Database) -> Sequence[PersonalContact]:
        async with database.write() as tx:
            await tx.users.add(a_user(1))
            await tx.users.add(a_user(2))
            for contact in reversed(CONTACTS):
                await tx.personal_contacts.add(contact)
        return CONTACTS

    async def test_contacts_of_a_user_are_their_own(self, database: Database) -> None:
        async with database.read() as tx:
            store = tx.personal_contacts
            assert await store.rows(10, owner=ADA) == ADAS
            assert await store.rows(1, owner=ADA, after=ADAS[0]) == ADAS[1:2]
            assert await store.rows(10, owner=ADA, offset=2) == ADAS[2:]
            assert await store.rows(10, owner=BOB) == [CONTACTS[1]]
            assert await store.rows(10, owner=NO_USER) == []
            counted = [await store.count(owner) for owner in (ADA, BOB, NO_USER, None)]
        assert counted == [3, 1, 0, 4]

    @pytest.mark.parametrize("method", ["add", "put"])
    async def test_contact_of_a_missing_user_is_not_found(
        self, database: Database, method: str
    ) -> None:
        stray = a_personal_contact(20 if method == "add" else 11, NO_USER)

        async def write_it() -> None:
            async with database.write() as tx:
                store = tx.personal_contacts
                await (store.add(stray) if method == "add" else store.put(stray))

        with pytest.raises(NotFound):
            await write_it()

        async with database.read() as tx:
            assert await tx.personal_contacts.rows(10) == CONTACTS

    async def test_contacts_are_removed_with_their_user_and_company_contacts_stay(
        self, database: Database
    ) -> None:
        async with database.write() as tx:
            await tx.company_contacts.add(a_company_contact(1))

        async with database.write() as tx:
            assert await tx.users.remove(ADA)

        async with database.read() as tx:
            assert await tx.personal_contacts.rows(10) == [CONTACTS[1]]
            assert await tx.company_contacts.rows(10) == [a_company_contact(1)]
