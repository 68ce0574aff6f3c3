"""The FTP server of the simulator and of the tests."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from phoneprov_adapters.simulator.ftp import ftp_server


# The file that was being opened: its thread cannot be cancelled.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*FileIO")
async def test_data_connection_of_a_lost_session_is_closed_while_its_file_opens(
    tmp_path: Path,
) -> None:
    server = ftp_server(tmp_path, "phoneprov", "x", lambda _: None)
    await server.start("127.0.0.1", 0)
    fifo = tmp_path / "slow.xml"
    os.mkfifo(fifo)  # Opening it ends when it is opened at the other end.
    try:
        reader, writer = await asyncio.open_connection(*server.address)
        await reader.readline()
        port = b""
        for command in ("USER phoneprov", "PASS x", "EPSV", "STOR slow.xml"):
            writer.write(f"{command}\r\n".encode())
            if command.startswith("STOR"):
                data, other = await asyncio.open_connection(server.address[0], int(port))
            reply = await reader.readline()
            port = next(iter(re.findall(rb"\|\|\|(\d+)\|", reply)), port)
        assert reply.startswith(b"150")

        writer.close()
        assert await asyncio.wait_for(data.read(), 10) == b""
        other.close()
    finally:
        os.close(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))
        await server.close()
