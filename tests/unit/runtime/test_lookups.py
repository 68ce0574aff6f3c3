"""Names of servers: a silent DNS server is not a silent server of that name."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.ftp.session import FtpServer
from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.runtime.networks import connected, looked_up
from phoneprov_core.kernel.errors import Refused, TimedOut

STALLED = "stalled.example"
UNKNOWN = "unknown.example"


@pytest.fixture(autouse=True)
def name_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Name servers that do not answer for one name, and do not know another."""
    ended = threading.Event()
    real = socket.getaddrinfo

    def looked_up_there(host: Any, *values: Any, **named: Any) -> Any:
        if host in {STALLED, UNKNOWN}:
            ended.wait(0 if host == UNKNOWN else 2)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *values, **named)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up_there)
    yield
    ended.set()


async def test_lookup_that_stalls_ends_in_time_and_names_the_name_servers() -> None:
    async with asyncio.timeout(10):
        with pytest.raises(TimedOut, match=r"stalled.example of the server .* DNS servers"):
            await looked_up(STALLED, 21, "the server", 0.1)


async def test_lookup_of_an_unknown_name_is_refused_with_the_cause() -> None:
    with pytest.raises(Refused, match="cannot be looked up: Name or service not known"):
        await looked_up(UNKNOWN, 21, "the server", 5)
    with pytest.raises(Refused, match="not a valid name"):
        await looked_up("a" * 64 + ".example", 21, "the server", 5)


async def test_lookup_of_an_address_asks_no_name_server() -> None:
    assert await looked_up("127.0.0.1", 21, "the server", 0) == ["127.0.0.1"]
    assert await looked_up("::1", 21, "the server", 0) == ["::1"]
    assert "127.0.0.1" in await looked_up("localhost", 21, "the server", 5)


async def test_connection_goes_to_the_first_address_that_accepts_one() -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await connected(["127.0.0.2", "127.0.0.1"], port)
        assert writer.get_extra_info("peername")[0] == "127.0.0.1"
        writer.close()
    with pytest.raises(OSError, match=r"refused|Connect call failed"):
        await connected(["127.0.0.2", "127.0.0.1"], port)


@pytest.mark.parametrize(("host", "kind"), [(STALLED, TimedOut), (UNKNOWN, Refused)])
async def test_ftp_server_whose_name_is_not_found_is_not_called_silent(
    host: str, kind: type[Exception]
) -> None:
    server = FtpServer(host, FtpSettings(host=host), None)

    with pytest.raises(kind, match=f"The name {host} of the FTP server"):
        async with server.opened(server.steps(0.2, 5)):
            pass


@pytest.mark.parametrize(("host", "kind"), [(STALLED, TimedOut), (UNKNOWN, Refused)])
async def test_manager_whose_name_is_not_found_is_not_called_silent(
    host: str, kind: type[Exception]
) -> None:
    settings = ManagerSettings(host=host, user="phoneprov", secret="x" * 24, timeout=0.3)

    with pytest.raises(kind, match=f"The name {host} of Asterisk"):
        await ManagerConnection(settings).acquire(asyncio.get_running_loop().time() + 0.3)
