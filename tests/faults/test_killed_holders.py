"""Leases of processes that were killed: those of this host are free at the next start."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from faults import holding
from phoneprov_adapters.composition import lifecycle
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.sql.engines import processes
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.processes import BOOT, Processes
from phoneprov_core.kernel.errors import Unavailable
from races.direct import KEY
from support.polling import until
from support.postgres import new_database
from support.records import a_mac


@asynccontextmanager
async def holder(
    environment: dict[str, str], mac: str, *system: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that holds the lease of a phone until the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, holding.__file__, mac, *map(str, system)),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        assert await process.stdout.readline() == b"held\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture(params=["sqlite", "postgres"])
async def environment(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[dict[str, str]]:
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path), "PHONEPROV_SECRET_KEYS": KEY}
    if request.param == "sqlite":
        await create_database(read_settings(environment))
        yield environment
        return
    async with new_database() as url:
        yield {**environment, "PHONEPROV_DATABASE_URL": url}


async def free_after_a_start(environment: dict[str, str], *macs: str) -> list[bool]:
    """Whether the phones are free after a start of the service."""
    container = prepare(read_settings(environment))
    async with running(container), container.database().read() as tx:
        return [await tx.leases.holder(mac) is None for mac in macs]


async def test_start_releases_what_killed_processes_of_this_host_held(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, rebooted, living, elsewhere = macs = [a_mac(number) for number in range(1, 5)]
    is_shared = "PHONEPROV_DATABASE_URL" in environment
    earlier, here, there = (tmp_path / name for name in ("boot_id", "machine-id", "another"))
    for file in (earlier, here, there):
        file.write_text(file.name)
    monkeypatch.setattr(processes, "MACHINE", here)
    async with (
        holder(environment, living, BOOT, here),
        holder(environment, killed, BOOT, here) as one,
        holder(environment, rebooted, earlier, here) as two,
        holder(environment, elsewhere, earlier, there) as other,
    ):
        assert await free_after_a_start(environment, *macs) == [False] * 4
        for each in (one, two, other):
            each.kill()
            await each.wait()
        # An embedded database has one host, which was started again.
        free = await free_after_a_start(environment, *macs)
        assert free == [True, True, False, not is_shared]
        assert await free_after_a_start(environment, *macs) == free


async def test_phone_is_free_soon_after_a_start_without_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that starts may be ready before its database is."""
    mac, opened = a_mac(1), PostgresDatabase.open

    async def is_late(database: PostgresDatabase) -> None:
        await opened(database)
        raise Unavailable("The database is starting.")

    async with new_database() as url:
        environment = {"PHONEPROV_DATA_DIR": str(tmp_path), "PHONEPROV_SECRET_KEYS": KEY}
        environment |= {"PHONEPROV_DATABASE_URL": url}
        async with holder(environment, mac, BOOT, processes.MACHINE) as process:
            process.kill()
            await process.wait()
        monkeypatch.setattr(PostgresDatabase, "open", is_late)
        container = prepare(read_settings(environment))
        async with running(container, may_be_offline=True), container.database().read() as tx:

            async def is_free() -> bool:
                return await tx.leases.holder(mac) is None

            await until(is_free, lifecycle.LOOK_SECONDS / 4)


@pytest.mark.parametrize("content", [None, b"", b"\n"])
async def test_host_without_an_identifier_judges_its_own_boot_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    """Containers share no identifier, or an empty one."""
    boot, machine, folder = (tmp_path / name for name in ("boot", "machine", "processes"))
    if content is not None:
        machine.write_bytes(content)
    monkeypatch.setattr(processes, "BOOT", boot)
    monkeypatch.setattr(processes, "MACHINE", machine)
    folder.mkdir()
    (folder / "a..one").touch()
    for now, found in (("two", []), ("one", ["a"]), ("one", [])):
        boot.write_text(now)
        async with Processes(folder, several_hosts=True).killed() as killed:
            assert killed == found


async def test_start_waits_for_another_one_that_releases_leases(tmp_path: Path) -> None:
    """Else a process serves while the phones are busy."""
    one, other = (Processes(tmp_path, several_hosts=True) for _ in range(2))
    with one.registered("one"), other.registered("other"):
        async with one.killed():
            waiting = asyncio.ensure_future(other.killed().__aenter__())
            await asyncio.sleep(0.05)
            assert not waiting.done()
        assert await waiting == []


async def test_process_without_a_folder_works_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    processes = Processes(tmp_path / "file" / "processes", several_hosts=True)
    with processes.registered("one"):
        async with processes.killed() as killed:
            assert killed == []
    assert "stay busy for up to a minute" in caplog.text
