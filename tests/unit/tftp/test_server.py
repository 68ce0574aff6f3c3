"""The TFTP server over loopback sockets."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from phoneprov_adapters.serving.contents import PIECE, DiskFile, MemoryFile
from phoneprov_adapters.tftp import server as tftp_server, transfer as transfer_module
from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.server import (
    EVICT_SECONDS,
    Denied,
    Limits,
    OpenFile,
    TftpServer,
)
from support.polling import until

CONTENT = bytes(range(256)) * 20


class Finished(NamedTuple):
    """How a transfer ended."""

    name: str
    served: bool
    bytes: int


class Recording(OpenFile):
    """A file whose transfer is recorded."""

    def __init__(self, name: str, file: MemoryFile | DiskFile, seen: list[Finished]) -> None:
        self._name = name
        self._file = file
        self._seen = seen

    @property
    def size(self) -> int:
        return self._file.size

    def loaded(self, offset: int, size: int) -> bytes | None:
        return self._file.loaded(offset, size)

    async def load(self, offset: int) -> None:
        await self._file.load(offset)

    def finish(self, *, is_complete: bool, size: int, seconds: float) -> None:
        self._file.close()
        self._seen.append(Finished(self._name, is_complete, size))


class Office:
    """A server, its records, and a client for it."""

    def __init__(self, server: TftpServer, address: tuple[str, int], seen: list[Finished]) -> None:
        self.server = server
        self.address = address
        self.recorded = seen

    async def request(self, packet: bytes) -> socket.socket:
        """A client socket that has sent a packet to the server."""
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.setblocking(False)
        client.bind(("127.0.0.1", 0))
        await asyncio.get_running_loop().sock_sendto(client, packet, self.address)
        return client


async def receive(client: socket.socket) -> tuple[bytes, tuple[str, int]]:
    async with asyncio.timeout(60):
        packet, address = await asyncio.get_running_loop().sock_recvfrom(client, 65536)
    return packet, address


async def send(client: socket.socket, packet: bytes, address: tuple[str, int]) -> None:
    await asyncio.get_running_loop().sock_sendto(client, packet, address)


async def fetch(office: Office, name: bytes, *options: bytes) -> bytes:
    client = await office.request(b"\0\x01" + b"\0".join([name, b"octet", *options]) + b"\0")
    content = b""
    size = int(options[options.index(b"blksize") + 1]) if b"blksize" in options else 512
    with client:
        while True:
            packet, transfer = await receive(client)
            if packet[1] == 5:
                raise AssertionError(packet)
            number = b"\0\0" if packet[1] == 6 else packet[2:4]
            await asyncio.get_running_loop().sock_sendto(client, b"\0\x04" + number, transfer)
            if packet[1] == 3:
                content += packet[4:]
                if len(packet) - 4 < size:
                    return content


async def recorded(office: Office, count: int) -> list[Finished]:
    await until(lambda: len(office.recorded) >= count and not office.server.transfers)
    return office.recorded


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    (tmp_path / "firmware").write_bytes(b"f" * (PIECE * 2 + 77))
    seen: list[Finished] = []

    async def open_file(name: str, client_ip: str) -> OpenFile | Denied:
        assert client_ip == "127.0.0.1"
        if name == "SEP001BD4123456.cnf.xml":
            return Recording(name, MemoryFile(CONTENT), seen)
        if name == "firmware":
            return Recording(name, DiskFile(tmp_path / "firmware"), seen)
        if name == "broken":
            raise RuntimeError("the database is away")
        return Denied(ErrorCode.NOT_FOUND, "There is no such file.")

    server = TftpServer(open_file, Limits(transfers=3, transfers_per_address=2))
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=("127.0.0.1", 0))
    yield Office(server, transport.get_extra_info("sockname"), seen)
    await server.close()


async def test_file_in_memory_is_served_and_recorded(office: Office) -> None:
    assert await fetch(office, b"SEP001BD4123456.cnf.xml") == CONTENT

    [finished] = await recorded(office, 1)
    assert finished.served
    assert finished.bytes == len(CONTENT)
    assert finished.name == "SEP001BD4123456.cnf.xml"


async def test_file_on_disk_is_served_in_pieces(office: Office) -> None:
    assert await fetch(office, b"firmware", b"blksize", b"1400") == b"f" * (PIECE * 2 + 77)


@pytest.mark.parametrize(
    ("name", "code"), [(b"missing", ErrorCode.NOT_FOUND), (b"broken", ErrorCode.UNDEFINED)]
)
async def test_request_without_a_file_gets_an_error_packet(
    office: Office, name: bytes, code: ErrorCode
) -> None:
    with await office.request(b"\0\x01" + name + b"\0octet\0") as client:
        packet, _ = await receive(client)

    assert packet[:4] == b"\0\x05\0" + bytes([code])
    assert await recorded(office, 0) == []


async def test_write_request_is_refused(office: Office) -> None:
    with await office.request(b"\0\x02a\0octet\0") as client:
        packet, _ = await receive(client)

    assert packet[:4] == b"\0\x05\0\x02"


async def test_malformed_packet_gets_no_answer_and_no_transfer(office: Office) -> None:
    clients = [await office.request(bytes([n % 256]) * (n % 700)) for n in range(300)]

    assert await fetch(office, b"SEP001BD4123456.cnf.xml") == CONTENT
    for client in clients:
        client.close()
    assert len(await recorded(office, 1)) == 1


async def test_transfers_of_one_address_are_limited(office: Office) -> None:
    request = b"\0\x01SEP001BD4123456.cnf.xml\0octet\0"
    first, second = await office.request(request), await office.request(request)
    await receive(first)
    await receive(second)
    with await office.request(request) as third:
        assert office.server.transfers == 2
        with pytest.raises(BlockingIOError):
            third.recv(100)
    first.close()
    second.close()


async def test_phone_that_lost_power_is_answered_anew_from_its_port(office: Office) -> None:
    request = b"\0\x01SEP001BD4123456.cnf.xml\0octet\0"
    client = await office.request(request)
    first, old = await receive(client)
    await send(client, b"\0\x04\0\x01", old)
    second, _ = await receive(client)
    assert (first[:4], second[:4]) == (b"\0\x03\0\x01", b"\0\x03\0\x02")

    began = time.monotonic()
    for _ in range(3):
        await send(client, request, office.address)
        again, new = await receive(client)
        assert (again, new != old) == (first, True)
        await send(client, b"\0\x04\0\x01", new)
        packet, old = await receive(client)
        assert packet == second
    while len(packet) == 516:
        await send(client, b"\0\x04" + packet[2:4], new)
        packet, _ = await receive(client)
    await send(client, b"\0\x04" + packet[2:4], new)

    assert [one.served for one in await recorded(office, 4)] == [False, False, False, True]
    assert (time.monotonic() - began < 1.0, office.server.transfers) == (True, 0)
    client.close()


async def test_request_that_repeats_before_an_acknowledgement_is_answered_from_the_same_port(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = b"\0\x01SEP001BD4123456.cnf.xml\0octet\0"
    client = await office.request(request)
    first = await receive(client)
    await send(client, request, office.address)
    assert await receive(client) == first  # the client may have begun with the first answer

    monkeypatch.setattr(
        transfer_module, "REPEAT_SECONDS", 0.0
    )  # the file may be another one by now
    await send(client, request, office.address)
    packet, other = await receive(client)
    assert (packet, other != first[1]) == (first[0], True)
    client.close()


async def test_other_request_from_a_port_ends_the_transfer_of_the_first(office: Office) -> None:
    client = await office.request(b"\0\x01firmware\0octet\0blksize\x001024\0")
    packet, old = await receive(client)
    assert packet[1] == 6
    await send(client, b"\0\x01SEP001BD4123456.cnf.xml\0octet\0", office.address)

    packet, new = await receive(client)

    assert packet == b"\0\x03\0\x01" + CONTENT[:512]
    assert new != old
    assert [(one.name, one.served) for one in office.recorded] == [("firmware", False)]
    await send(client, b"\0\x01missing\0octet\0", office.address)
    packet, _ = await receive(client)
    assert packet[:4] == b"\0\x05\0\x01"
    await until(lambda: not office.server.transfers)
    client.close()


async def test_request_that_changes_while_its_file_is_opened_gets_the_other_file() -> None:
    seen: list[Finished] = []
    release = asyncio.Event()

    async def open_file(name: str, client_ip: str) -> OpenFile | Denied:
        if name == "slow":
            await release.wait()
        return Recording(name, MemoryFile(name.encode()), seen)

    server = TftpServer(open_file, Limits())
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: server, local_addr=("127.0.0.1", 0)
    )
    office = Office(server, transport.get_extra_info("sockname"), seen)
    client = await office.request(b"\0\x01slow\0octet\0")
    await until(lambda: server.transfers == 1)
    await send(client, b"\0\x01quick\0octet\0", office.address)
    await asyncio.sleep(0.05)
    release.set()

    packet, peer = await receive(client)
    await send(client, b"\0\x04\0\x01", peer)
    await until(lambda: not server.transfers)

    assert packet[4:] == b"quick"
    assert seen == [Finished("slow", False, 0), Finished("quick", True, 5)]
    await server.close()
    client.close()


async def test_close_waits_for_a_transfer_whose_client_asked_anew(tmp_path: Path) -> None:
    seen: list[Finished] = []
    release = asyncio.Event()

    class Slow(Recording):
        def loaded(self, offset: int, size: int) -> bytes | None:
            return None

        async def load(self, offset: int) -> None:
            try:
                await asyncio.sleep(3600)
            finally:  # as a thread that reads: it ends, and only then the load
                await asyncio.shield(asyncio.ensure_future(release.wait()))

    async def open_file(name: str, client_ip: str) -> OpenFile | Denied:
        kind = Slow if name == "slow" else Recording
        return kind(name, MemoryFile(CONTENT), seen)

    server = TftpServer(open_file, Limits(transfers_per_address=1))
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: server, local_addr=("127.0.0.1", 0)
    )
    office = Office(server, transport.get_extra_info("sockname"), seen)
    client = await office.request(b"\0\x01slow\0octet\0")
    await asyncio.sleep(0.05)
    await send(client, b"\0\x01quick\0octet\0", office.address)
    assert (await receive(client))[0][1] == 3

    closing = asyncio.ensure_future(server.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    release.set()
    async with asyncio.timeout(60):
        await closing

    assert sorted(one.name for one in seen) == ["quick", "slow"]
    client.close()


async def test_transfer_without_any_acknowledgement_gives_way_after_a_second(
    office: Office,
) -> None:
    request = b"\0\x01SEP001BD4123456.cnf.xml\0octet\0timeout\x00255\0"
    first, second = await office.request(request), await office.request(request)
    packet, transfer = await receive(first)
    # timeout=255 is not acknowledged: block 1 is sent at once.
    assert packet[:4] == b"\0\x03\0\x01"
    await receive(second)
    await asyncio.get_running_loop().sock_sendto(first, b"\0\x04\0\x01", transfer)
    await receive(first)
    await asyncio.sleep(EVICT_SECONDS)

    assert await fetch(office, b"SEP001BD4123456.cnf.xml") == CONTENT

    evicted = [(await receive(second))[0] for _ in range(2)][-1]
    assert evicted[:4] == b"\0\x05\0\0"
    assert b"too many transfers" in evicted
    await until(lambda: len(office.recorded) == 2)
    [failed, served] = office.recorded
    assert (failed.served, failed.bytes, served.served) == (False, 0, True)
    # The first one was acknowledged, and stays.
    assert office.server.transfers == 1
    first.close()
    second.close()


async def test_flood_of_all_slots_gives_way_to_another_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tftp_server, "EVICT_SECONDS", 0.1)
    seen: list[Finished] = []

    async def open_file(name: str, client_ip: str) -> OpenFile | Denied:
        return Recording(name, MemoryFile(CONTENT), seen)

    server = TftpServer(open_file, Limits(transfers=8, transfers_per_address=2))
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: server, local_addr=("127.0.0.1", 0)
    )
    office = Office(server, transport.get_extra_info("sockname"), seen)
    silent = []
    for number in range(5):
        for _ in range(2):
            client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            client.bind((f"127.1.0.{number + 1}", 0))
            client.sendto(b"\0\x01a\0octet\0timeout\x00255\0", office.address)
            silent.append(client)
    await until(lambda: server.transfers == 8)
    await asyncio.sleep(0.2)

    async with asyncio.timeout(60):
        assert await fetch(office, b"a") == CONTENT

    await server.close()
    assert server.transfers == 0
    for client in silent:
        client.close()


async def test_silent_client_gets_an_error_packet_at_the_end(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer_module, "GIVE_UP_SECONDS", 0.6)
    monkeypatch.setattr(transfer_module, "RETRY_SECONDS", 0.1)
    with await office.request(b"\0\x01SEP001BD4123456.cnf.xml\0octet\0") as client:
        received = [(await receive(client))[0] for _ in range(4)]

    assert [packet[1] for packet in received] == [3, 3, 3, 5]
    assert b"did not acknowledge" in received[-1]
    assert [one.served for one in await recorded(office, 1)] == [False]


async def test_netascii_request_gets_line_ends(office: Office) -> None:
    with await office.request(b"\0\x01SEP001BD4123456.cnf.xml\0NetASCII\0") as client:
        packet, _ = await receive(client)

    assert packet[4:20] == b"\0\1\2\3\4\5\6\7\x08\t\r\n\x0b\x0c\r\0"


async def test_packets_of_another_sender_are_ignored(office: Office) -> None:
    with (
        await office.request(b"\0\x01SEP001BD4123456.cnf.xml\0octet\0") as client,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        packet, transfer = await receive(client)
        stranger.bind(("127.0.0.1", 0))
        stranger.sendto(b"\0\x05\0\0stop\0", transfer)
        await asyncio.get_running_loop().sock_sendto(client, b"\0\x04" + packet[2:4], transfer)
        following, _ = await receive(client)

    assert following[:4] == b"\0\x03\0\x02"


async def test_close_ends_running_transfers(office: Office) -> None:
    with await office.request(b"\0\x01SEP001BD4123456.cnf.xml\0octet\0") as client:
        await receive(client)
        await office.server.close()

    [finished] = office.recorded
    assert not finished.served
