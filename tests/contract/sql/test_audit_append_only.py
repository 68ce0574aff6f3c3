"""The SQL of docs/how-to/audit.md: the service adds entries, and cannot change or remove them."""

from __future__ import annotations

import re
from pathlib import Path

import asyncpg
import pytest

from phoneprov_adapters.testing.records import a_mac, a_phone, identifier
from phoneprov_core.audit.model import WantedEntries
from phoneprov_core.kernel.actor import Actor
from support.postgres_databases import database_at

PAGE = Path(__file__).parents[3] / "docs/how-to/audit.md"
ADA = Actor(identifier(77), 0, username="ada")


async def test_service_role_of_how_to_adds_entries_and_cannot_change_them(url: str) -> None:
    _, grants = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    owner = await asyncpg.connect(url.replace("+asyncpg", ""))
    role = f"service_{identifier(1)[:8]}_{owner.get_server_pid()}"
    await owner.execute(f"CREATE ROLE {role} LOGIN")
    try:
        await owner.execute(grants.replace("phoneprov_service", role))
        await owner.execute(
            f"ALTER DATABASE {await owner.fetchval('SELECT current_database()')} SET role = {role}"
        )
        database = database_at(url)
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
        await owner.execute(f"SET ROLE {role}")
        for statement in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await owner.execute(statement)
        await owner.execute("RESET ROLE")
        await owner.execute(f"SET ROLE {await owner.fetchval('SELECT session_user')}")
    finally:
        await owner.execute(f"DROP OWNED BY {role}")
        await owner.execute(
            f"ALTER DATABASE {await owner.fetchval('SELECT current_database()')} RESET role"
        )
        await owner.execute(f"DROP ROLE {role}")
        await owner.close()
