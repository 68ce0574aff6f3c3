"""Upgrades of the schema: from each released one, wholly or not at all, without lost records."""

import asyncio
import json
import os
import shutil
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

from phoneprov_adapters.composition.lifecycle import bring_up_to_date
from phoneprov_adapters.sql.engines import revisions
from phoneprov_adapters.sql.engines.address import PostgresAddress
from phoneprov_adapters.sql.engines.revisions import known, newest, revision_table
from phoneprov_adapters.sql.maintenance import migrate, migrate as upgrade_locks
from phoneprov_adapters.sql.tables import metadata
from phoneprov_core.kernel.errors import DiskFull, Unavailable
from support import killed_upgrades, later_revision, postgres
from support.polling import until
from support.scale import rounds
from support.schemas import (
    counts,
    fill,
    make_schema,
)


@pytest.fixture
def url(url_without_schema: str) -> str:
    return url_without_schema


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A version with one more revision; returns that."""
    steps = tmp_path / "versions"
    shutil.copytree(revisions.STEPS, steps)
    shutil.copy(later_revision.__file__, steps / "0999_later.py")
    monkeypatch.setattr(revisions, "STEPS", steps)
    known.cache_clear()
    monkeypatch.setattr(revisions, "known", known.__wrapped__)
    return later_revision.revision


async def execute(url: str, *statements: str) -> None:
    def run(connection: Connection) -> None:
        with connection.begin():
            for statement in statements:
                connection.execute(text(statement))

    await migrate.with_connection(url, run)


async def tables(url: str) -> set[str]:
    def names(connection: Connection) -> set[str]:
        return set(inspect(connection).get_table_names()) - {revision_table.name}

    return await migrate.with_connection(url, names)


async def old_database(url: str, revision: str = "0100") -> dict[str, int]:
    """Make the schema of a revision with rows in each table; returns their numbers."""

    def make(connection: Connection) -> dict[str, int]:
        make_schema(connection, revision)
        fill(connection)
        return counts(connection)

    if url.startswith("sqlite"):
        await execute(url, "PRAGMA journal_mode")  # creates the file
        made = await migrate.with_connection(url, make)
        await execute(url, "PRAGMA user_version")
        return made
    return await migrate.with_connection(url, make)


async def test_empty_database_has_no_revision(url: str) -> None:
    assert await migrate.current(url) is None


async def test_new_database_has_the_tables_and_the_newest_revision(url: str) -> None:
    await migrate.upgrade(url)

    assert await tables(url) == set(metadata.tables)
    assert await migrate.current(url) == newest()

    await migrate.upgrade(url)  # changes nothing
    assert await migrate.current(url) == newest()


@pytest.mark.parametrize("revision", known())
async def test_each_released_schema_becomes_the_one_of_the_tables(url: str, revision: str) -> None:
    before = await old_database(url, revision)
    await migrate.upgrade(url)

    def differences(connection: Connection) -> Any:
        def of_this_database(item: Any, *_: Any) -> bool:
            here = connection.dialect.name
            return bool(item.info.get("dialect", here) == here)

        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_object": of_this_database}
        )
        return compare_metadata(context, metadata)

    assert await migrate.with_connection(url, differences) == []
    assert set(before) - {revision_table.name} <= await tables(url)


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


def terms(connection: Connection) -> list[str]:
    return sorted(row[0] for row in connection.execute(text("SELECT term FROM contact_terms")))


async def test_upgrade_keeps_every_record_and_derives_search_texts(url: str, later: str) -> None:
    before = await old_database(url)

    await migrate.upgrade(url)

    assert await migrate.current(url) == later
    after = await migrate.with_connection(url, counts)
    assert after.pop("rooms") == 4
    assert after == before
    # The revision removed all of them.
    assert (await migrate.with_connection(url, terms)) == ["d1", "nada1", "wada1"]

    def texts(connection: Connection) -> list[Any]:
        rows = connection.execute(text("SELECT search, room FROM phones ORDER BY mac"))
        return [tuple(row) for row in rows]

    line = "\n".join([*["ada0"] * 5, "#0 # #0 # ", "ada0"])
    assert (await migrate.with_connection(url, texts))[0] == (line, "Room of Ada0")


def killed(url: str, steps: Path, stride: int) -> list[Any]:
    """The state after each killed process, and after the last, which ends."""
    done = subprocess.run(
        [sys.executable, killed_upgrades.__file__, url, str(steps), str(stride)],
        env={**os.environ, "PYTHONPATH": str(Path(killed_upgrades.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_upgrade_killed_after_each_statement_is_wholly_there_or_not_at_all(
    url: str, later: str
) -> None:
    before = await old_database(url)

    # Between a commit that is too early and the last one are two of them at least.
    stride = rounds(2, 1)
    states = await asyncio.to_thread(killed, url, revisions.STEPS, stride)

    *others, (_, revision, after) = states
    assert revision == later
    assert {name: after[name] for name in before} == {
        **before, "contact_terms": after["contact_terms"]
    }  # fmt: skip
    unchanged = [state for state in others if state[1] == "0100"]
    assert [state[2] for state in unchanged] == [before] * len(unchanged)
    assert all(state[1] == later for state in others[len(unchanged) :])
    assert len(unchanged) * stride >= 30


async def test_new_database_killed_after_each_statement_is_wholly_there_or_not_at_all(
    url: str,
) -> None:
    states = await asyncio.to_thread(killed, url, revisions.STEPS, rounds(10, 1))

    assert {(state[1], len(state[2])) for state in states[:-1]} <= {
        (None, 0),
        (newest(), len(metadata.tables) + 1),
    }
    assert states[-1][1] == newest()
    assert await tables(url) == set(metadata.tables)


async def test_upgrades_at_once_over_an_older_schema_all_succeed(url: str, later: str) -> None:
    await old_database(url)

    await asyncio.gather(*(migrate.upgrade(url) for _ in range(4)))

    assert await migrate.current(url) == later


async def test_new_databases_at_once_all_succeed(url: str) -> None:
    await asyncio.gather(*(bring_up_to_date(url) for _ in range(4)))

    assert await migrate.current(url) == newest()


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        ("9999", r"is newer than .* Start the newer version"),
        ("0015", "before 0.2.0 and cannot be upgraded. Export the records"),
        ("0001", "before 0.2.0 and cannot be upgraded. Export the records"),
    ],
)
async def test_upgrade_of_an_unknown_schema_is_refused(
    url: str, revision: str, expected: str
) -> None:
    await migrate.upgrade(url)
    await execute(url, f"UPDATE alembic_version SET version_num = '{revision}'")  # noqa: S608

    with pytest.raises(Unavailable, match=expected):
        await migrate.upgrade(url)
    assert await migrate.current(url) == revision


async def test_upgrade_of_foreign_tables_is_refused(url: str) -> None:
    await execute(url, "CREATE TABLE phones (name TEXT)")

    with pytest.raises(Unavailable, match="the table phones, but no revision"):
        await migrate.upgrade(url)
    assert await tables(url) == {"phones"}


async def test_upgrade_with_a_failing_revision_changes_nothing_and_names_the_cause(
    url: str, later: str
) -> None:
    before = await old_database(url)
    file = revisions.STEPS / "0999_later.py"
    file.write_text(file.read_text("utf-8") + "    op.drop_table('nothing')\n")

    with pytest.raises(Unavailable, match=r"failed and was rolled back.*nothing") as failed:
        await migrate.upgrade(url)

    assert "damaged" not in failed.value.message
    assert await migrate.current(url) == "0100"
    assert await migrate.with_connection(url, counts) == before


async def test_upgrade_that_breaks_a_reference_changes_nothing(url: str, later: str) -> None:
    await old_database(url)
    file = revisions.STEPS / "0999_later.py"
    removal = "    op.execute(\"DELETE FROM extensions WHERE uuid = 'Ada1'\")\n"
    if url.startswith("postgresql"):
        removal = "    op.execute(\"DELETE FROM permissions WHERE uuid = 'Ada1'\")\n"
    file.write_text(file.read_text("utf-8") + removal)

    with pytest.raises(Unavailable, match="failed and was rolled back"):
        await migrate.upgrade(url)
    assert await migrate.current(url) == "0100"


async def test_upgrade_of_a_damaged_file_says_so(tmp_path: Path, later: str) -> None:
    file = tmp_path / "phoneprov.db"
    url = f"sqlite+aiosqlite:///{file}"
    await old_database(url)
    content = bytearray(file.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    file.write_bytes(content)

    with pytest.raises(Unavailable, match="file is damaged; restore a backup"):
        await migrate.upgrade(url)


async def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "phoneprov.db"
    file.write_bytes(b"no database" * 1000)

    with pytest.raises(Unavailable, match="damaged"):
        await bring_up_to_date(f"sqlite+aiosqlite:///{file}")


async def test_upgrade_on_a_full_disk_says_so(
    tmp_path: Path, later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'phoneprov.db'}"
    before = await old_database(url)
    prepare = migrate._leave_transactions_to_us

    def with_little_space(connection: Any, record: object) -> None:
        prepare(connection, record)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}").close()

    monkeypatch.setattr(migrate, "_leave_transactions_to_us", with_little_space)
    with pytest.raises(DiskFull):
        await migrate.upgrade(url)

    monkeypatch.setattr(migrate, "_leave_transactions_to_us", prepare)
    assert await migrate.with_connection(url, counts) == before


async def test_upgrade_after_a_long_reader_names_it_and_waits(
    later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade_locks, "ATTEMPT_SECONDS", 1.0)
    monkeypatch.setattr(upgrade_locks, "PAUSE_SECONDS", 0.1)
    messages: list[str] = []
    async with postgres.new_database(migrated=False) as url:
        await old_database(url)
        reader = await asyncpg.connect(
            PostgresAddress.parse(url).dsn, server_settings={"application_name": "pg_dump"}
        )
        pid = reader.get_server_pid()
        try:
            await reader.execute("BEGIN; SELECT count(*) FROM users")
            waiting = asyncio.create_task(migrate.upgrade(url, messages.append))
            await until(lambda: messages)
            assert await migrate.current(url) == "0100"  # others read meanwhile
            await asyncio.sleep(1.5)  # another attempt
            await reader.execute("COMMIT")
            await waiting
        finally:
            await reader.close()

        assert await migrate.current(url) == later
    (message,) = messages
    assert f"waits for a lock of process {pid} (user postgres, pg_dump, local, for" in message


async def test_upgrade_blocked_by_a_reader_without_end_is_given_up(
    later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade_locks, "ATTEMPT_SECONDS", 1.0)
    monkeypatch.setattr(upgrade_locks, "DEADLINE_SECONDS", 0.0)
    async with postgres.new_database(migrated=False) as url:
        await old_database(url)
        reader = await asyncpg.connect(PostgresAddress.parse(url).dsn)
        try:
            await reader.execute("BEGIN; SELECT count(*) FROM users")
            with pytest.raises(Unavailable, match=f"a lock of process {reader.get_server_pid()} "):
                await migrate.upgrade(url)
        finally:
            await reader.close()
        assert await migrate.current(url) == "0100"


async def test_upgrade_waits_for_that_of_another_host(later: str) -> None:
    messages: list[str] = []
    async with postgres.new_database(migrated=False) as url:
        await old_database(url)
        other = await asyncpg.connect(PostgresAddress.parse(url).dsn)
        try:
            await other.execute("BEGIN")
            await other.execute(upgrade_locks._WAIT)
            waiting = asyncio.create_task(migrate.upgrade(url, messages.append))
            await postgres.wait_for_blocked_lock(url)
            # The other host, as visible from here.
            await other.execute("UPDATE alembic_version SET version_num = '0999'; COMMIT")
            await waiting
        finally:
            await other.close()

        assert "rooms" not in await tables(url)
    assert messages == ["Another upgrade is running; waiting for its end."]


def test_newest_revision_is_known_without_importing_alembic() -> None:
    assert newest() == ScriptDirectory(str(migrate._HERE)).get_current_head()
    code = "import sys; from phoneprov_adapters.sql.engines import revisions; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "alembic" not in done.stdout.split()
