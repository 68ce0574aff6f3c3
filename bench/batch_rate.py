"""How fast a batch is, beside a bare aioftp loop: python bench/batch_rate.py.

An FTP server (pyftpdlib) and the web server of all phones run in processes of their own. The
bare loop does nothing but put a file under a temporary name, read it back, rename it and read
it back again, over one connection a phone, as many at once as the batch. It runs before and
behind the batch, and both go into its rate. The batch does the same for each phone and all
else that a deployment is: lease and record in a SQLite file, leftovers, the phone's service
session, the restart.

A phone that is restarted over its web needs pauses between its keys, two seconds in all, in
which nothing is done; they are left out unless ``--pauses`` is given. Ends with 1 when the batch
comes to less than GOAL per cent of the bare rate.
"""

from __future__ import annotations

import asyncio
import cProfile
import io
import logging
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import aioftp
import click
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

from phoneprov_adapters.container import Container
from phoneprov_adapters.phone.http import PhoneWeb
from phoneprov_adapters.settings import read_settings
from phoneprov_adapters.simulator.web import PhoneWebServer, WebPhone
from phoneprov_adapters.wiring import migrate_embedded, prepare, running
from phoneprov_core.application import UseCases
from phoneprov_core.batches.model import Batch, NewBatch
from phoneprov_core.kernel.times import shown
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import NewProfile
from phoneprov_core.profiles.ports import KeyPress
from phoneprov_core.users.model import Registration

USER, PASSWORD = "phoneprov", "ftp-secret"
CONTENT = b"<device><deviceProtocol>SCCP</deviceProtocol>" + b" " * 8000 + b"</device>\n"
FLOOR = "the floor"


@click.command()
@click.option("--phones", default=1000, show_default=True)
@click.option("--at-once", default=50, show_default=True)
@click.option("--goal", default=70, show_default=True, help="Per cent of the bare rate.")
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
    """Print the rate of a batch of PHONES phones beside that of a bare loop."""
    with tempfile.TemporaryDirectory(prefix="phoneprov-batch-") as temporary:
        folder = Path(temporary)
        with started(ftp_process, str(folder)) as ftp_port, started(web_process) as web_port:
            environment = {
                "PHONEPROV_DATA_DIR": str(folder / "data"),
                "PHONEPROV_FTP_HOST": "127.0.0.1",
                "PHONEPROV_FTP_PORT": str(ftp_port),
                "PHONEPROV_FTP_USER": USER,
                "PHONEPROV_FTP_PASSWORD": PASSWORD,
                "PHONEPROV_FTP_DIRECTORY": "batch",
                "PHONEPROV_PHONE_HTTP_PORT": str(web_port),
                "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
                "PHONEPROV_RESTART": restart,
                "PHONEPROV_CONFIRM_TIMEOUT": str(confirm),
            }
            for name in ("batch", "bare-1", "bare-2"):
                (folder / name).mkdir()
            if not pauses:
                hurry()
            bare = [asyncio.run(bare_loop(ftp_port, "bare-1", phones, at_once))]
            seconds, memory = measured(environment, phones, at_once, profile)
            bare.append(asyncio.run(bare_loop(ftp_port, "bare-2", phones, at_once)))
            for name in ("batch", "bare-1", "bare-2"):
                assert len(list((folder / name).iterdir())) == phones
    bare_rate = phones / statistics.mean(bare)
    rate = phones / seconds
    percent = 100 * rate / bare_rate
    click.echo(
        f"bare aioftp loop: {bare_rate:.1f} phones/s ({', '.join(f'{s:.1f} s' for s in bare)})"
    )
    click.echo(f"batch: {rate:.1f} phones/s ({seconds:.1f} s), {percent:.0f} % of the bare loop")
    click.echo(f"memory: {memory}")
    if percent < goal:
        sys.exit(1)


def measured(
    environment: dict[str, str], phones: int, at_once: int, profile: str | None
) -> tuple[float, str]:
    """The seconds that the batch takes, and what became of the memory."""
    profiler = cProfile.Profile() if profile else None
    if profiler:
        profiler.enable()
    took = asyncio.run(run_batch(environment, phones, at_once))
    if profiler:
        profiler.disable()
        profiler.dump_stats(str(profile))
    return took


