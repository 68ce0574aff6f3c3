"""The simulated phone: its events, start and end."""

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.simulator.phone import CommandReceived, Event, SimulatedPhone
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES
from support.phone_simulated import FTP_PASSWORD, NAME, arrived, logged_in, store, web
from support.phone_web import IP


async def test_simulator_events_are_reported_in_order() -> None:
    reported: list[Event] = []
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, on_event=reported.append) as phone:
        client = await logged_in(phone)
        await store(client, NAME, b"1")
        await client.quit()
        await web(phone).execute(IP, CLEAR_SERVICES)

    assert reported == phone.events == [arrived(NAME, b"1"), CommandReceived("Init:Services")]


async def test_simulator_disconnect_at_the_end_of_a_session_is_not_reported() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    async with SimulatedPhone(ftp_password=FTP_PASSWORD) as phone:
        for turn in range(40):
            reader, writer = await asyncio.open_connection(phone.host, phone.ftp_port)
            await reader.readline()
            writer.write(b"QUIT\r\n" if turn % 2 else b"USER phoneprov\r\nQUIT\r\n")
            for _ in range(turn // 4):
                await asyncio.sleep(0)
            writer.transport.abort()
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 5
    gc.collect()

    assert reported == []


async def test_simulator_folder_is_removed_at_the_end_unless_it_was_given(tmp_path: Path) -> None:
    phone = SimulatedPhone(ftp_password=FTP_PASSWORD)
    with pytest.raises(RuntimeError):
        _ = phone.folder

    async with phone:
        folder = phone.folder
        assert folder.is_dir()

    assert not folder.exists()
    given = tmp_path / "tftp" / "root"
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, folder=given) as phone:
        assert phone.folder == given
    assert given.is_dir()


async def test_simulator_connections_are_closed_at_the_end() -> None:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD) as phone:
        connections = [
            await asyncio.open_connection(phone.host, port)
            for port in (phone.ftp_port, phone.http_port)
        ]
        await asyncio.sleep(0.02)

    for reader, writer in connections:
        with pytest.raises(OSError):
            await asyncio.open_connection(phone.host, writer.get_extra_info("peername")[1])
        async with asyncio.timeout(60.0):
            await reader.read()
        writer.close()


async def test_simulator_port_in_use_leaves_no_server_open(phone: SimulatedPhone) -> None:
    second = SimulatedPhone(ftp_password=FTP_PASSWORD, http_port=phone.http_port)

    with pytest.raises(OSError):
        async with second:
            pass

    with pytest.raises(OSError):
        await asyncio.open_connection(second.host, second.ftp_port)
    assert not second.folder.exists()


async def test_simulators_run_side_by_side() -> None:
    async with (
        SimulatedPhone(ftp_password=FTP_PASSWORD) as one,
        SimulatedPhone(ftp_password=FTP_PASSWORD, mac="00:1B:D4:00:00:02") as two,
    ):
        await web(one).execute(IP, CLEAR_SERVICES)

        assert len({one.ftp_port, one.http_port, two.ftp_port, two.http_port}) == 4
        assert (len(one.events), len(two.events)) == (1, 0)
