"""An address that names several hosts: the one that takes changes is found."""

from __future__ import annotations

from pathlib import Path

from phoneprov_adapters.testing.records import a_user, identifier
from support import postgres
from support.postgres_databases import database_at


async def test_of_several_hosts_the_one_that_takes_changes_is_found(
    url: str, tmp_path: Path
) -> None:
    folder = str(postgres.server().folder)
    several = url.replace(f"host={folder}", f"host={tmp_path},{folder}")
    assert several != url
    opened = database_at(f"{several}&target_session_attrs=primary")
    await opened.open()

    async with opened.write() as tx:
        await tx.users.add(a_user(1))

    await opened.close()
    assert await postgres.ask(url, "SELECT uuid FROM users") == [(identifier(1),)]
