"""The rate of a batch, compared with a bare aioftp loop: python -m bench.batch_rate.

The FTP server of the simulated phone and the web server of all phones run in processes of their
own. The bare loop uploads a file under a temporary name, reads it back, renames it and reads it
back again, over one connection a phone, with the concurrency of the batch. It runs before and after
the batch, and both runs count in its rate. The batch does the same for each phone and all other
parts of a deployment: lease and record in a SQLite file, leftovers, the phone's service session,
the restart.

The restart of a phone over its web server includes pauses of two seconds in all between its keys,
in which nothing is sent; they are left out unless ``--pauses`` is given.

The processor time counts, of this process and of both servers: on busy processors the rate follows
from it, and other programs disturb it less than the duration. Exits with 1 if the batch reaches
less than GOAL per cent of the bare rate.
"""

import asyncio
import cProfile
import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import aioftp
import click
import uvloop

from bench.outside import FTP_PASSWORD, FTP_USER, ftp_process, started, web_process
from bench.process import cpu_seconds, descendants, resident_mib
from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.phone.http import PhoneWeb
from phoneprov_core.application import UseCases
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Batch
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.users.model import Registration
from phoneprov_core.switching.devices.ports import KeyPress, Proceed, always

CONTENT = b"<device><deviceProtocol>SCCP</deviceProtocol>" + b" " * 8000 + b"</device>\n"
FLOOR = "the floor"


@click.command()
@click.option("--phones", default=1000, show_default=True)
@click.option("--at-once", default=40, show_default=True)
@click.option("--goal", default=60, show_default=True, help="Per cent of the bare rate.")
@click.option("--restart", type=click.Choice(["http", "none"]), default="http", show_default=True)
@click.option("--pauses", is_flag=True, help="With the pauses between a phone's keys.")
@click.option("--confirm", default=0, show_default=True, help="Watch each phone for so long.")
@click.option("--profile", type=click.Path(), help="Write what cProfile sees of the batch here.")
def batch_rate(
    phones: int,
    at_once: int,
    goal: int,
    restart: str,
    confirm: int,
    profile: str | None,
    *,
    pauses: bool,
) -> None:
    """Print the rates of a batch of PHONES phones and of a bare loop."""
    profiler = cProfile.Profile() if profile else None
    if not pauses:
        remove_pauses()
    with tempfile.TemporaryDirectory(prefix="phoneprov-batch-") as temporary:
        folder = Path(temporary)
        for name in ("bare-1", "bare-2"):
            (folder / name).mkdir()
        with surroundings(folder, restart, confirm) as (environment, ftp_port):
            bare = [bare_loop(ftp_port, "bare-1", phones, at_once)]
            batch = measured(environment, phones, at_once, profiler)
            bare.append(bare_loop(ftp_port, "bare-2", phones, at_once))
        for name in ("batch", "bare-1", "bare-2"):
            assert len(list((folder / name).iterdir())) == phones
    if profiler:
        profiler.dump_stats(str(profile))
    percent = 100 * statistics.mean(one.everywhere for one in bare) / batch.everywhere
    of_seconds = 100 * statistics.mean(one.seconds for one in bare) / batch.seconds
    for name, one in (("bare loop", bare[0]), ("batch", batch), ("bare loop", bare[1])):
        click.echo(
            f"{name}: {phones / one.seconds:.1f} phones/s, "
            f"{1000 * one.processor / phones:.1f} ms of processor each, "
            f"{1000 * one.everywhere / phones:.1f} ms with the servers"
        )
    click.echo(
        f"The batch comes to {percent:.0f} % of the bare loop by processor time, "
        f"{of_seconds:.0f} % by duration; {batch.memory}."
    )
    if percent < goal:
        sys.exit(1)


class Took(NamedTuple):
    """Duration of a run, and the processor time of this process in it, and of all processes."""

    seconds: float
    processor: float
    everywhere: float
    memory: str = ""


class Clocks:
    """Measures from the moment of its creation."""

    def __init__(self) -> None:
        self._began = self._now()

    def took(self) -> Took:
        seconds, processor, servers = (
            now - then for now, then in zip(self._now(), self._began, strict=True)
        )
        return Took(seconds, processor, processor + servers)

    def _now(self) -> tuple[float, float, float]:
        servers = sum(cpu_seconds(pid) for pid in descendants(os.getpid()))
        return time.monotonic(), time.process_time(), servers


@contextmanager
def surroundings(
    folder: Path, restart: str = "http", confirm: int = 0
) -> Iterator[tuple[dict[str, str], int]]:
    """The servers that a batch in ``folder`` needs: its settings, and the port of the FTP
    server."""
    (folder / "batch").mkdir()
    with started(ftp_process, str(folder)) as ftp_port, started(web_process) as web_port:
        yield (
            {
                "PHONEPROV_DATA_DIR": str(folder / "data"),
                "PHONEPROV_FTP_HOST": "127.0.0.1",
                "PHONEPROV_FTP_PORT": str(ftp_port),
                "PHONEPROV_FTP_USER": FTP_USER,
                "PHONEPROV_FTP_PASSWORD": FTP_PASSWORD,
                "PHONEPROV_FTP_DIRECTORY": "batch",
                "PHONEPROV_PHONE_HTTP_PORT": str(web_port),
                "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
                "PHONEPROV_RESTART": restart,
                "PHONEPROV_CONFIRM_TIMEOUT": str(confirm),
            },
            ftp_port,
        )


