"""A URL with several hosts: the one that accepts changes is used."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import asyncpg
import pytest

from phoneprov_adapters.sql.engines.address import Host, PostgresAddress
from phoneprov_adapters.sql.engines.hosts import Hosts, NotPostgres
from phoneprov_adapters.sql.engines.revisions import Timelines
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.errors import Unavailable
from support import postgres
from support.postgres_databases import SHORT, database_at
from support.postgres_proxy import Proxy
from support.records import a_user, identifier
from support.replication import refusing_host


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for a socket; its path is short."""
    made = Path(tempfile.mkdtemp(prefix="phoneprov-host-"))
    yield made
    shutil.rmtree(made)


def after(folder: Path, url: str) -> str:
    """The URL of a database, with another host named first."""
    own = str(postgres.server().folder)
    return url.replace(f"host={own}", f"host={folder},{own}")


@pytest.mark.parametrize("state", ["57P03", "53300", "25006", "28000", "08006", None])
async def test_hosts_first_refuses_second_is_used(
    url: str, folder: Path, state: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    several = after(folder, url)
    async with refusing_host(folder, state):
        opened = database_at(several)
        await opened.open()
        async with opened.write() as tx:
            await tx.users.add(a_user(1))
        await opened.close()

        assert await migrate.current(several) is not None

    assert await postgres.ask(url, "SELECT uuid FROM users") == [(identifier(1),)]
    if state is not None:
        logged = [line for line in caplog.messages if str(folder) in line]
        assert len(logged) == 1  # of several failures
        assert state in logged[0]


async def test_hosts_first_does_not_exist_second_is_used(url: str, folder: Path) -> None:
    opened = database_at(after(folder, url))
    await opened.open()

    async with opened.write() as tx:
        await tx.users.add(a_user(1))

    await opened.close()
    assert await postgres.ask(url, "SELECT uuid FROM users") == [(identifier(1),)]


async def test_hosts_last_good_host_is_tried_first(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(PostgresAddress.parse(after(folder, url)))
    (await hosts.connect(20, 20, {})).driver.terminate()
    tried: list[Host] = []
    connect = PostgresAddress.connect

    async def recorded(self: PostgresAddress, host: Host, *rest: object) -> asyncpg.Connection:
        tried.append(host)
        return await connect(self, host, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PostgresAddress, "connect", recorded)

    (await hosts.connect(20, 20, {})).driver.terminate()

    assert [host.name for host in tried] == [str(postgres.server().folder)]


async def test_hosts_without_a_writable_one_are_reported(url: str) -> None:
    name = url.partition("@/")[2].partition("?")[0]
    await postgres.server().run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    opened = database_at(after(postgres.server().folder, url))

    with pytest.raises(Unavailable, match="No host of the database accepts changes"):
        await opened.open()

    await opened.close()


async def test_hosts_cancelled_connect_leaves_no_attempt(url: str, folder: Path) -> None:
    own = f"host={postgres.server().folder}"
    async with refusing_host(folder, None):
        hosts = Hosts(PostgresAddress.parse(url.replace(own, f"host={folder},{folder}")))
        connecting = asyncio.create_task(hosts.connect(30, 30, {}))
        await asyncio.sleep(0)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        assert not [task for task in asyncio.all_tasks() if "Hosts" in repr(task.get_coro())]


async def test_hosts_older_timeline_is_refused(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phoneprov_adapters.sql.engines.connection._logged_at", {})
    file = tmp_path / "timelines.json"
    opened = await Hosts(PostgresAddress.parse(url), Timelines(file)).connect(20, 20, {})
    opened.driver.terminate()
    assert opened.timeline == 1
    Timelines(file).saw(opened.cluster, 2)  # as another process does after a promotion

    with pytest.raises(Unavailable, match="replaced by a newer primary"):
        await Hosts(PostgresAddress.parse(url), Timelines(file)).connect(20, 20, {})

    assert any("timeline 1" in line and "Patroni" in line for line in caplog.messages)


async def test_hosts_ends_the_connection_that_asks_for_its_timeline_next_is_used(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = asyncpg.AdminShutdownError("terminating connection due to administrator command")
    ended.severity_en = "FATAL"
    failures, fetchrow = [ended], asyncpg.Connection.fetchrow

    async def fails_once(self: asyncpg.Connection, *query: str) -> object:
        if failures:
            raise failures.pop()
        return await fetchrow(self, *query)

    monkeypatch.setattr(asyncpg.Connection, "fetchrow", fails_once)
    several = PostgresAddress.parse(after(postgres.server().folder, url))

    opened = await Hosts(several).connect(20, 20, {})

    opened.driver.terminate()
    assert (failures, opened.timeline) == ([], 1)


async def test_hosts_newer_timeline_elsewhere_ends_connections(url: str, tmp_path: Path) -> None:
    timelines = Timelines(tmp_path / "timelines.json")
    opened = database_at(url, timelines=timelines)
    await opened.open()
    assert opened._pool is not None
    cluster = opened._pool.connections[0].cluster

    Timelines(tmp_path / "timelines.json").saw(cluster, 2)

    async with asyncio.timeout(60):
        while True:
            try:
                async with opened.read() as tx:
                    await tx.users.count()
            except Unavailable:
                break
            await asyncio.sleep(0.05)
    await opened.close()


def test_timelines_unreadable_file_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "timelines.json"
    file.write_text("[1")
    timelines = Timelines(file)
    timelines.saw("7", 3)
    timelines.saw("8", 1)
    assert (Timelines(file).newest("7"), Timelines(file).newest("8")) == (3, 1)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "version",
    [
        "CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)",
        "PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.77467",
        "PostgreSQL 14.0 (CrateDB 5.9)",
    ],
)
async def test_hosts_server_is_not_postgres_is_refused_by_name(
    url: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def report_version(*_: object) -> str:
        return version

    monkeypatch.setattr(asyncpg.Connection, "fetchval", report_version)

    with pytest.raises(NotPostgres) as refused:
        await database_at(url).open()
    assert version in refused.value.message

    with pytest.raises(NotPostgres):
        await migrate.current(url)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("u:p@db/x", [("db", None)]),
        ("u@db:1,db2:2/x", [("db", 1), ("db2", 2)]),
        ("u@[::1]:7,[::2]/x?port=9", [("::1", 7), ("::2", 9)]),
        ("u@/x?host=/run/a,db&port=1,2", [("/run/a", 1), ("db", 2)]),
        ("u@%2Frun%2Fa/x", [("/run/a", None)]),
        ("/x", [(None, None)]),
    ],
)
def test_address_hosts_are_read_as_libpq_does(
    text: str, hosts: list[tuple[str | None, int | None]]
) -> None:
    address = PostgresAddress.parse(f"postgresql+asyncpg://{text}")
    assert [(host.name, host.port) for host in address.hosts] == hosts


def test_address_of_another_database_is_refused() -> None:
    with pytest.raises(ValueError, match=r"begin with postgresql\+asyncpg"):
        PostgresAddress.parse("postgresql://db/x")


def test_address_unsupported_options_are_named() -> None:
    with pytest.raises(ValueError, match="connect_timeout, keepalives"):
        PostgresAddress.parse("postgresql+asyncpg://db/x?keepalives=1&connect_timeout=5")


@pytest.mark.parametrize("how", ["killed", "silent", "black hole", "57P03", "53300", "25006"])
async def test_hosts_first_fails_while_it_is_used_writes_continue_at_the_second(
    url: str, proxy: Proxy, how: str
) -> None:
    own = str(postgres.server().folder)
    opened = database_at(url.replace(f"host={own}", f"host={proxy.folder},{own}"), SHORT)
    await opened.open()
    acknowledged = []

    async def write(number: int) -> None:
        async with opened.write() as tx:
            await tx.users.add(a_user(number))
        acknowledged.append(identifier(number))

    await write(1)
    async with AsyncExitStack() as stack:
        if how == "silent":
            proxy.stop_forwarding()
        else:
            await proxy.refuse()
            if how != "killed":
                state = None if how == "black hole" else how
                await stack.enter_async_context(refusing_host(proxy.folder, state))
        number = 2
        async with asyncio.timeout(60):
            while len(acknowledged) < 3:
                with suppress(Unavailable):
                    await write(number)
                number += 1
        await opened.close()

    kept = {row[0] for row in await postgres.ask(url, "SELECT uuid FROM users")}
    assert set(acknowledged) <= kept