async def run_batch(environment: dict[str, str], phones: int, at_once: int) -> tuple[float, str]:
    settings = read_settings(environment)
    container = prepare(settings)
    await migrate_embedded(settings)
    async with running(container) as use_cases:
        profile_uuid = await an_office(container, use_cases, phones)
        new = NewBatch(action="switch", profile_uuid=profile_uuid, location=FLOOR, at_once=at_once)
        resident = [_resident()]
        began = time.monotonic()
        batch = await use_cases.batches.start(use_cases.system_actor(), new)
        while batch.ended_at is None:
            await asyncio.sleep(0.2)
            batch = await use_cases.batches.get(use_cases.system_actor(), batch.uuid)
            resident.append(_resident())
        seconds = time.monotonic() - began
        await _require_done(use_cases, batch)
        middle = resident[len(resident) // 3]
        told = (
            f"{resident[0]:.0f} MiB before, {middle:.0f} MiB after a third, "
            f"{max(resident):.0f} MiB at most"
        )
        return seconds, told


async def _require_done(use_cases: UseCases, batch: Batch) -> None:
    if batch.phones.done == batch.phones.total:
        return
    phones = await use_cases.batches.phones(use_cases.system_actor(), batch.uuid)
    failed = next(phone for phone in phones.first if phone.message)
    raise click.ClickException(f"{batch.phones}: {failed.message}")


async def an_office(container: Container, use_cases: UseCases, phones: int) -> str:
    """An inventory of so many phones, and a profile for all of them; its uuid."""
    made = await use_cases.create_admin(
        Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password="correct horse battery",
        )
    )
    now = shown(container.clock()())
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
    new = NewProfile(user_uuid=made.user.uuid, name="The floor", cnf_xml=CONTENT.decode())
    return (await use_cases.profiles.create(use_cases.system_actor(), new)).uuid


async def bare_loop(port: int, folder: str, phones: int, at_once: int) -> float:
    """The seconds that it takes to put so many files in place with aioftp alone."""
    waiting = iter(range(phones))

    async def put() -> None:
        for number in waiting:
            name, temporary = f"SEP{number:012X}.cnf.xml", f".SEP{number:012X}.tmp"
            async with aioftp.Client.context("127.0.0.1", port, USER, PASSWORD) as client:
                await client.change_directory(folder)
                async with client.upload_stream(temporary) as stream:
                    await stream.write(CONTENT)
                await read_back(client, temporary)
                await client.rename(temporary, name)
                await read_back(client, name)

    began = time.monotonic()
    await asyncio.gather(*(put() for _ in range(at_once)))
    return time.monotonic() - began


async def read_back(client: aioftp.Client, name: str) -> None:
    content = io.BytesIO()
    async with client.download_stream(name) as stream:
        async for block in stream.iter_by_block():
            content.write(block)
    assert content.getvalue() == CONTENT


def hurry() -> None:
    """From now on no pause is made between the keys of a phone."""
    execute = PhoneWeb.execute

    async def hurried(self: PhoneWeb, phone_ip: str, commands: Sequence[KeyPress]) -> None:
        await execute(self, phone_ip, [KeyPress(command.uri) for command in commands])

    PhoneWeb.execute = hurried  # type: ignore[method-assign]


def ftp_process(told: Connection, folder: str) -> None:
    """An FTP server, until it is ended."""
    logging.basicConfig(level=logging.CRITICAL)
    authorizer = DummyAuthorizer()
    authorizer.add_user(USER, PASSWORD, folder, perm="elradfmw")
    handler = type("Handler", (FTPHandler,), {"authorizer": authorizer})
    server = FTPServer(("127.0.0.1", 0), handler, backlog=512)
    server.max_cons = 1024
    told.send(server.address[1])
    server.serve_forever()


def web_process(told: Connection) -> None:
    """The web server of every phone on loopback, until it is ended."""

    async def serve() -> None:
        phone = WebPhone(mac="00:1B:D4:00:00:00", model="CP-7945G", name="SEP001BD4000000")
        told.send(await PhoneWebServer(phone, lambda _: None).start("0.0.0.0", 0))  # noqa: S104
        await asyncio.Event().wait()

    asyncio.run(serve())


@contextmanager
def started(program: object, *arguments: str) -> Iterator[int]:
    """A program in a process of its own; the port it tells."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=program, args=(theirs, *arguments), daemon=True)  # type: ignore[arg-type]
    process.start()
    try:
        assert ours.poll(30), "it did not start"
        yield int(ours.recv())
    finally:
        process.terminate()
        process.join()


def _resident() -> float:
    """Mebibytes of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    batch_rate()
