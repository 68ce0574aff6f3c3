"""A service that is killed in the middle of a switch: after its start the phone is free at once."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from faults.served import Served
from support.records import a_mac
from support.scale import note, rounds

MAC = a_mac(1)
SECONDS = 10
"""Of a switch after the start; a lease lasts 60."""


@asynccontextmanager
async def silent_ftp() -> AsyncIterator[tuple[int, asyncio.Event]]:
    """The port of an FTP server that never answers, and the event of a connection to it."""
    connected = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], connected
    finally:
        server.close()
        await asyncio.sleep(0.1)  # the ends of its connections


async def test_phone_of_a_killed_switch_is_free_after_the_start(service: Served) -> None:
    async with silent_ftp() as (port, connected):
        waits = await waits_after_kills(service, port, connected)
    note(f"switch after a kill and a start, {service.name}: at most {max(waits):.2f} s")


async def waits_after_kills(service: Served, port: int, connected: asyncio.Event) -> list[float]:
    """The seconds of a switch after each start."""
    waits = []
    with_ftp = {
        "PHONEPROV_UPLOADER": "ftp",
        "PHONEPROV_FTP_HOST": "127.0.0.1",
        "PHONEPROV_FTP_PORT": str(port),
    }
    service.environment["PHONEPROV_RESTART"] = "none"
    served = {"PHONEPROV_UPLOADER": "served"}
    service.environment |= served
    await asyncio.to_thread(service.start)
    token = await service.token()
    async with service.line() as line:
        phone = {"mac": MAC, "phone_ip": "10.1.1.1"}
        assert (await line.ask("POST", "/phones", phone, token=token)).status == 201
        me = (await line.ask("GET", "/me", token=token)).data["uuid"]
        profile = {"user_uuid": me, "name": "Ada", "cnf_xml": "<device/>"}
        made = await line.ask("POST", "/phone-profiles", profile, token=token)
    order = {"profile_uuid": made.data["uuid"], "mac": MAC}
    for _ in range(rounds(1, 20)):
        service.kill()
        service.environment |= with_ftp
        await asyncio.to_thread(service.start)
        connected.clear()
        async with service.line() as line:
            line.send("POST", "/phone-profiles/switch", order, token=token)
            await asyncio.wait_for(connected.wait(), 60)
            async with service.line() as other:
                busy = await other.ask("POST", "/phone-profiles/switch", order, token=token)
            assert busy.status == 409
            service.kill()
        service.environment |= served
        await asyncio.to_thread(service.start)
        async with service.line() as line:
            began = time.perf_counter()
            reply = await line.ask("POST", "/phone-profiles/switch", order, token=token)
            waits.append(time.perf_counter() - began)
            assert (reply.status, waits[-1] < SECONDS) == (200, True), reply
    return waits
