"""Endpoints, auths and AORs that a real Asterisk asks the service for, and phones that follow their
users with them (``make test-asterisk-lines``, with Asterisk 16 and 22)."""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from asterisk.check_lines import PLACE, PRESENTED, TOKEN, Office, block, mac_of, service_of_exchange
from asterisk.exchange import SECONDS, SECRET, USER, Sipp, running
from faults.served import Served
from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.lists import ManagerRegistrations
from support.api import data_of
from support.command_line import PROGRAM, without_settings
from support.phone_records import a_phone
from support.polling import until
from support.scale import note

NUMBERS = {"ada": "1001", "bob": "1002", "cy": "1003"}
PASSWORD = "s1p&secret=1%41"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service, not yet started."""
    with service_of_exchange(
        tmp_path_factory.mktemp("office"),
        PHONEPROV_ASTERISK_PJSIP="on",
        PHONEPROV_ASTERISK_LANGUAGES="en,de",
        PHONEPROV_CONFIRM_TIMEOUT="10",
    ) as made:
        yield made


class SipOffice(Office):
    """An office with SIP phones, and users with extensions of chan_pjsip."""

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self.profiles: dict[str, str] = {}

    async def begin(self) -> None:
        await super().begin()
        for name, number in NUMBERS.items():
            body = {"type": "chan_pjsip", "extension": number, "name": f'Zoë "Z" <1> {name}',
                    "password": PASSWORD, "voicemail": name == "cy"}  # fmt: skip
            extension = data_of(await self.admin.post("/extensions", body), 201)["uuid"]
            user = {"first_name": name.title(), "last_name": "Lovelace", "username": name,
                    "email": f"{name}@a.example", "password": "analytical engine 1843",
                    "lang": "de-CH" if name == "ada" else "en"}  # fmt: skip
            uuid = data_of(await self.admin.post("/users", user), 201)["uuid"]
            link = {"user_uuid": uuid, "extension_uuid": extension}
            data_of(await self.admin.post("/user-extensions", link), 201)
            profile = {
                "user_uuid": uuid,
                "name": name,
                "cnf_xml": f"<device><n>{name}</n></device>",
            }
            reply = await self.admin.post("/phone-profiles", profile)
            self.profiles[name] = reply.json()["data"]["uuid"]

    async def sip_phone(self, number: int) -> str:
        """Add a phone at 127.0.1.<number>; its MAC."""
        mac = mac_of(number)
        body = {"mac": mac, "software_type": "SIP", "phone_ip": f"127.0.1.{number}"}
        data_of(await self.admin.post("/phones", body), 201)
        return mac

    def as_user(self, number: int, user: str, **more: str) -> Sipp:
        """The phone at 127.0.1.<number> with the configuration of a user."""
        address = f"127.0.1.{number}"
        return Sipp(self.exchange, NUMBERS[user], PASSWORD, address=address, **more)

    async def switched(self, mac: str, user: str) -> dict[str, Any]:
        """Switch a phone to the profile of a user; the deployment."""
        order = {"profile_uuid": self.profiles[user], "mac": mac}
        reply = await self.admin.post("/phone-profiles/switch", order)
        assert reply.status_code == 200, reply.text
        return await self.deployment(mac)

    async def deployment(self, mac: str) -> dict[str, Any]:
        """The newest deployment of a phone."""
        return dict(data_of(await self.admin.get(f"/phones/{mac}/deployments"))[-1])

    async def notified(self, phone: Sipp, mac: str, user: str) -> str:
        """Switch a phone to the profile of a user; the NOTIFY that it gets."""
        notified = asyncio.create_task(phone.notified())
        await asyncio.sleep(1.0)  # SIPp opens its port
        assert (await self.switched(mac, user))["restart"] == "ok"
        return await asyncio.wait_for(notified, SECONDS)

    async def outcome(self, mac: str) -> str:
        """Wait for the end of the watch; whether the newest deployment was confirmed."""

        async def known() -> str:
            found = str((await self.deployment(mac))["confirmation"])
            return "" if found == "pending" else found

        return str(await until(known))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(service: Served) -> AsyncIterator[SipOffice]:
    port = f":{service.port}/"
    tables = block("extconfig.conf") + block("extconfig.conf, PJSIP")
    files = {
        "extconfig.conf": tables.replace(":8000/", port),
        "res_curl.conf": block("res_curl.conf")
        .replace("THE-TOKEN", TOKEN)
        .replace("httptimeout = 10", "httptimeout = 2"),
        "sorcery.conf": block("sorcery.conf"),
        "extensions.conf": "[default]\n" + PRESENTED + "exten => _X.,1,Dial(PJSIP/${EXTEN},20)\n",
    }
    async with running(block("pjsip.conf"), more=files) as exchange:
        service.environment["PHONEPROV_AMI_PORT"] = str(exchange.ami)
        service.start()
        made = SipOffice(service, exchange)
        async with made.client:
            await made.begin()
            yield made


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_phone_registers_with_an_extension_that_asterisk_asks_for(office: SipOffice) -> None:
    number = NUMBERS["ada"]
    phone = Sipp(office.exchange, number, PASSWORD)
    await phone.register()
    shown = await office.exchange.command(f"pjsip show endpoint {number}")
    assert f"{number}/sip:{number}@127.0.0.1" in shown
    assert "(g722|alaw|ulaw)" in shown
    assert "Zoë" in shown
    assert re.search(r"^ *language +: de$", shown, re.MULTILINE)
    assert PASSWORD not in office.exchange.log()

    ringing = asyncio.create_task(phone.rings())
    await asyncio.sleep(1.0)  # SIPp opens its port
    await office.exchange.command(f"channel originate Local/{number}@default application Wait 5")
    assert f"INVITE sip:{number}@127.0.0.1:{phone.port}" in await asyncio.wait_for(ringing, SECONDS)
    await phone.register(expires=0)


async def test_phone_follows_its_user_with_a_new_registration(office: SipOffice) -> None:
    mac = await office.sip_phone(1)
    refused = await office.switched(mac, "bob")
    assert "not registered" in refused["restart"]
    before = office.as_user(1, "bob")
    call_id = await before.register()

    # It is registered as bob until it restarts.
    notify = await office.notified(before, mac, "ada")
    assert f"RegisterCallId={{{call_id}}}" in notify
    now = office.as_user(1, "ada", call_id="a@phone")
    await now.register()
    assert await office.outcome(mac) == "confirmed"

    settings = ManagerSettings(host="127.0.0.1", port=office.exchange.ami, user=USER, secret=SECRET)
    connection = ManagerConnection(settings)  # the service logged off with the end of its watch
    fleet = await ManagerRegistrations(connection, serves_sip=True).registered()
    known = [fleet.of(a_phone(1, phone_ip=f"127.0.1.{n}", software_type="SIP")) for n in (1, 2)]
    assert known == [True, False]

    # A phone with several users before, one of whom is at another phone now.
    elsewhere = await office.sip_phone(2)
    assert "another address" in (await office.switched(elsewhere, "bob"))["restart"]
    bob = office.as_user(2, "bob")
    await bob.register()
    received = asyncio.create_task(bob.notified())
    notify = await office.notified(now, mac, "cy")
    assert "RegisterCallId={a@phone}" in notify
    # The same registration again is no start.
    await now.register()
    assert await office.outcome(mac) == "not_confirmed"
    assert not received.done()
    received.cancel()


async def presented(office: SipOffice, phone: Sipp) -> tuple[str, str, float]:
    """Call 112: the number and the place that the dialplan sees, and the seconds."""
    before, began = office.exchange.log().count("presented <"), time.monotonic()
    await phone.calls("112")
    seconds = time.monotonic() - began
    found = re.findall(r"presented <(.*?)> <(.*?)>", office.exchange.log())
    assert len(found) == before + 1
    return *found[-1], seconds


async def rings(office: SipOffice, phone: Sipp, number: str) -> bool:
    ringing = asyncio.create_task(phone.rings())
    await asyncio.sleep(1.0)  # SIPp opens its port
    await office.exchange.command(f"channel originate Local/{number}@default application Wait 5")
    return f"INVITE sip:{number}@" in await asyncio.wait_for(ringing, SECONDS)


async def export(office: SipOffice) -> bool:
    """Make the snapshot as the timer does; whether it changed."""
    file = office.exchange.folder / "pjsip_phoneprov.conf"
    before = file.stat().st_mtime_ns if file.exists() else 0
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "export", "extensions", str(file), "--format", "pjsip", "--with-secrets",
        env=without_settings(**office.service.environment), stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert await process.wait() == 0
    await office.exchange.command("module reload res_pjsip.so")
    return file.stat().st_mtime_ns != before


async def test_call_presents_the_place_of_the_phone_of_its_user(office: SipOffice) -> None:
    values = {"Berlin": ("+4930112", PLACE), "Leipzig": ("+49341112", "Markt 2")}
    for city, (number, place) in values.items():
        body = {"name": city, "emergency_number": number, "emergency_place": place}
        data_of(await office.admin.post("/locations", body), 201)
    berlin, leipzig = await office.sip_phone(11), await office.sip_phone(12)
    for mac, location in ((berlin, "Berlin/3"), (leipzig, "Leipzig/1")):
        data_of(await office.admin.put(f"/phones/{mac}", {"location": location}))
    phone = office.as_user(11, "ada")
    await office.switched(berlin, "ada")
    await phone.register()
    assert (await presented(office, phone))[:2] == values["Berlin"]
    elsewhere = office.as_user(12, "ada")
    await office.switched(leipzig, "bob")
    await office.switched(leipzig, "ada")
    await office.switched(berlin, "bob")
    await elsewhere.register()
    assert (await presented(office, elsewhere))[:2] == values["Leipzig"]


@pytest.mark.parametrize("how", ["stopped", "killed", "hanging"])
async def test_registered_phone_calls_rings_and_renews_while_the_service_is(
    office: SipOffice, how: str
) -> None:
    phone = office.as_user(12, "ada")
    await phone.register()
    await export(office)
    assert not await export(office)  # nothing changed: the file is not written
    service = office.service
    if how == "hanging":
        os.killpg(service.pid, signal.SIGSTOP)
    elif how == "killed":
        service.kill()
    else:
        service.stop()
    try:
        number, place, seconds = await presented(office, phone)
        assert (number, place) == ("+49341112", "Markt 2")
        note(f"call while the service is {how}: {seconds:.1f} s")
        assert seconds < (25 if how == "hanging" else 2)
        await phone.register(retry_ms=60_000)  # SIPp takes no second reply to a repeated request
        assert await rings(office, phone, NUMBERS["ada"])
    finally:
        if how == "hanging":
            os.killpg(service.pid, signal.SIGCONT)
        else:
            service.start()
    assert (await presented(office, phone))[:2] == ("+49341112", "Markt 2")


async def test_extension_that_is_not_active_is_refused(office: SipOffice) -> None:
    extension, *_ = data_of(await office.admin.get("/extensions"))
    data_of(await office.admin.put(f"/extensions/{extension['uuid']}", {"is_active": False}))
    await export(office)  # until then it is in the snapshot
    with pytest.raises(AssertionError):
        async with asyncio.timeout(40):
            await Sipp(office.exchange, NUMBERS["ada"], PASSWORD).register()
