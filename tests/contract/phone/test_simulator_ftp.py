"""The FTP server of the simulated phone: accepted files, and their events."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator

import aioftp
import pytest

from phoneprov_adapters.simulator.phone import SimulatedPhone
from support.phone_simulated import FTP_PASSWORD, NAME, arrived, logged_in, store


@pytest.fixture
async def ftp(phone: SimulatedPhone) -> AsyncIterator[aioftp.Client]:
    client = await logged_in(phone)
    yield client
    await client.quit()


async def test_file_arrives_under_its_final_name_stored_or_renamed(
    phone: SimulatedPhone, ftp: aioftp.Client
) -> None:
    large = b"x" * 200_000
    await store(ftp, NAME, large)
    for content in (b"old", b"new"):
        await store(ftp, f".{NAME}.1.tmp", content)
        await ftp.rename(f".{NAME}.1.tmp", NAME)

    assert phone.events == [arrived(NAME, content) for content in (large, b"old", b"new")]
    assert [path.name for path in phone.folder.iterdir()] == [NAME]
    assert (phone.folder / NAME).read_bytes() == b"new"


async def test_read_rename_away_and_delete_are_no_arrival(
    phone: SimulatedPhone, ftp: aioftp.Client
) -> None:
    await store(ftp, NAME, b"1")
    async with ftp.download_stream(NAME) as stream:
        assert await stream.read() == b"1"
    await ftp.rename(NAME, ".hidden")
    await ftp.remove(".hidden")

    assert phone.events == [arrived(NAME, b"1")]


async def test_aborted_upload_does_not_arrive(phone: SimulatedPhone, ftp: aioftp.Client) -> None:
    stream = await ftp.upload_stream(NAME)
    await stream.write(b"x" * 50_000)
    async with asyncio.timeout(60.0):
        while not await ftp.exists(NAME) or (await ftp.stat(NAME))["size"] == "0":
            pass
    await ftp.abort()
    stream.close()

    assert phone.events == []


async def test_reset_upload_does_not_arrive(
    phone: SimulatedPhone,
) -> None:
    client = await logged_in(phone)
    stream = await client.upload_stream(NAME)
    await stream.write(b"half")
    at_once = struct.pack("ii", 1, 0)
    plug = stream.writer.get_extra_info("socket")
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    stream.writer.transport.abort()

    async def until_hung_up() -> None:
        while True:
            await client.command("PWD", "257")

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(until_hung_up(), 60.0)

    client.close()
    assert phone.events == []


async def test_size_of_a_file_is_returned(phone: SimulatedPhone, ftp: aioftp.Client) -> None:
    await store(ftp, NAME, b"12345")

    _, info = await ftp.command(f"SIZE {NAME}", "213")
    assert info[-1].strip() == "5"
    for missing in ("SIZE nothing", "SIZE /"):
        with pytest.raises(aioftp.StatusCodeError, match="550"):
            await ftp.command(missing, "213")


async def test_rename_outside_the_folder_fails_and_is_no_arrival(
    phone: SimulatedPhone, ftp: aioftp.Client
) -> None:
    await store(ftp, ".temporary", b"1")

    with pytest.raises(aioftp.StatusCodeError):
        await ftp.rename(".temporary", "no/such/folder")
    await ftp.make_directory("folder")
    await ftp.rename("folder", "other")

    assert phone.events == []


async def test_file_name_outside_the_folder_is_refused(
    phone: SimulatedPhone, ftp: aioftp.Client
) -> None:
    outside = phone.folder.parent / "outside-of-the-phone"
    await store(ftp, "../outside-of-the-phone", b"1")

    assert not outside.exists()
    assert phone.events == [arrived("outside-of-the-phone", b"1")]


@pytest.mark.parametrize("login", [("phoneprov", "wrong"), ("other", FTP_PASSWORD)])
async def test_ftp_requires_the_login(phone: SimulatedPhone, login: tuple[str, str]) -> None:
    client = aioftp.Client(socket_timeout=60)
    await client.connect(phone.host, phone.ftp_port)

    with pytest.raises(aioftp.StatusCodeError, match="530"):
        await client.login(*login)

    client.close()
