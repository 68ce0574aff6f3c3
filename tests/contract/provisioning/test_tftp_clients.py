"""Real TFTP clients fetch from phoneprov's server, also through a network that loses packets.

``make test-tftp-clients`` installs all of them from Debian; elsewhere missing ones are skipped.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from phoneprov_adapters.serving.contents import MemoryFile
from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.server import Denied, Limits, OpenFile, TftpServer
from support.lossy_udp import Address, lossy
from support.polling import until
from support.scale import rounds

REQUIRED = bool(os.environ.get("PHONEPROV_TEST_TFTP_CLIENTS"))
NAME = "SEP001BD4123456.cnf.xml"
CONTENT = bytes(range(256)) * rounds(40, 400) + b"end"

CLIENTS: dict[str, list[str]] = {
    "tftp-hpa": ["tftp", "-m", "binary", "{host}", "{port}", "-c", "get", NAME, "{file}"],
    "atftp": ["atftp", "--get", "-r", NAME, "-l", "{file}", "{host}", "{port}"],
    "atftp with options": [
        *("atftp", "--option", "blksize 1024", "--option", "tsize 0", "--option", "timeout 1"),
        *("--get", "-r", NAME, "-l", "{file}", "{host}", "{port}"),
    ],
    "busybox": ["busybox", "tftp", "-g", "-r", NAME, "-l", "{file}", "{host}", "{port}"],
    "busybox with options": [
        *("busybox", "tftp", "-b", "1400", "-g", "-r", NAME, "-l", "{file}", "{host}", "{port}"),
    ],
    "curl": ["curl", "-sS", "-o", "{file}", f"tftp://{{host}}:{{port}}/{NAME}"],
    "curl without options": [
        *("curl", "-sS", "--tftp-no-options", "-o", "{file}"),
        f"tftp://{{host}}:{{port}}/{NAME}",
    ],
}


class Served(MemoryFile, OpenFile):
    """The file, with the record of its transfers."""

    def __init__(self, results: list[bool]) -> None:
        super().__init__(CONTENT)
        self._results = results

    def finish(self, *, is_complete: bool, size: int, seconds: float) -> None:
        self._results.append(is_complete)


@pytest.fixture
def results() -> list[bool]:
    return []


@pytest.fixture
async def server(results: list[bool]) -> AsyncIterator[Address]:
    async def open_file(name: str, client_ip: str) -> OpenFile | Denied:
        return Served(results) if name == NAME else Denied(ErrorCode.NOT_FOUND, "File not found.")

    server = TftpServer(open_file, Limits())
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: server, local_addr=("127.0.0.1", 0)
    )
    yield transport.get_extra_info("sockname")
    await server.close()


async def fetch(client: str, address: Address, file: Path) -> bytes:
    command = CLIENTS[client]
    if shutil.which(command[0]) is None:
        if REQUIRED:
            pytest.fail(f"{command[0]} is not installed")
        pytest.skip(f"{command[0]} is not installed; make test-tftp-clients installs it")
    host, port = address
    filled = [part.format(host=host, port=port, file=file) for part in command]
    process = await asyncio.create_subprocess_exec(
        *filled, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(120):
            output, _ = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    assert process.returncode == 0, output
    return file.read_bytes()


async def ended(results: list[bool]) -> list[bool]:
    await until(lambda: results)
    return results


@pytest.mark.parametrize("client", CLIENTS)
async def test_client_receives_the_exact_file(
    client: str, server: Address, results: list[bool], tmp_path: Path
) -> None:
    assert await fetch(client, server, tmp_path / "received") == CONTENT
    assert await ended(results) == [True]


@pytest.mark.skipif(not REQUIRED, reason="takes minutes: make test-tftp-clients")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("client", CLIENTS)
async def test_client_receives_the_exact_file_through_losses(
    client: str, seed: int, server: Address, tmp_path: Path
) -> None:
    # atftp 0.8.0 gives up when the packet with the options arrives twice, which RFC 2347 allows
    # after a loss. It is started again, as its users do.
    starts = 3 if client == "atftp with options" else 1
    async with lossy(server, 0.1, seed) as address:
        for start in range(starts):
            try:
                assert await fetch(client, address, tmp_path / "received") == CONTENT
            except AssertionError:
                if start + 1 == starts:
                    raise
            else:
                return
