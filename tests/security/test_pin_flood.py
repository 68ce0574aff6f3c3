"""A flood of PINs from one address does not stop the logins of accounts."""

import asyncio
import re
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

import pytest

from faults.served import Served
from races.direct import PASSWORD
from support.phone_records import a_phone
from support.scale import note, rounds

CONNECTIONS = 300
DEVICE = "SEP001BD4123456"
_TOKEN = re.compile(rb"token=([^&<\"]+)")


async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> bytes:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: phoneprov\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    assert length
    return await reader.readexactly(int(length[1]))


async def guesses(port: int, number: int, counted: list[float]) -> None:
    """Send one PIN after the other, each for another name."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        form = await page(reader, writer, f"/phone/login?device={DEVICE}")
        token = _TOKEN.search(form)
        assert token, form
        path = f"/phone/login/check?device={DEVICE}&pin=1234&token={token[1].decode()}&user="
        while True:
            await page(reader, writer, f"{path}{number}x{len(counted)}")
            counted.append(time.monotonic())
    finally:
        writer.close()


@pytest.mark.parametrize("binding", ["address", "network"])
async def test_pin_flood_from_one_address_leaves_logins_of_accounts_alone(
    tmp_path: Path, binding: str
) -> None:
    served = await asyncio.to_thread(
        lambda: Served(
            tmp_path, PHONEPROV_PHONE_NETWORKS="127.0.0.0/8", PHONEPROV_PHONE_BINDING=binding
        )
    )
    try:
        await asyncio.to_thread(served.start)
        async with served.direct() as direct:
            admins = [(await direct.account(level=0)).username for _ in range(rounds(5, 20))]
            async with direct.database.write() as tx:
                await tx.phones.add(a_phone(1, mac="00:1B:D4:12:34:56", phone_ip="127.0.0.1"))
        counted: list[float] = []
        flood = [
            asyncio.create_task(guesses(served.port, number, counted))
            for number in range(CONNECTIONS)
        ]
        while len(counted) < CONNECTIONS:
            await asyncio.sleep(0.1)
            assert not any(task.done() for task in flood), [t for t in flood if t.done()]
        statuses, waited = [], []
        for name in admins:
            began = time.monotonic()
            async with served.line() as line:
                login = {"username": name, "password": PASSWORD}
                statuses.append((await line.ask("POST", "/auth/login", login)).status)
            waited.append(time.monotonic() - began)
        for task in flood:
            task.cancel()
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await asyncio.gather(*flood, return_exceptions=True)
        note(f"logins during {CONNECTIONS} PIN checks at once: {median(waited):.2f} s")
        assert statuses == [200] * len(admins)
        assert max(waited) < 10
    finally:
        served.close()