def measured(
    environment: dict[str, str], phones: int, at_once: int, profiler: cProfile.Profile | None = None
) -> Took:
    """The duration of a batch, recorded by ``profiler`` if given."""
    if profiler is None:
        return uvloop.run(run_batch(environment, phones, at_once))
    profiler.enable()
    try:
        return uvloop.run(run_batch(environment, phones, at_once))
    finally:
        profiler.disable()


async def run_batch(environment: dict[str, str], phones: int, at_once: int) -> Took:
    settings = read_settings(environment)
    container = prepare(settings)
    await create_database(settings)
    async with running(container):
        use_cases = container.use_cases()
        profile_uuid = await an_office(container, use_cases, phones)
        new = CreateBatch(
            action="switch", profile_uuid=profile_uuid, location=FLOOR, at_once=at_once
        )
        resident = [resident_mib(os.getpid())]
        clocks = Clocks()
        batch = await use_cases.batches.start(use_cases.system_actor(), new)
        while batch.ended_at is None:
            await asyncio.sleep(0.2)
            batch = await use_cases.batches.get(use_cases.system_actor(), batch.uuid)
            resident.append(resident_mib(os.getpid()))
        took = clocks.took()
        await _require_done(use_cases, batch)
        middle = resident[len(resident) // 3]
        memory = (
            f"memory: {resident[0]:.0f} MiB before, {middle:.0f} after a third, "
            f"{max(resident):.0f} at most"
        )
        return took._replace(memory=memory)


async def _require_done(use_cases: UseCases, batch: Batch) -> None:
    if batch.phones.done == batch.phones.total:
        return
    phones = await use_cases.batches.phones(use_cases.system_actor(), batch.uuid)
    failed = next(phone for phone in phones.first if phone.message)
    raise click.ClickException(f"{batch.phones}: {failed.message}")


async def an_office(container: Container, use_cases: UseCases, phones: int) -> str:
    """Create ``phones`` phones and one profile for all of them; returns its uuid."""
    made = await use_cases.create_admin(
        Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password="correct horse battery",
        )
    )
    now = timestamp(container.clock()())
    async with container.database().write() as tx:
        for number in range(phones):
            octets = number.to_bytes(3, "big")
            await tx.phones.add(
                Phone(
                    mac="00:1B:D4:" + ":".join(f"{octet:02X}" for octet in octets),
                    brand=None,
                    model="CP-7945G",
                    description=None,
                    name=None,
                    hostname=None,
                    location=FLOOR,
                    phone_ip=f"127.1.{octets[1]}.{octets[2]}",
                    phone_vlan=None,
                    software_version=None,
                    software_type="SCCP",
                    is_active=True,
                    created_at=now,
                    updated_at=now,
                )
            )
    new = CreateProfile(user_uuid=made.user.uuid, name="The floor", cnf_xml=CONTENT.decode())
    return (await use_cases.profiles.create(use_cases.system_actor(), new)).uuid


def bare_loop(port: int, folder: str, phones: int, at_once: int) -> Took:
    """Duration of as many uploads with aioftp alone."""
    clocks = Clocks()
    uvloop.run(put_all(port, folder, phones, at_once))
    return clocks.took()


async def put_all(port: int, folder: str, phones: int, at_once: int) -> None:
    """Upload a file for each phone, ``at_once`` at a time."""
    waiting = iter(range(phones))

    async def put() -> None:
        for number in waiting:
            name, temporary = f"SEP{number:012X}.cnf.xml", f".SEP{number:012X}.tmp"
            async with aioftp.Client.context("127.0.0.1", port, FTP_USER, FTP_PASSWORD) as client:
                await client.change_directory(folder)
                async with client.upload_stream(temporary) as stream:
                    await stream.write(CONTENT)
                await read_back(client, temporary)
                await client.rename(temporary, name)
                await read_back(client, name)

    await asyncio.gather(*(put() for _ in range(at_once)))


async def read_back(client: aioftp.Client, name: str) -> None:
    content = io.BytesIO()
    async with client.download_stream(name) as stream:
        async for block in stream.iter_by_block():
            content.write(block)
    assert content.getvalue() == CONTENT


def remove_pauses() -> None:
    """Remove the pauses between the keys of a phone."""
    execute = PhoneWeb.execute

    async def execute_without_pauses(
        self: PhoneWeb,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        await execute(self, phone_ip, [KeyPress(command.uri) for command in commands], mac, proceed)

    PhoneWeb.execute = execute_without_pauses  # type: ignore[method-assign]


if __name__ == "__main__":
    batch_rate()
