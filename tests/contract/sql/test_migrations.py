"""The migrations: every step is reversible, and the last one yields the schema of the code."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Index, inspect, text
from sqlalchemy.schema import ColumnCollectionConstraint

from phoneprov_adapters.sql.engines.address import PostgresAddress
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_adapters.sql.maintenance.schema import bring_up_to_date, newest
from phoneprov_adapters.sql.tables import metadata
from phoneprov_core.kernel.errors import Unavailable
from support import postgres
from support.scale import rounds

STEPS = [
    (step.revision, str(step.down_revision or "base"))
    for step in reversed(list(ScriptDirectory(str(migrate._HERE)).walk_revisions()))
]


@pytest.fixture
def url(url_without_schema: str) -> str:
    return url_without_schema


async def tables(url: str) -> set[str]:
    def names(connection: Connection) -> set[str]:
        return set(inspect(connection).get_table_names()) - {"alembic_version"}

    return await migrate._with_connection(url, names)


async def test_empty_database_has_no_schema_version(url: str) -> None:
    assert await migrate.current(url) is None


async def test_each_migration_is_reversible(url: str) -> None:
    for revision, before in STEPS:
        await migrate.upgrade(url, revision)
        after = await tables(url)
        await migrate.downgrade(url, before)
        await migrate.upgrade(url, revision)
        assert await migrate.current(url) == revision
        assert await tables(url) == after

    assert await migrate.current(url) == newest()


async def test_downgrade_to_the_base_removes_every_table(url: str) -> None:
    await migrate.upgrade(url)
    assert await tables(url) == set(metadata.tables)

    await migrate.downgrade(url, "base")

    assert await tables(url) == set()
    assert await migrate.current(url) is None


async def test_upgrade_again_changes_nothing(url: str) -> None:
    await migrate.upgrade(url)
    await migrate.upgrade(url)

    assert await migrate.current(url) == newest()


async def test_migrations_create_the_tables_of_the_code(url: str) -> None:
    await migrate.upgrade(url)

    def differences(connection: Connection) -> Any:
        def of_this_database(item: Any, *_: Any) -> bool:
            here = connection.dialect.name
            return bool(item.info.get("dialect", here) == here)

        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_object": of_this_database}
        )
        return compare_metadata(context, metadata)

    assert await migrate._with_connection(url, differences) == []


async def test_keys_are_compared_by_bytes() -> None:
    async with postgres.new_database() as url:
        found = await postgres.ask(
            url,
            "SELECT table_name, column_name, collation_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND collation_name IS NOT NULL",
        )
    made = {(row[0], row[1]): row[2] for row in found}
    indexed = {
        (table.name, column.name)
        for table in metadata.tables.values()
        for holder in (*table.indexes, *table.constraints)
        if isinstance(holder, Index | ColumnCollectionConstraint)
        and holder.info.get("dialect") != "sqlite"
        for column in holder.columns
    }

    texts = {place for place in indexed if place in made}
    assert ("users", "username_key") in texts
    assert {place: made[place] for place in texts} == dict.fromkeys(texts, "C")


async def test_upgrade_concurrent_one_migrates_and_the_others_wait(
    url: str, tmp_path: Path
) -> None:
    if url.startswith("sqlite"):  # the command does not make a new installation
        await migrate.upgrade(url, "0001")
    environment = {
        **os.environ,
        "PHONEPROV_DATABASE_URL": url,
        "PHONEPROV_DATA_DIR": str(tmp_path),
    }
    upgrade = (sys.executable, "-m", "phoneprov_http.main", "db", "upgrade")
    started = [
        await asyncio.create_subprocess_exec(*upgrade, env=environment, stderr=subprocess.PIPE)
        for _ in range(rounds(2, 6))
    ]
    for process in started:
        _, errors = await process.communicate()
        assert (process.returncode, errors) == (0, b"")

    assert await migrate.current(url) == newest()


async def test_upgrade_waits_for_another_host() -> None:
    async with postgres.new_database(migrated=False) as url:
        other = await asyncpg.connect(PostgresAddress.parse(url).dsn)
        try:
            await other.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
            async with other.transaction():
                await other.execute("LOCK TABLE alembic_version IN SHARE ROW EXCLUSIVE MODE")
                waiting = asyncio.create_task(migrate.upgrade(url))
                await postgres.wait_for_blocked_lock(url)
                # The other host, as visible from here.
                await other.execute("INSERT INTO alembic_version VALUES ($1)", newest())
            await waiting
        finally:
            await other.close()

        assert await tables(url) == set()
        assert await migrate.current(url) == newest()


async def test_upgrade_schema_of_newer_version_is_refused(url: str) -> None:
    await migrate.upgrade(url)

    def newer(connection: Connection) -> None:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.commit()

    await migrate._with_connection(url, newer)

    with pytest.raises(Unavailable, match="newer version"):
        await migrate.upgrade(url)
    assert await migrate.current(url) == "9999"


async def test_failed_migration_leaves_a_shared_database_unchanged() -> None:
    async with postgres.new_database(migrated=False) as url:
        # Blocks the last table of the first step.
        await postgres.ask(url, "CREATE TABLE vendor_users ()")

        with pytest.raises(Unavailable, match="schema"):
            await migrate.upgrade(url)

        assert await tables(url) == {"vendor_users"}
        assert await migrate.current(url) is None


def test_newest_revision_is_known_without_importing_alembic() -> None:
    assert newest() == ScriptDirectory(str(migrate._HERE)).get_current_head()


async def test_upgrade_current_schema_changes_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bring_up_to_date(url)
    assert await migrate.current(url) == newest()
    await bring_up_to_date(url)
    assert await migrate.current(url) == newest()

    if url.startswith("sqlite"):
        monkeypatch.setattr(migrate, "upgrade", None)  # calls fail from here on
        await bring_up_to_date(url)


async def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "phoneprov.db"
    file.write_bytes(b"no database" * 1000)

    with pytest.raises(Unavailable, match="is not a SQLite database"):
        await bring_up_to_date(f"sqlite+aiosqlite:///{file}")
