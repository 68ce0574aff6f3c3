"""A service whose schema is not that of the database changes nothing."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.composition.adapters import OwnDatabase, database_at
from phoneprov_adapters.composition.lifecycle import prepare, readiness, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines import revisions
from phoneprov_adapters.sql.engines.postgres import PRIVILEGES
from phoneprov_adapters.sql.engines.revisions import UnfitSchema, known, obstacle
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from support import later_revision, postgres
from support.command_line import PROGRAM, without_settings
from support.phone_records import a_phone
from support.polling import until
from support.records import a_session, a_user, identifier
from support.scale import rounds
from support.stores import KEY

ADA = Actor(identifier(77), 0, username="ada")
UPGRADED = "UPDATE alembic_version SET version_num = '9999'"


@pytest.fixture
async def service(url_without_schema: str) -> AsyncIterator[OwnDatabase]:
    """The database as a running service has opened it."""
    await migrate.upgrade(url_without_schema)
    opened = database_at(url_without_schema, SecretBox(SecretKeys.parse(KEY)))
    await opened.open()
    async with opened.write() as tx:
        await tx.users.add(a_user(1))
        await tx.sessions.start(a_session(1, identifier(1)))
        await tx.phones.add(a_phone(9))
    yield opened
    await opened.close()


async def add_one(database: OwnDatabase) -> None:
    async with database.write() as tx:
        await tx.phones.add(a_phone(1))


async def add_one_with_an_entry(database: OwnDatabase) -> None:
    async with database.write(by=ADA) as tx:
        await tx.phones.add(a_phone(1))


async def add_two(database: OwnDatabase) -> None:
    async with database.write(by=ADA) as tx:
        await tx.phones.add(a_phone(1))
        await tx.phones.add(a_phone(2))


async def remove(database: OwnDatabase) -> None:
    async with database.write() as tx:
        await tx.phones.remove(a_phone(9).mac)


async def exchange(database: OwnDatabase) -> None:
    async with database.write() as tx:
        await tx.sessions.replace_token(identifier(1), "t1", "t2", now=2000, expires_at=8000)


async def add_together(database: OwnDatabase) -> None:
    """On SQLite the transactions of some writers are committed together."""

    async def add(number: int) -> None:
        async with database.write(by=ADA) as tx:
            await tx.phones.add(a_phone(number))

    outcomes = await asyncio.gather(*map(add, range(1, 6)), return_exceptions=True)
    assert all(isinstance(one, Unavailable) for one in outcomes)
    raise outcomes[0]  # type: ignore[misc]


@pytest.mark.parametrize(
    "write", [add_one, add_one_with_an_entry, add_two, remove, exchange, add_together]
)
async def test_write_after_an_upgrade_by_another_version_is_refused(
    service: OwnDatabase, write: Callable[[OwnDatabase], Awaitable[None]]
) -> None:
    async def rows() -> list[Any]:
        async with service.read() as tx:
            return list(await tx.phones.rows(9))

    before = await rows()
    await change(service, UPGRADED)

    for _ in range(2):
        with pytest.raises(Unavailable, match="schema is not the one this version needs"):
            await write(service)
    assert await rows() == before

    await change(service, "UPDATE alembic_version SET version_num = '0100'")
    await add_one(service)


async def change(database: OwnDatabase, sql: str) -> None:
    """As another process."""

    def execute(connection: Any) -> None:
        with connection.begin():
            connection.exec_driver_sql(sql)

    await migrate.with_connection(database.url, execute)


async def test_writes_during_an_upgrade_are_found_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older host continues to write: no record is committed after the upgrade, and search finds
    every one of them."""
    steps = tmp_path / "versions"
    shutil.copytree(revisions.STEPS, steps)
    shutil.copy(later_revision.__file__, steps / "0999_later.py")
    async with postgres.new_database() as url:
        database = database_at(url, SecretBox(SecretKeys.parse(KEY)))
        await database.open()
        numbers = iter(range(1, 100_000))
        refused: list[str] = []
        accepted: list[int] = []

        async def write() -> None:
            while not any("schema is not the one" in message for message in refused):
                number = next(numbers)
                try:
                    async with database.write(by=ADA if number % 3 else None) as tx:
                        await tx.phones.add(a_phone(number, name=f"desk {number}"))
                        if number % 2:
                            await tx.flush()
                    accepted.append(number)
                except Unavailable as error:
                    refused.append(error.message)
                await asyncio.sleep(0.005)  # without a gap, a busy machine never grants the lock

        writers = [asyncio.create_task(write()) for _ in range(4)]
        await until(lambda: len(accepted) > rounds(200, 2000))
        monkeypatch.setattr(revisions, "STEPS", steps)
        monkeypatch.setattr(revisions, "known", known.__wrapped__)
        await migrate.upgrade(url)
        at_the_end = len(accepted)
        async with asyncio.timeout(60):  # until they are refused
            await asyncio.gather(*writers)

        async with database.read() as tx:
            assert await tx.phones.count() == len(accepted)
        found = await postgres.ask(url, "SELECT count(*) FROM phones WHERE search LIKE '%desk %'")
        assert found[0][0] == len(accepted) == at_the_end
        rooms = await postgres.ask(url, "SELECT count(*) FROM phones WHERE room IS NOT NULL")
        assert rooms[0][0] == len(accepted)
        await database.close()


