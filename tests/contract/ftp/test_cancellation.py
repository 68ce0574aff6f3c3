"""Cancellation at every point of an upload."""

import asyncio
from functools import partial
from time import perf_counter

import pytest

from phoneprov_adapters.ftp.client import Tls
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.switching.devices.ports import Upload
from support.ftp_faults import Fault
from support.ftp_rigs import LOOPBACK, Certificates, settings_for
from support.ftp_scripted import ScriptedFtp

NAME = "SEP001122334455.cnf.xml"
SOON = 4.0
"""Seconds; an uploader that waits for a response takes longer."""

OLD, NEW = b"old" * 7000, b"new!" * 40_000


def uploading(server: ScriptedFtp, certificates: Certificates) -> asyncio.Task[object]:
    tls: Tls = "off" if server.tls is None else "explicit"
    settings = settings_for(server.port, tls, certificates.ca)
    uploader = FtpUploader(settings, PhoneNetworks.parse(LOOPBACK))
    server.files = {f"/{NAME}": OLD}
    return asyncio.ensure_future(uploader.upload(Upload("127.0.0.1", NAME, NEW, "a-1")))


def cancel_at(
    server: ScriptedFtp, number: int, task: asyncio.Task[object], verb: str, rest: str
) -> None:
    if len(server.seen) == number:
        task.cancel()


@pytest.mark.parametrize("renames_over", [True, False])
@pytest.mark.parametrize("secure", [False, True])
async def test_upload_cancelled_at_each_command_closes_its_sockets(
    secure: bool, renames_over: bool, certificates: Certificates
) -> None:
    server = ScriptedFtp(certificates.context() if secure else None)
    server.renames_over = renames_over
    async with server.serving():
        await uploading(server, certificates)
        commands = len(server.seen)

        for number in range(1, commands):
            server.seen.clear()
            task = uploading(server, certificates)
            server.on_verb = partial(cancel_at, server, number, task)
            started = perf_counter()
            await asyncio.wait({task})

            assert task.cancelled(), server.seen
            assert perf_counter() - started < SOON
            await server.quiet()
            assert server.files[f"/{NAME}"] in {OLD, NEW}


@pytest.mark.parametrize("renames_over", [True, False])
@pytest.mark.parametrize("secure", [False, True])
async def test_upload_cancelled_at_many_loop_iterations_closes_its_sockets(
    secure: bool, renames_over: bool, certificates: Certificates
) -> None:
    server = ScriptedFtp(certificates.context() if secure else None)
    server.renames_over = renames_over
    async with server.serving():
        turns, done = 0, False
        while not done:
            task = uploading(server, certificates)
            for _ in range(turns):
                await asyncio.sleep(0)
            done = task.done()
            task.cancel()
            await asyncio.wait({task})

            assert task.cancelled() or done
            await server.quiet()
            assert server.files[f"/{NAME}"] in {OLD, NEW}
            turns += 11

    assert turns > 100


@pytest.mark.parametrize("verb", ["USER", "STOR", "RETR", "RNTO"])
async def test_upload_cancelled_while_the_server_is_silent_closes_its_sockets_at_once(
    verb: str, certificates: Certificates
) -> None:
    server = ScriptedFtp()
    server.faults = [Fault(verb, "hang")]
    arrived = asyncio.Event()
    server.on_verb = lambda seen, rest: arrived.set() if seen == verb else None
    async with server.serving():
        task = uploading(server, certificates)
        await asyncio.wait_for(arrived.wait(), 60)
        started = perf_counter()
        task.cancel()
        await asyncio.wait({task})
        await server.quiet()

        assert task.cancelled()
        assert perf_counter() - started < SOON
        assert server.files[f"/{NAME}"] == OLD


async def test_upload_cancelled_between_two_renames_restores_the_file(
    certificates: Certificates,
) -> None:
    server = ScriptedFtp()
    server.renames_over = False
    async with server.serving():
        task = uploading(server, certificates)

        def cancel(verb: str, rest: str) -> None:
            if f"/{NAME}" not in server.files:
                task.cancel()

        server.on_verb = cancel
        await asyncio.wait({task})

        assert task.cancelled()
        assert server.files[f"/{NAME}"] == NEW
