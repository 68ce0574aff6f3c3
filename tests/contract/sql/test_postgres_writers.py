"""Many writers of one record wait for each other."""

import asyncio
import time

import msgspec

from contract.stores.test_audit import ADA
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.directory.model import PersonalContact
from support.phone_records import a_phone
from support.postgres_databases import database_at
from support.records import a_user, identifier

WRITERS = 150
SLOW = 0.03
"""Seconds of a transaction: together more than the 3 s that a read waits."""


async def test_many_writers_of_one_record_wait_and_none_fails(url: str) -> None:
    database = database_at(url)
    await database.open()
    async with database.write() as tx:
        await tx.phones.add(a_phone(1))

    async def write(number: int) -> None:
        async with database.write(by=ADA) as tx:
            phone = await tx.phones.find(a_phone(1).mac)
            assert phone is not None
            await asyncio.sleep(SLOW)
            await tx.phones.put(msgspec.structs.replace(phone, name=f"{number}"))

    began = time.monotonic()
    outcomes = await asyncio.gather(*map(write, range(WRITERS)), return_exceptions=True)

    assert outcomes == [None] * WRITERS
    assert time.monotonic() - began > 3
    await database.close()


async def test_many_entries_of_one_transaction_are_added_together(url: str) -> None:
    database = database_at(url)
    await database.open()
    contacts = [
        PersonalContact(
            identifier(100 + n),
            identifier(1),
            "Grace",
            None,
            None,
            None,
            None,
            None,
            a_user(1).created_at,
        )
        for n in range(1000)
    ]
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        for contact in contacts:
            await tx.personal_contacts.add(contact)

    began = time.monotonic()
    async with database.write(by=ADA) as tx:
        await tx.users.remove(identifier(1))
    took = time.monotonic() - began

    async with database.read() as tx:
        entries = await tx.audit.newest(WantedEntries(action="personal_contact.deleted"), 2000)
    assert len(entries) == 1000
    assert took < 2
    await database.close()
