"""The contract of ``Reachability``."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.memory.devices import MemoryReachability
from phoneprov_adapters.phone import watch as reach
from phoneprov_adapters.phone.watch import RealReachability
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.switching.deployments.observation import Reach, Reachability, ServerFile
from phoneprov_core.switching.devices.ports import ConfigUploader, Upload, Uploaded
from support.phone_simulated import FTP_PASSWORD, web
from support.phone_stub import PhoneStub, nothing
from support.phone_web import IP, LOOPBACK, SLACK, web as web_of_stub
from support.watching import OTHER, PHONE, at

SHORT = 0.4


class Elsewhere(ConfigUploader):
    """An uploader whose files cannot be read back."""

    async def upload(self, upload: Upload) -> Uploaded:
        raise NotImplementedError


def uploader(port: int, password: str = FTP_PASSWORD, host: str | None = IP) -> FtpUploader:
    # A password is sent to a phone's own server with an upload only.
    settings = FtpSettings(host=host, port=port, user="phoneprov", password=password)
    return FtpUploader(settings, LOOPBACK)


@asynccontextmanager
async def real(
    password: str = FTP_PASSWORD, host: str | None = IP
) -> AsyncIterator[tuple[RealReachability, SimulatedPhone]]:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, mac=PHONE.mac) as phone:
        yield RealReachability(uploader(phone.ftp_port, password, host), web(phone)), phone


@pytest.fixture(params=["memory", "real"])
async def reachability(request: pytest.FixtureRequest) -> AsyncIterator[Reachability]:
    if request.param == "memory":
        yield MemoryReachability()
        return
    async with real() as (made, phone):
        yield made
        # Nothing was changed.
        assert phone.events == []
        assert list(phone.folder.iterdir()) == []


def message_of(answer: Reach) -> str:
    assert answer.duration_ms >= 0
    assert answer.message.endswith(".")
    assert len(answer.message.splitlines()) == 1
    assert FTP_PASSWORD not in answer.message
    return answer.message


async def test_server_accepting_the_login_is_reachable(reachability: Reachability) -> None:
    answer = await reachability.server(IP)

    assert answer.reachable is True
    assert message_of(answer)


async def test_phone_with_a_response_is_reachable(reachability: Reachability) -> None:
    answer = await reachability.phone(PHONE)

    assert answer.reachable is True
    assert message_of(answer)


async def test_other_phone_at_the_address_is_reported() -> None:
    async with real() as (reachability, _):
        answer = await reachability.phone(OTHER)

    assert answer.reachable is False
    assert PHONE.mac in message_of(answer)


async def test_file_on_the_server_is_read_in_the_same_session() -> None:
    async with real() as (reachability, phone):
        for name, limit, expected in (
            ("a.xml", 9, ServerFile(b"content")),
            ("a.xml", 3, ServerFile(b"con")),
            ("b.xml", 9, ServerFile(None, is_listed=False)),
        ):
            (phone.folder / "a.xml").write_bytes(b"content")
            answer, found = await reachability.file(IP, name, limit)
            assert (answer.reachable, found) == (True, expected)
            assert message_of(answer)
    answer, found = await reachability.file(IP, "a.xml", 9)
    assert (answer.reachable, found) == (False, None)
    elsewhere = RealReachability(Elsewhere(), web(phone))
    assert (await elsewhere.file(IP, "a.xml", 9))[1] is None


async def test_file_of_a_silent_server_is_given_up_within_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reach, "SECONDS", SHORT)
    async with PhoneStub(nothing) as server:
        reachability = RealReachability(uploader(server.port), web_of_stub(server))
        began = time.monotonic()
        answer, found = await reachability.file(IP, "a.xml", 9)
        assert time.monotonic() - began < SHORT + SLACK
    assert (answer.reachable, found) == (False, None)


async def test_web_server_without_mac_is_reported() -> None:
    async with PhoneStub() as stub:
        answer = await RealReachability(uploader(1), web_of_stub(stub)).phone(PHONE)

    assert answer.reachable is True
    assert "MAC" in message_of(answer)


async def test_server_refusing_the_login_is_not_reachable() -> None:
    async with real("another password") as (reachability, _):
        answer = await reachability.server(IP)

    assert answer.reachable is False
    assert "refused the user or the password" in message_of(answer)


@pytest.mark.parametrize("address", [None, "10.1.2.3"])
async def test_forbidden_address_is_reported_without_an_exception(address: str | None) -> None:
    async with real("", None) as (reachability, _):
        for answer in (
            await reachability.server(address),
            await reachability.phone(at(PHONE, address)),
        ):
            assert answer.reachable is False
            assert message_of(answer)


async def test_closed_port_is_reported_without_an_exception() -> None:
    async with PhoneStub() as stub:
        port = stub.port
    reachability = RealReachability(uploader(port), web_of_stub(stub))

    assert (await reachability.server(IP)).reachable is False
    assert (await reachability.phone(PHONE)).reachable is False


async def test_silent_host_is_reported_within_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert reach.SECONDS <= 3.0
    monkeypatch.setattr(reach, "SECONDS", SHORT)
    async with PhoneStub(nothing) as phone, PhoneStub(nothing) as server:
        reachability = RealReachability(uploader(server.port), web_of_stub(phone))
        began = time.monotonic()

        answers = await asyncio.gather(reachability.server(IP), reachability.phone(PHONE))

        assert time.monotonic() - began < SHORT + SLACK
    for answer in answers:
        assert answer.reachable is False
        assert message_of(answer)
        assert answer.duration_ms >= SHORT * 900


async def test_uploader_of_another_package_has_unknown_reachability() -> None:
    async with PhoneStub() as stub:
        reachability = RealReachability(Elsewhere(), web_of_stub(stub))

        assert (await reachability.server(IP)).reachable is None
