"""An audit entry that the database refuses rolls its change back."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.people.audit import WantedEntries
from support.phone_records import a_phone
from support.records import a_mac, identifier
from support.stores import DATABASES

ADA = Actor(identifier(77), 0, username="ada")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_refused_entry_undoes_the_change(kind: str, tmp_path: Path) -> None:
    no_resource: Any = None
    async with DATABASES[kind](tmp_path) as database:

        async def change() -> None:
            async with database.write(by=ADA) as tx:
                await tx.phones.add(a_phone(1))
                tx.trail.note(Event("phone.switched", no_resource))

        with pytest.raises((PhoneprovError, sqlite3.IntegrityError)):
            await change()
        async with database.read() as tx:
            assert await tx.phones.find(a_mac(1)) is None
            assert await tx.audit.newest(WantedEntries(), 9) == []