@pytest.mark.parametrize("table", ["audit", "alembic_version", "users"])
async def test_missing_privilege_fails_readiness_and_is_named(tmp_path: Path, table: str) -> None:
    async with postgres.new_database() as url:
        await postgres.ask(
            url,
            "DROP ROLE IF EXISTS limited; CREATE ROLE limited LOGIN;"
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO limited;"
            "REVOKE UPDATE, DELETE ON audit FROM limited; REVOKE INSERT, DELETE ON alembic_version"
            " FROM limited",
        )
        settings = read_settings(
            {
                "PHONEPROV_DATA_DIR": str(tmp_path),
                "PHONEPROV_DATABASE_URL": url.replace("postgres@", "limited@"),
            }
        )
        container = prepare(settings)
        ready = readiness(container)
        async with running(container):
            assert await ready() is None
            last = PRIVILEGES[table].rpartition(",")[2]
            await postgres.ask(url, f"REVOKE {last} ON {table} FROM limited")
            assert f"user limited lacks {last} on {table}." in (await ready() or "")
            await postgres.ask(url, f"REVOKE ALL ON {table} FROM limited")
            assert await ready() is not None
            if table == "audit":  # lacks two of it, and four of the phones: five are named
                await postgres.ask(url, "REVOKE ALL ON phones FROM limited")
                assert " and 1 other privileges. " in (await ready() or "")
        await postgres.ask(url, "DROP OWNED BY limited; DROP ROLE limited")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (UPGRADED, "is newer than 0100"),
        ("UPDATE alembic_version SET version_num = '0015'", "before 0.2.0"),
        ("DROP SCHEMA public CASCADE; CREATE SCHEMA public", "has no schema yet"),
    ],
)
async def test_serve_on_another_schema_starts_and_answers_503_until_it_fits(
    tmp_path: Path, change: str, expected: str
) -> None:
    async with postgres.new_database() as url:
        await postgres.ask(url, change + ";")
        process = await asyncio.create_subprocess_exec(
            *(*PROGRAM, "serve", "--port", "0"),
            env=without_settings(PHONEPROV_DATA_DIR=str(tmp_path), PHONEPROV_DATABASE_URL=url),
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        try:
            lines: list[str] = []
            while "serves on" not in (lines or [""])[-1]:
                lines.append((await process.stderr.readline()).decode())
                assert lines[-1], lines
            assert any(expected in line and "Requests are answered 503" in line for line in lines)
            port = int(lines[-1].partition("http://127.0.0.1:")[2].split()[0])

            status, body = await get(port, "/health/ready")
            assert status == 503
            assert expected in body
            login = '{"username": "ada", "password": "correct horse"}'
            assert (await get(port, "/api/v1/auth/login", login))[0] == 503

            await postgres.ask(url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            await migrate.upgrade(url)
            assert (await get(port, "/health/ready"))[0] == 200
            assert (await get(port, "/api/v1/auth/login", login))[0] == 401
        finally:
            process.terminate()
            await process.communicate()


async def get(port: int, path: str, body: str = "") -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: phoneprov\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    answer = (await reader.read()).decode()
    writer.close()
    return int(answer.split()[1]), answer.partition("\r\n\r\n")[2]


async def test_open_of_a_service_with_another_schema_is_refused(service: OwnDatabase) -> None:
    await change(service, UPGRADED)
    container = prepare(
        read_settings({"PHONEPROV_SECRET_KEYS": KEY, "PHONEPROV_DATABASE_URL": service.url})
    )
    with pytest.raises(UnfitSchema, match="newer than"):
        async with running(container):
            raise AssertionError("it must not start")


def test_obstacle_of_an_older_schema_names_the_upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    assert obstacle("0100") is None
    monkeypatch.setattr(revisions, "known", lambda: ("0100", "0101"))
    assert obstacle("0101") is None
    assert obstacle("0100") == (
        "The database's schema 0100 is older than 0101, which this version needs. "
        "Run phoneprov db upgrade."
    )
    assert "Start the newer version" in (obstacle("0102") or "")
    assert "Run phoneprov db upgrade" in (obstacle(None) or "")
