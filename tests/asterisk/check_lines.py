"""Lines that follow users, with chan_sccp and the files of the how-to (``make
test-asterisk-lines``)."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from asterisk.exchange import SECONDS, SECRET, USER, Exchange, running
from asterisk.sccp_phone import SccpPhone
from faults.served import Served
from phoneprov_core.switching.devices.names import device_name
from support.api import Caller, data_of
from support.phone_browser import PhoneBrowser
from support.polling import until
from support.scale import note

PLACE = "Lager & Küche; 100 % = \u00fc" + "x" * 229
PRESENTED = (
    "exten => 112,1,Answer()\n"
    " same => n,Log(NOTICE,presented <${PHONEPROV_EMERGENCY}> <${PHONEPROV_PLACE}>)\n"
    " same => n,Hangup()\n"
)
"""The dialplan of an emergency call, which reaches no trunk."""

PAGE = Path(__file__).parents[2] / "docs/how-to/lines.md"
TOKEN, RENEWED = "a-service-token-of-Asterisk", "another-service-token-of-Asterisk"
PIN, NUMBER = "24681357", "101"
OTHERS = 10
CROWD = 200


class DeskPhone(SccpPhone):
    """A phone that restarts at an order, but for the next ``ignored`` ones. ``registrations``
    counts how often it was registered."""

    ignored = 0

    def __init__(self, mac: str, port: int) -> None:
        super().__init__(device_name(mac), port)
        self.mac = mac
        self.registrations = 0
        self._obeying: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.register()
        self.registrations += 1
        if self._obeying is None:
            self._obeying = asyncio.create_task(self._obey())

    async def registered(self, times: int) -> None:
        """Wait until it was registered so often."""

        async def is_done() -> bool:
            return self.registrations >= times

        await until(is_done)

    async def _obey(self) -> None:
        while True:
            await self.resets.get()
            if self.ignored:
                self.ignored -= 1
                continue
            await self.leave()
            await self.start()

    async def stop(self) -> None:
        if self._obeying is not None:
            self._obeying.cancel()
            await self.leave()


def block(name: str, page: Path = PAGE) -> str:
    """The file of this name on a page."""
    found = re.search(rf"```ini\n; {re.escape(name)}\n(.*?)```", page.read_text(), re.DOTALL)
    assert found
    return found[1]


def mac_of(number: int) -> str:
    digits = f"001BD4{number:06X}"
    return ":".join(digits[n : n + 2] for n in range(0, 12, 2))


class Office:
    """A service, a second host of it, an Asterisk that asks them, and phones."""

    def __init__(self, service: Served, exchange: Exchange, second: Served | None = None) -> None:
        self.service, self.exchange, self.second = service, exchange, second or service
        self.client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{service.port}", timeout=30)
        self.phones: dict[str, DeskPhone] = {}
        self.admin: Caller

    async def begin(self) -> None:
        token = await self.service.token()
        self.admin = Caller(self.client, "", token)

    async def phone(self, number: int, *, own: str = "") -> DeskPhone:
        """A phone of the inventory, with a number of its own."""
        mac = mac_of(number)
        body = {"mac": mac, "model": "CP-7945G", "software_type": "SCCP",
                "phone_ip": f"127.0.1.{number % 250 + 1}"}  # fmt: skip
        data_of(await self.admin.post("/phones", body), 201)
        if own:
            desk = {"extension_uuid": await self.extension(own)}
            data_of(await self.admin.put(f"/phones/{mac}/desk", desk))
        self.phones[mac] = DeskPhone(mac, self.exchange.sccp)
        return self.phones[mac]

    async def extension(self, number: str, name: str = "") -> str:
        body = {"type": "chan_sccp", "extension": number, "name": name or f"Line {number}",
                "password": "secret", "voicemail": True}  # fmt: skip
        return str(data_of(await self.admin.post("/extensions", body), 201)["uuid"])

    async def user(self, name: str, number: str) -> None:
        """A user with a PIN, a profile and a line."""
        body = {"first_name": name.title(), "last_name": "Lovelace", "username": name,
                "email": f"{name}@example.com", "password": "analytical engine 1843",
                "lang": "en-GB"}  # fmt: skip
        uuid = str(data_of(await self.admin.post("/users", body), 201)["uuid"])
        await self.admin.put(f"/vendor-users/{uuid}", {"pin_code": PIN})
        profile = {"user_uuid": uuid, "name": name, "cnf_xml": f"<device><n>{name}</n></device>"}
        reply = await self.admin.post("/phone-profiles", profile)
        assert reply.status_code == 201, reply.text
        link = {"user_uuid": uuid, "extension_uuid": await self.extension(number, f"Zoë; {name}")}
        data_of(await self.admin.post("/user-extensions", link), 201)

    async def log_in(self, phone: DeskPhone, user: str) -> None:
        """Log in with the PIN, at the phone's own address."""
        number = int(phone.mac.replace(":", "")[6:], 16)
        browser = PhoneBrowser(None, phone.mac, "")
        browser.client = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.service.port}",
            headers={"x-CiscoIPPhoneModelName": "CP-7945G"},
            transport=httpx.AsyncHTTPTransport(local_address=f"127.0.1.{number % 250 + 1}"),
        )
        async with browser.client:
            page = await browser.log_in(user, PIN)
        assert page.title == "Logged in", page

    async def rings_at(self, number: str) -> set[str]:
        """Call a number; the MACs of the phones that ring."""
        for phone in self.phones.values():
            phone.rings.clear()
        await self.exchange.command(f"channel originate Local/{number}@default application Wait 5")
        await asyncio.sleep(1.0)
        ringing = {mac for mac, phone in self.phones.items() if phone.rings.is_set()}
        await self.exchange.command("channel request hangup all")
        return ringing


