"""Many slow clients in a process of their own: python crowd.py PORT COUNT.

A third sends the head of a request byte by byte, a third its body, and a third requests a long
list and reads little of it. A client whose connection is closed connects again. A line on standard
output reports that all are connected. It runs until it is killed.
"""

import asyncio
import itertools
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

PAUSE = 4.0
"""Seconds between two bytes."""

HOST = b"host: localhost\r\n"
MUCH = b"GET /docs/swagger-ui/swagger-ui-bundle.js HTTP/1.1\r\n" + HOST + b"\r\n"
BODY = (
    b"POST /api/v1/auth/login HTTP/1.1\r\n"
    + HOST
    + (b"content-type: application/json\r\ncontent-length: 1000\r\n\r\n{")
)


async def slow_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await send_slowly(reader, writer, b"GET /health/live HTTP/1.1\r\nx-slow: " + b"a" * 1000)


async def slow_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(BODY)
    await send_slowly(reader, writer, b'"username": "' + b"a" * 900)


async def slow_reader(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(MUCH)
    while await reader.read(16):  # noqa: ASYNC110 - it is slow, and waits for nothing else
        await asyncio.sleep(PAUSE)


async def send_slowly(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content: bytes
) -> None:
    for byte in content:
        writer.write(bytes([byte]))
        await asyncio.sleep(PAUSE)
        if reader.at_eof():
            return


Kind = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
KINDS: tuple[Kind, ...] = (slow_head, slow_body, slow_reader)


async def client(port: int, kind: Kind, there: asyncio.Semaphore) -> None:
    first = True
    while True:
        with suppress(OSError):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
            reader, writer = await asyncio.open_connection(sock=connection, limit=256)
            if first:
                first = False
                there.release()
            try:
                await kind(reader, writer)
            finally:
                writer.transport.abort()
        await asyncio.sleep(PAUSE)


async def crowd(port: int, count: int) -> None:
    there = asyncio.Semaphore(0)
    clients = []
    for number, kind in zip(range(count), itertools.cycle(KINDS), strict=False):
        clients.append(asyncio.create_task(client(port, kind, there)))
        # The connections spread over some seconds, like their bytes.
        await asyncio.sleep(PAUSE / count if number % 10 else 0)
    for _ in range(count):
        await there.acquire()
    sys.stdout.write(f"{count} are there\n")
    sys.stdout.flush()
    await asyncio.gather(*clients)


if __name__ == "__main__":
    asyncio.run(crowd(int(sys.argv[1]), int(sys.argv[2])))
