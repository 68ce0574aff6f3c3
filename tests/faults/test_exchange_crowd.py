"""Asterisk asks for many phones at once, each on a connection of its own."""

import asyncio
import time
from pathlib import Path

import pytest

from faults.served import SERVE, Served
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.switching.devices.names import device_name
from support.phone_records import a_phone
from support.postgres import new_database
from support.records import a_link, a_user, an_extension, identifier
from support.scale import note

TOKEN = "a service token of Asterisk"
PHONES = 200
SECONDS = 10.0
"""The ``httptimeout`` of the how-to."""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_phones_that_register_at_once_are_all_answered(tmp_path: Path, kind: str) -> None:
    if kind == "sqlite":
        seconds = await asyncio.to_thread(answered, tmp_path, None)
    else:
        async with new_database() as url:
            seconds = await asyncio.to_thread(answered, tmp_path, url)
    note(f"{kind}: {PHONES} phones, two requests each on new connections, in {seconds:.2f} s")
    assert seconds < SECONDS


def answered(folder: Path, database_url: str | None) -> float:
    """The seconds until the last phone is answered."""
    # With this limit of open files any other client address has fewer than 200 connections.
    limited = ("prlimit", "--nofile=1024:1024", *SERVE)
    service = Served(folder, database_url, command=limited, PHONEPROV_ASTERISK_TOKEN=TOKEN)
    service.start()
    try:
        asyncio.run(populate(service))
        return asyncio.run(ask_at_once(service.port))
    finally:
        service.close()


async def populate(service: Served) -> None:
    async with service.direct() as direct, direct.container.database().write(by=SYSTEM_ACTOR) as tx:
        for n in range(PHONES):
            phone, user = a_phone(n), a_user(n + 1000)
            await tx.phones.add(phone)
            await tx.users.add(user)
            await tx.extensions.add(an_extension(n + 2000, extension=f"{n + 2000}"))
            await tx.links.add(a_link(n + 3000, user.uuid, identifier(n + 2000)))
            await tx.desks.put(DeskRecord(phone.mac).used(DeskUse(user.uuid), phone.created_at))


async def ask_at_once(port: int) -> float:
    """The seconds of the slowest phone."""
    began = time.monotonic()
    await asyncio.gather(*(register(port, n) for n in range(PHONES)))
    return time.monotonic() - began


async def register(port: int, n: int) -> None:
    """What Asterisk asks for a phone that registers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for path, name, wanted in (
        ("sccpdevice", device_name(a_phone(n).mac), f"button=line%2C{n + 2000}"),
        ("sccpline", str(n + 2000), f"cid_num={n + 2000}"),
    ):
        body = f"name={name}"
        writer.write(
            f"POST /asterisk/{path}/single HTTP/1.1\r\nHost: phoneprov\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}".encode()
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert head.startswith("HTTP/1.1 200"), head
        [length] = [
            int(line.partition(":")[2]) for line in head.splitlines() if "content-length" in line
        ]
        assert wanted in (await reader.readexactly(length)).decode()
    writer.close()
    await writer.wait_closed()
