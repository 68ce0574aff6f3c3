"""The contract kit over the driver of Snom phones."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from phoneprov_adapters.api import PhoneNetworks, read_settings
from phoneprov_adapters.testing import PhoneDriverContract, PhoneDriverRig
from phoneprov_adapters.testing.phone_drivers import WORDS, a_phone
from phoneprov_core.api import Phone, PhoneDriver, Proceed, Refused, always
from phoneprov_snom import SnomPhones, SnomSettings, snom_driver

PHONE = a_phone(1, brand="snom", model="D785", phone_ip="127.0.0.1", software_type="SIP")


class WebServer:
    """The web server of a Snom phone, as far as the driver uses it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logins: list[str] = []
        self.answer: bytes | None = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        self._writers: list[asyncio.StreamWriter] = []

    async def start(self) -> int:
        """Its port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()

    @property
    def restarts(self) -> int:
        """The number of orders that were answered as in the manual."""
        return self.asked.count("GET /advanced_update.htm?reboot=Reboot HTTP/1.1")

    def say(self, status: str, *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(WORDS)}", "", WORDS]
        self.answer = "\r\n".join(lines).encode()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n"):
                self.asked.append(head[0])
                self.logins += [line for line in head if line.lower().startswith("authorization")]
                if self.answer is None:
                    return
                writer.write(self.answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


class Others(PhoneDriver):
    """Records the phones that it received."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def leave_services(self, phone: Phone) -> None:
        self.calls.append(f"leave {phone.mac}")

    async def restart(
        self, phone: Phone, software_type: str | None, proceed: Proceed = always
    ) -> None:
        self.calls.append(f"restart {phone.mac}")


@pytest.fixture
async def web() -> AsyncIterator[tuple[WebServer, int]]:
    server = WebServer()
    port = await server.start()
    yield server, port
    await server.stop()


def driver_for(port: int, others: PhoneDriver | None = None) -> SnomPhones:
    settings = SnomSettings(port=port, user="admin", password="hush", seconds=4.0)
    return SnomPhones(settings, PhoneNetworks.parse("127.0.0.0/8"), others or Others())


class TestSnomPhones(PhoneDriverContract):
    """With a web server that responds as a Snom phone does."""

    @pytest.fixture
    def rig(self, web: tuple[WebServer, int]) -> PhoneDriverRig:
        server, port = web

        def fall_silent() -> None:
            server.answer = None

        return PhoneDriverRig(
            driver_for(port),
            PHONE,
            restarts=lambda: server.restarts,
            refuse=lambda: server.say("503 Busy"),
            fall_silent=fall_silent,
            recover=lambda: server.say("200 OK"),
            vanish=server.stop,
            secrets=("hush",),
        )


async def test_login_is_sent_on_request_only_and_as_a_digest(
    web: tuple[WebServer, int],
) -> None:
    server, port = web
    server.say("401 Login", 'WWW-Authenticate: Digest realm="snom", nonce="n1", qop="auth"')

    with pytest.raises(Refused, match="login"):
        await driver_for(port).restart(PHONE, None)

    assert len(server.asked) == 2
    [login] = server.logins
    assert "hush" not in login
    assert "Digest" in login


async def test_phones_of_other_brands_use_the_other_driver() -> None:
    others = Others()
    driver = driver_for(1, others)
    cisco = msgspec.structs.replace(PHONE, brand="Cisco")

    await driver.leave_services(cisco)
    await driver.restart(cisco, "SCCP")
    await driver.leave_services(PHONE)

    assert others.calls == [f"leave {cisco.mac}", f"restart {cisco.mac}"]


def test_driver_is_created_from_settings_and_hides_its_password() -> None:
    driver = snom_driver(
        read_settings({"PHONEPROV_SNOM_USER": "a", "PHONEPROV_SNOM_PASSWORD": "b"})
    )

    assert isinstance(driver, SnomPhones)
    assert "'b'" not in repr(driver._settings)
