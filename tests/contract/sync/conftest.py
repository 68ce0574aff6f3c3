"""A sync with each database."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.files.ldif import LdifTable
from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.sync.model import Synced, SyncOptions
from phoneprov_core.features.sync.use_cases import SyncPeople
from phoneprov_core.kernel.actor import Actor, LevelRule, SharedWrite, system_actor
from phoneprov_core.people.audit import AuditEntry, WantedEntries
from phoneprov_core.people.directory.model import CompanyContact
from phoneprov_core.people.directory.use_cases import CompanyDirectory
from phoneprov_core.people.users.model import AccountPolicy, ImportedUser, User
from phoneprov_core.people.users.use_cases import Users
from support.stores import DATABASES

ACTOR: Actor = system_actor(LevelRule.HIERARCHICAL)


class Office:
    """An office whose people come from a directory."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self._folder = database, folder
        clock, new_id = FixedClock(), CountingIds()
        policy = AccountPolicy(is_common=lambda _: False)
        self.users = Users(database, PlainHasher(), policy, clock, new_id)
        contacts = CompanyDirectory(database, SharedWrite.SUPERADMIN, clock, new_id)
        self.sync_people = SyncPeople(database, self.users, contacts, clock)

    async def sync(self, *entries: dict[str, Any] | str, **options: Any) -> Synced:
        """Sync these entries of the source ``ad``, unless the options say another."""
        text = "".join(one if isinstance(one, str) else ldif(**one) for one in entries)
        file = self._folder / "people.ldif"
        file.write_bytes(text.encode())
        wanted = SyncOptions(**{"source": "ad", **options})
        return await self.sync_people(ACTOR, LdifTable(file), wanted)

    async def add(self, username: str, **values: Any) -> User:
        """An account that no directory has."""
        new = {"first_name": "F", "last_name": "L", "email": f"{username}@office.example"}
        return await self.users.create(ACTOR, ImportedUser(username=username, **{**new, **values}))

    async def named(self) -> dict[str, User]:
        """The accounts by username."""
        return {user.username: user for user in await (await self.users.all(ACTOR)).everything()}

    async def contacts(self) -> list[CompanyContact]:
        async with self.database.read() as tx:
            return await tx.company_contacts.rows(100)

    async def entries(self) -> list[AuditEntry]:
        """The audit trail, oldest first."""
        async with self.database.read() as tx:
            found: Sequence[Any] = await tx.audit.newest(WantedEntries(), 1000)
        return [one.entry for one in reversed(found)]


def person(number: int, **changes: Any) -> dict[str, Any]:
    """An entry of Active Directory; None is an attribute that it does not have."""
    entry = {
        "objectGUID": f"00000000-0000-4000-8000-{number:012}",
        "sAMAccountName": f"user{number}",
        "givenName": "Given",
        "sn": f"Name{number}",
        "mail": f"user{number}@office.example",
        "telephoneNumber": f"+49 30 {number}",
        "userAccountControl": "512",
    }
    return {**entry, **changes}


def ldif(**entry: Any) -> str:
    lines = [f"{name}: {value}\n" for name, value in entry.items() if value is not None]
    return "".join([f"dn: CN={entry['objectGUID']},DC=office,DC=example\n", *lines, "\n"])


def people(number: int) -> list[dict[str, Any]]:
    return [person(one) for one in range(1, number + 1)]


@pytest.fixture(params=sorted(DATABASES))
async def office(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Office]:
    async with DATABASES[request.param](tmp_path) as opened:
        yield Office(opened, tmp_path)
