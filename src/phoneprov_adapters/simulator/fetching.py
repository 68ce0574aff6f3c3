"""The simulated phone fetches files by TFTP, in lockstep as RFC 1350 describes."""

import asyncio
from typing import Any

SECONDS = 5.0
"""Seconds that the phone waits for a packet."""


async def fetch_by_tftp(host: str, port: int, name: str, *, source: str = "127.0.0.1") -> bytes:
    """The content of a file. Raises ``FileNotFoundError`` for an ERROR packet, ``TimeoutError``
    if the server does not answer."""
    inbox: asyncio.Queue[tuple[bytes, Any]] = asyncio.Queue()
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Inbox(inbox), local_addr=(source, 0)
    )

    try:
        transport.sendto(b"\0\x01" + name.encode("ascii") + b"\0octet\0", (host, port))
        content, expected = b"", 1
        while True:
            async with asyncio.timeout(SECONDS):
                packet, address = await inbox.get()
            if packet[1] == 5:
                raise FileNotFoundError(packet[4:-1].decode("ascii", "replace"))
            transport.sendto(b"\0\x04" + packet[2:4], address)
            if int.from_bytes(packet[2:4], "big") == expected & 0xFFFF:
                content += packet[4:]
                expected += 1
                if len(packet) < 516:
                    return content
    finally:
        transport.close()
        await asyncio.sleep(0)


class _Inbox(asyncio.DatagramProtocol):
    def __init__(self, inbox: asyncio.Queue[tuple[bytes, Any]]) -> None:
        self._inbox = inbox

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._inbox.put_nowait((data, addr))
