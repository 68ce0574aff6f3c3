"""The SQL of docs/how-to/audit.md: the service adds entries, and cannot change or remove them."""

import re
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import asyncpg
import pytest

from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.people.audit import WantedEntries
from support import postgres
from support.phone_records import a_phone
from support.postgres_databases import database_at
from support.records import a_mac, identifier

PAGE = Path(__file__).parents[3] / "docs/how-to/audit.md"
ADA = Actor(identifier(77), 0, username="ada")
_numbers = count(1)


class Roles:
    """The database and the two roles of the page, under test names."""

    def __init__(self) -> None:
        self.name = f"phoneprov_{next(_numbers)}"
        self.creation, self.grants = (
            re.sub(r"\bphoneprov", self.name, block)
            for block in re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        )

    def url(self, role: str) -> str:
        return postgres.server().url(self.name).replace("//postgres@", f"//{self.name}_{role}@")


@pytest.fixture
async def roles() -> AsyncIterator[Roles]:
    made = Roles()
    administrator = await asyncpg.connect(postgres.server().url("postgres").replace("+asyncpg", ""))
    try:
        for statement in filter(str.strip, made.creation.split(";")):
            await administrator.execute(statement)
        yield made
    finally:
        await administrator.execute(f"DROP DATABASE IF EXISTS {made.name} WITH (FORCE)")
        for role in ("owner", "service"):
            await administrator.execute(f"DROP ROLE IF EXISTS {made.name}_{role}")
        await administrator.close()


async def test_service_role_of_how_to_adds_entries_and_cannot_change_them(roles: Roles) -> None:
    await migrate.upgrade(roles.url("owner"))
    await postgres.ask(roles.url("owner"), roles.grants)

    database = database_at(roles.url("service"))
    await database.open()
    try:
        async with database.write(by=ADA) as tx:
            await tx.phones.add(a_phone(1))
        async with database.write(by=ADA) as tx:
            await tx.phones.remove(a_mac(1))
            await tx.assignments.another_superadmin(ADA.user_uuid, ADA.level_rule)
        async with database.read() as tx:
            assert len(await tx.audit.newest(WantedEntries(), 9)) == 2
    finally:
        await database.close()

    for statement in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await postgres.ask(roles.url("service"), statement)
