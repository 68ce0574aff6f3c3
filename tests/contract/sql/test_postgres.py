"""PostgreSQL only: messages for its errors, its locks, the settings of new connections."""

import asyncio
import logging
import traceback

import asyncpg
import pytest

from phoneprov_adapters.sql.engines.hosts import NotUtf8
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.postgres_reading import SIZE
from phoneprov_adapters.sql.engines.postgres_writing import unavailable
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.errors import Conflict, Unavailable
from phoneprov_core.people.users.model import User
from support import postgres
from support.postgres_databases import SHORT, database_at
from support.records import a_permission, a_user, an_assignment, identifier

ON_EACH_NEW_USER = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'secret of the server' USING ERRCODE = '{state}'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON users EXECUTE FUNCTION fail();
"""


async def add(database: PostgresDatabase, user: User) -> None:
    async with database.write() as tx:
        await tx.users.add(user)


@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [
        ("53100", "disk_full", "database is full"),
        ("53200", "unavailable", "short of memory"),
        ("40001", "unavailable", "busy"),
        ("40P01", "unavailable", "busy"),
        ("55P03", "unavailable", "busy"),
        ("57014", "unavailable", "too long"),
        ("57P01", "unavailable", "ended the connection"),
        ("57P03", "unavailable", "starting or stopping"),
        ("25006", "not_writable", "read-only"),
        ("42501", "unavailable", "grant"),
        ("08006", "unavailable", "connection"),
        ("22001", "unavailable", "cannot be used"),
        ("ZZZZZ", "unavailable", "cannot be used"),
    ],
)
async def test_server_errors_have_messages_of_the_service(
    database: PostgresDatabase, url: str, state: str, code: str, expected: str
) -> None:
    await postgres.ask(url, ON_EACH_NEW_USER.format(state=state))

    async def add_both() -> None:
        async with database.write() as tx:
            await tx.permissions.add(a_permission(1))
            await tx.users.add(a_user(1))

    with pytest.raises(Unavailable, match=expected) as error:
        await add_both()

    assert error.value.code == code
    assert "secret" not in error.value.message
    async with database.read() as tx:
        assert await tx.permissions.count() == 0
    await postgres.ask(url, "DROP FUNCTION fail CASCADE")
    await add_both()


async def test_terminated_backend_is_not_called_a_stop_of_the_server(
    database: PostgresDatabase, url: str
) -> None:
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1"
    ended = []
    for sql, values in ((terminate, ["phoneprov"]), ("SELECT 1", [])):
        try:
            await database.answered(sql, values)
        except Unavailable as error:
            ended.append(error.message)

    assert ended
    assert all("connection" in one and "stopping" not in one for one in ended)


def test_statement_mode_of_pgbouncer_is_named() -> None:
    text = "transaction blocks not allowed in statement pooling mode"
    error = asyncpg.ProtocolViolationError(text)

    assert "statement mode" in unavailable(error).message


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_database_of_another_encoding_is_refused_with_the_statement_that_makes_one(
    encoding: str,
) -> None:
    on = postgres.server()
    where = "LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    await on.run(f"CREATE DATABASE other_encoding ENCODING '{encoding}' {where}")
    try:
        url = on.url("other_encoding")
        for refused in (database_at(url).open, lambda: migrate.upgrade(url)):
            with pytest.raises(NotUtf8, match=f"has the encoding {encoding}") as error:
                await refused()
        _, _, statement = error.value.message.partition("PHONEPROV_DATABASE_URL: ")
        await on.run(statement)
        await migrate.upgrade(on.url("other_encoding_utf8"))
    finally:
        await on.run("DROP DATABASE other_encoding WITH (FORCE)")
        await on.run("DROP DATABASE IF EXISTS other_encoding_utf8 WITH (FORCE)")


async def test_database_without_schema_is_unavailable() -> None:
    async with postgres.new_database(migrated=False) as url:
        database = database_at(url)
        await database.open()
        assert await database.revision() is None
        with pytest.raises(Unavailable, match="schema"):
            async with database.read() as tx:
                await tx.users.count()
        await database.close()


async def test_deadlock_one_of_two_transactions_succeeds(url: str) -> None:
    database = database_at(url + "&deadlock_timeout=50ms")
    await database.open()
    await add(database, a_user(1))
    await add(database, a_user(2))
    both = asyncio.Barrier(2)

    async def take(first: int, second: int) -> None:
        async with database.write() as tx:
            await tx.users.find(identifier(first))
            await both.wait()
            await tx.users.find(identifier(second))
            await tx.users.put(a_user(second, phone="taken"))

    outcomes = await asyncio.gather(take(1, 2), take(2, 1), return_exceptions=True)

    assert sorted(map(str, outcomes)) == ["None", "The database is busy; try again."]
    async with database.read() as tx:
        phones = [user.phone for user in await tx.users.rows(10)]
    assert sorted(map(str, phones)) == ["None", "taken"]
    await database.close()


async def test_lock_wait_over_the_deadline_is_unavailable(
    database: PostgresDatabase, short_deadline_database: PostgresDatabase
) -> None:
    async with database.write() as tx:
        await tx.users.add(a_user(1))

    async with database.write() as holder:
        await holder.users.find(identifier(1))
        with pytest.raises(Unavailable, match="too long"):
            async with short_deadline_database.write() as tx:
                await tx.users.find(identifier(1))

    async with short_deadline_database.write() as tx:
        assert await tx.users.remove(identifier(1))


async def test_requests_above_the_pool_size_wait(
    database: PostgresDatabase,
) -> None:
    async def read() -> int:
        async with database.read() as tx:
            await tx.users.count()
            await asyncio.sleep(0.01)
            return await tx.users.count()

    assert await asyncio.gather(*(read() for _ in range(5 * SIZE))) == [0] * (5 * SIZE)


async def test_connection_wait_over_the_deadline_is_unavailable(
    short_deadline_database: PostgresDatabase,
) -> None:
    all_taken = asyncio.Barrier(SIZE + 1)
    over = asyncio.Event()

    async def keep() -> None:
        async with short_deadline_database.write() as tx:
            await tx.users.count()
            await all_taken.wait()
            await over.wait()

    keepers = [asyncio.create_task(keep()) for _ in range(SIZE)]
    await all_taken.wait()
    with pytest.raises(Unavailable, match="busy"):
        async with short_deadline_database.read() as tx:
            await tx.users.count()
    with pytest.raises(Unavailable, match="busy"):
        async with short_deadline_database.write() as tx:
            await tx.users.count()
    over.set()
    await asyncio.gather(*keepers)

    async with short_deadline_database.read() as tx:
        assert await tx.users.count() == 0


async def test_superadmin_checks_of_two_processes_are_serialized(url: str) -> None:
    one, two = database_at(url), database_at(url)
    await one.open()
    await two.open()
    async with one.write() as tx:
        await tx.permissions.add(a_permission(1, level=0))
        for number in (1, 2):
            await tx.users.add(a_user(number))
            user = identifier(number)
            await tx.assignments.assign(an_assignment(user, identifier(1), number))

    async def resign(database: PostgresDatabase, user: str) -> bool:
        async with database.write() as tx:
            if not await tx.assignments.another_superadmin(user, LevelRule.STRICT):
                return False
            await asyncio.sleep(0.02)
            return await tx.assignments.remove(user)

    resigned = await asyncio.gather(resign(one, identifier(1)), resign(two, identifier(2)))

    assert sorted(resigned) == [False, True]
    await one.close()
    await two.close()


async def test_transaction_continued_after_a_conflict_does_not_succeed(
    database: PostgresDatabase,
) -> None:
    async def continue_after_conflict() -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(1))
            await tx.users.add(a_user(1))
            with pytest.raises(Conflict):
                await tx.users.count()

    with pytest.raises(Unavailable, match="nothing was changed"):
        await continue_after_conflict()

    async with database.read() as tx:
        assert await tx.users.count() == 0


async def test_read_only_server_is_replaced_by_another_connection(
    database: PostgresDatabase, url: str
) -> None:
    name = (await postgres.ask(url, "SELECT current_database()"))[0][0]

    async def set_read_only(truth: str) -> None:
        await postgres.server().run(
            f"ALTER DATABASE {name} SET default_transaction_read_only = {truth}"
        )

    await set_read_only("on")
    await database.close()
    await database.open()
    async with database.read() as tx:
        assert await tx.users.count() == 0
    with pytest.raises(Unavailable, match="read-only"):
        await add(database, a_user(1))

    # A former standby may be the primary now, or the URL may mean another server.
    await set_read_only("off")
    await add(database, a_user(1))


async def test_database_user_with_password_connects(url: str) -> None:
    asked = postgres.WITH_PASSWORD
    await postgres.server().run(f"CREATE USER {asked} PASSWORD 'p/w' CONNECTION LIMIT 1")
    right = url.replace("postgres@", f"{asked}:p%2Fw@")
    try:
        for wrong in (right.replace("p%2Fw", "mistyped"), right.replace(":p%2Fw", "")):
            with pytest.raises(Unavailable, match="user name or the password") as error:
                await database_at(wrong).open()
            assert "mistyped" not in "".join(traceback.format_exception(error.value))
        database = database_at(right)
        await database.open()
        with pytest.raises(Unavailable, match="grant"):
            async with database.read() as tx:
                await tx.users.count()
        with pytest.raises(Unavailable, match="no free connection"):
            await database_at(right).open()
        await database.close()
    finally:
        await postgres.server().run(f"DROP USER {asked}")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("/test_", "/no_such_"), "no database of that name"),
        (("host=", "host=/nowhere"), "cannot be reached"),
        (("host=", "sslmode=nonsense&host="), "PHONEPROV_DATABASE_URL"),
        (("host=", "statement_tmeout=1&host="), "schema|cannot be used"),
    ],
)
async def test_wrong_address_is_unavailable(
    url: str, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(Unavailable, match=expected):
        await database_at(url.replace(*change)).open()


async def test_lost_durability_is_logged_at_start(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = database_at(url + "&synchronous_commit=off")
    with caplog.at_level(logging.WARNING, "phoneprov.database"):
        await database.open()
    await database.close()

    messages = [record.getMessage() for record in caplog.records]
    assert any("synchronous_commit is off" in line for line in messages)


async def test_deadlines_are_set_on_the_server(short_deadline_database: PostgresDatabase) -> None:
    driver = (await short_deadline_database._connect()).driver
    try:
        rows = await driver.fetch("SELECT name, setting FROM pg_settings WHERE unit = 'ms'")
    finally:
        await driver.close()

    settings = {name: int(setting) / 1000 for name, setting in rows}
    assert settings["statement_timeout"] == SHORT.statement
    assert settings["idle_in_transaction_session_timeout"] == pytest.approx(
        SHORT.total + SHORT.answer
    )


async def test_open_synchronous_commit_off_logs_a_warning(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = database_at(f"{url}{'&' if '?' in url else '?'}synchronous_commit=off")

    with caplog.at_level(logging.WARNING, "phoneprov.database"):
        await database.open()
    await database.close()

    expected = "The database may lose what it acknowledged: synchronous_commit is off."
    assert expected in [record.getMessage() for record in caplog.records]
