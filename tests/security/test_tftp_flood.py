"""Random packets to the TFTP server: no exception, no task, and no memory remains."""

import asyncio
import resource
from typing import Any

from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.server import Denied, Limits, OpenFile, TftpServer
from support.scale import note, random_choices, rounds


class Wire(asyncio.DatagramTransport):
    """Counts what the server sends."""

    def __init__(self) -> None:
        super().__init__()
        self.received = 0
        self.sent = 0

    def sendto(self, data: Any, addr: Any = None) -> None:
        self.sent += len(data)

    def close(self) -> None:
        pass


async def test_tftp_random_packets_leave_no_state() -> None:
    random = random_choices("tftp flood")
    opened = 0

    async def open_file(name: str, client_ip: str) -> OpenFile | Denied:
        nonlocal opened
        opened += 1
        return Denied(ErrorCode.NOT_FOUND, "File not found.")

    server = TftpServer(open_file, Limits())
    wire = Wire()
    server.connection_made(wire)
    packets = rounds(20_000, 1_000_000)
    heads = [
        b"",
        b"\0\1",
        b"\0\1name\0octet\0",
        b"\0\2",
        b"\0\3",
        b"\0\4",
        b"\0\5",
        b"\0\1a\0octet\0blksize\0",
    ]
    before = 0
    for number in range(packets):
        if number == packets // 4:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        packet = random.choice(heads) + random.randbytes(random.randrange(40))
        client = (f"10.0.{random.randrange(256)}.{random.randrange(256)}", random.randrange(65536))
        wire.received += len(packet)
        server.datagram_received(packet, client)
        if number % 500 == 0:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    note(
        f"{packets} random TFTP packets: {opened} were requests, memory grows by {grown} KiB, "
        f"{wire.sent / wire.received:.1f} bytes answered for each received"
    )
    assert server.transfers == 0
    assert grown < 8 * 1024
    # A refusal is no longer than the request and a sentence: a spoofed source gains nothing.
    assert wire.sent < 3 * wire.received