@contextmanager
def service_of_exchange(folder: Path, **settings: str) -> Iterator[Served]:
    """The service that an exchange and its phones use, not yet started."""
    made = Served(
        folder,
        PHONEPROV_ASTERISK_TOKEN=TOKEN,
        PHONEPROV_UPLOADER="served",
        PHONEPROV_PHONE_NETWORKS="127.0.0.0/8",
        PHONEPROV_RESTART="ami",
        PHONEPROV_AMI_HOST="127.0.0.1",
        PHONEPROV_AMI_USER=USER,
        PHONEPROV_AMI_SECRET=SECRET,
        PHONEPROV_SWITCHES_PER_PHONE="0",
    )
    made.environment |= settings
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service, not yet started."""
    folder = tmp_path_factory.mktemp("office")
    with service_of_exchange(folder, PHONEPROV_ASTERISK_LANGUAGES="en_GB") as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(service: Served) -> AsyncIterator[Office]:
    def sccp(port: int) -> str:
        text = block("sccp.conf").replace("port = 2000", f"port = {port}")
        return text.replace("10.20.0.0/255.255.0.0", "127.0.0.0/255.0.0.0")

    second = Served(service.folder, None, 1, holds_socket="", **service.environment)
    extconfig = block("extconfig.conf, two hosts")
    for address, host in (("10.0.0.2:8000", service), ("10.0.0.3:8000", second)):
        extconfig = extconfig.replace(address, f"127.0.0.1:{host.port}")
    files = {
        "extconfig.conf": extconfig,
        "res_curl.conf": block("res_curl.conf").replace("THE-TOKEN", TOKEN),
        "extensions.conf": block("extensions.conf") + PRESENTED.replace("Answer()", "NoOp()"),
    }
    async with running("", sccp=sccp, more=files) as exchange:
        for host in (service, second):
            host.environment["PHONEPROV_AMI_PORT"] = str(exchange.ami)
        service.start()
        made = Office(service, exchange, second)
        async with made.client:
            await made.begin()
            yield made
        for phone in made.phones.values():
            await phone.stop()
    second.close()


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_call_follows_the_user_and_no_other_phone_restarts(office: Office) -> None:
    first, second = await office.phone(1, own="901"), await office.phone(2, own="902")
    others = [await office.phone(100 + n, own=f"{500 + n}") for n in range(OTHERS)]
    await office.user("ada", NUMBER)
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(phone.start() for phone in office.phones.values()))
    assert await office.rings_at("901") == {first.mac}
    assert await office.rings_at(NUMBER) == set()

    for phone, left in ((first, second), (second, first)):
        before = phone.registrations, left.registrations
        began = time.monotonic()
        await office.log_in(phone, "ada")
        async with asyncio.timeout(10):
            await phone.registered(before[0] + 1)
            if left is first:
                await left.registered(before[1] + 1)
        assert await office.rings_at(NUMBER) == {phone.mac}
        note(f"a call rings at the new desk alone {time.monotonic() - began:.1f} s after the login")
    assert await office.rings_at("901") == {first.mac}
    assert await office.rings_at("902") == set()
    assert {phone.registrations for phone in others} == {1}
    assert await office.rings_at("505") == {others[5].mac}
    shown = await office.exchange.command(f"sccp show line {NUMBER}")
    assert re.search(r"^Language +: en_GB$", shown, re.MULTILINE)


async def presented(office: Office, phone: DeskPhone) -> tuple[str, str]:
    """Call 112: the number and the place that the dialplan sees."""
    before = office.exchange.log().count("presented <")
    phone.dial("112")

    async def is_logged() -> bool:
        return office.exchange.log().count("presented <") > before

    await until(is_logged)
    found = re.findall(r"presented <(.*?)> <(.*?)>", office.exchange.log())
    return str(found[-1][0]), str(found[-1][1])


async def test_call_presents_the_place_of_the_desk(office: Office) -> None:
    berlin, leipzig = await office.phone(11, own="911"), await office.phone(12, own="912")
    await office.user("bea", "111")
    values = {"Berlin": ("+4930112", PLACE), "Leipzig": ("+49341112", "Markt 2")}
    for city, (number, place) in values.items():
        body = {"name": city, "emergency_number": number, "emergency_place": place}
        data_of(await office.admin.post("/locations", body), 201)
    for phone, location in ((berlin, "Berlin/3"), (leipzig, "leipzig")):
        data_of(await office.admin.put(f"/phones/{phone.mac}", {"location": location}))
    elsewhere = await office.phone(13, own="913")
    await asyncio.gather(*(phone.start() for phone in (berlin, leipzig, elsewhere)))
    assert await presented(office, elsewhere) == ("", "")
    desks = ((berlin, None, "Berlin"), (leipzig, berlin, "Leipzig"), (berlin, leipzig, "Berlin"))
    for phone, left, city in desks:
        restarted = [(one, one.registrations + 1) for one in (phone, left) if one]
        await office.log_in(phone, "bea")
        async with asyncio.timeout(SECONDS):
            for one, times in restarted:
                await one.registered(times)
        assert await office.rings_at("111") == {phone.mac}
        assert await presented(office, phone) == values[city]
    before = berlin.registrations
    data_of(await office.admin.post(f"/phones/{berlin.mac}/desk/logout", {}))
    async with asyncio.timeout(SECONDS):
        await berlin.registered(before + 1)
    assert await office.rings_at("911") == {berlin.mac}
    assert await presented(office, berlin) == values["Berlin"]
    office.service.kill()
    assert await presented(office, leipzig) == values["Leipzig"]
    office.service.start()


async def test_deployment_has_the_lines_that_asterisk_has(office: Office) -> None:
    path = f"/phones/{mac_of(2)}/deployments"

    async def steps() -> list[Any]:
        return list(data_of(await office.admin.get(path))[-1]["steps"])

    async def is_read_back() -> bool:
        return any(step["name"] == "lines" for step in await steps())

    await until(is_read_back)
    [step] = [one for one in await steps() if one["name"] == "lines"]
    assert (step["ok"], step["message"]) == (True, f"Asterisk has the line {NUMBER} at the phone.")


async def test_registered_phones_stay_while_the_service_is_away(office: Office) -> None:
    phone = office.phones[mac_of(2)]
    office.service.kill()
    assert await office.rings_at(NUMBER) == {phone.mac}
    before = phone.registrations
    await office.exchange.command(f"sccp restart {device_name(phone.mac)}")
    await asyncio.sleep(2)
    assert phone.registrations == before
    office.service.start()
    began = time.monotonic()
    async with asyncio.timeout(SECONDS):
        await phone.registered(before + 1)
    note(f"a refused phone is back {time.monotonic() - began:.1f} s after the service")
    assert await office.rings_at(NUMBER) == {phone.mac}


async def test_second_host_answers_while_the_first_is_away(office: Office) -> None:
    phone = office.phones[mac_of(2)]
    office.second.start()
    office.service.kill()
    before, began = phone.registrations, time.monotonic()
    await office.exchange.command(f"sccp restart {device_name(phone.mac)}")
    async with asyncio.timeout(SECONDS):
        await phone.registered(before + 1)
    note(f"the second host answers {time.monotonic() - began:.1f} s after the restart of a phone")
    assert await office.rings_at(NUMBER) == {phone.mac}
    office.second.kill()
    office.service.start()


async def test_new_token_is_taken_after_many_reloads(office: Office) -> None:
    """Asterisk sends its header once more after each reload, that of the earlier token included."""
    phone, file = office.phones[mac_of(2)], office.exchange.folder / "res_curl.conf"
    office.service.kill()
    office.service.environment["PHONEPROV_ASTERISK_TOKEN"] = RENEWED
    office.service.start()
    before = phone.registrations
    await office.exchange.command(f"sccp restart {device_name(phone.mac)}")
    await asyncio.sleep(2)
    assert phone.registrations == before
    file.write_text(file.read_text().replace(TOKEN, RENEWED))
    for _ in range(120):
        await office.exchange.command("module reload res_config_curl.so")
    async with asyncio.timeout(SECONDS):
        await phone.registered(before + 1)
    assert await office.rings_at(NUMBER) == {phone.mac}


async def test_many_phones_register_at_once(office: Office) -> None:
    crowd = [await office.phone(1000 + n, own=f"{2000 + n}") for n in range(CROWD)]
    began = time.monotonic()
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(phone.start() for phone in crowd))
    note(f"{CROWD} phones registered at once in {time.monotonic() - began:.1f} s")
    assert await office.rings_at("2199") == {crowd[199].mac}
    log = office.exchange.log()
    assert not {token for token in (TOKEN, RENEWED) if token in log}
