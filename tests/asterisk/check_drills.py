"""Drills of a real Asterisk with the dialplan of the how-to: each planted fault is found, nothing
else is, and no call reaches the trunk (``make test-asterisk-lines``; SCCP phones with Asterisk 16,
SIP phones with 16 and 22)."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from asterisk.check_lines import TOKEN, DeskPhone, block, mac_of
from asterisk.check_pjsip_objects import SipOffice, export, service
from asterisk.exchange import ROOT, SECONDS, Sipp, free_port, modules, running
from faults.served import Served
from phoneprov_core.switching.devices.names import device_name
from support.api import data_of
from support.command_line import PROGRAM, without_settings
from support.polling import until
from support.scale import note

__all__ = ["service"]

PAGE = Path(__file__).parents[2] / "docs/how-to/emergency-calls.md"
HAS_SCCP = (ROOT / modules()[1:] / "chan_sccp.so").exists()
CITIES = {
    "Berlin": ("+4930112", "Lager & Küche, Hof; 100 % = \u00fc"),
    "Leipzig": ("+49341112", "Markt 2, Leipzig"),
}
BERLIN, LEIPZIG, NOWHERE, STATIC, SIP_BERLIN, SIP_LEIPZIG, SIP_STATIC = map(
    mac_of, (1, 2, 3, 4, 11, 12, 13)
)
RUNS, CROWD = 30, 200
FIRST_OF_CROWD = 1000
_WRONG = ("PHONEPROV_EMERGENCY=+49999", "PHONEPROV_PLACE=Elsewhere")


def named(name: str) -> str:
    """The part of the dialplan with this name on the page."""
    return block(f"extensions.conf, {name}", PAGE)


class Trunk:
    """The operator: a port that counts what it gets."""

    def __init__(self) -> None:
        self.port = free_port(socket.SOCK_DGRAM)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(("127.0.0.1", self.port))

    def close(self) -> None:
        self._socket.close()

    def received(self) -> list[str]:
        found = []
        with suppress(BlockingIOError):
            while True:
                found.append(self._socket.recv(65536).decode())
        return found

    def section(self, more: str = "") -> str:
        return (
            "\n[trunk]\ntype = aor\n"
            f"contact = sip:127.0.0.1:{self.port}\n\n"
            "[trunk]\ntype = endpoint\ncontext = default\naors = trunk\ndisallow = all\n"
            f"allow = alaw\n{more}\n"
        )


def endpoint_section(number: int, *variables: str) -> str:
    """A SIP phone of ``pjsip.conf``, which registers without a password."""
    return (
        f"\n[{number}]\ntype = aor\nmax_contacts = 1\n\n"
        f"[{number}]\ntype = endpoint\ncontext = default\naors = {number}\n"
        f"disallow = all\nallow = alaw\n"
        + "".join(f"set_var = {one}\n".replace(";", "\\;") for one in variables)
    )


def variables_of(city: str) -> tuple[str, str]:
    number, place = CITIES[city]
    return f"PHONEPROV_EMERGENCY={number}", f"PHONEPROV_PLACE={place}"


async def register(office: SipOffice, number: int, address: str) -> None:
    """Register a phone of ``pjsip.conf``."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as phone:
        phone.setblocking(False)
        phone.bind((address, 0))
        at = f"{address}:{phone.getsockname()[1]}"
        lines = [
            f"REGISTER sip:127.0.0.1:{office.exchange.sip} SIP/2.0",
            f"Via: SIP/2.0/UDP {at};branch=z9hG4bK{number}",
            f"From: <sip:{number}@127.0.0.1>;tag={number}",
            f"To: <sip:{number}@127.0.0.1>",
            f"Call-ID: {number}@{address}",
            "CSeq: 1 REGISTER",
            f"Contact: <sip:{number}@{at}>",
            "Max-Forwards: 70",
            "Expires: 3600",
            "Content-Length: 0",
        ]
        await loop.sock_sendto(
            phone, "\r\n".join([*lines, "", ""]).encode(), ("127.0.0.1", office.exchange.sip)
        )
        async with asyncio.timeout(SECONDS):
            assert (await loop.sock_recv(phone, 65536)).startswith(b"SIP/2.0 200")


class DrillOffice(SipOffice):
    """An office with desks in two cities, whose exchange has a trunk."""

    trunk: Trunk

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self.sip: dict[str, Sipp] = {}

    async def drilled(self, *options: str) -> tuple[dict[str, dict[str, Any]], int]:
        """Run the command: the rows by MAC, and the exit code."""
        environment = {**self.service.environment, "PHONEPROV_AMI_USER": "driller"}
        for phone in self.phones.values():
            if phone.registrations:
                phone.keep_alive()
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, "drill", "--json", *options, env=without_settings(**environment),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, errors = await process.communicate()
        assert not errors, errors.decode()
        rows = [json.loads(line) for line in out.splitlines()]
        return {row["mac"]: row for row in rows}, process.returncode or 0

    async def faults(self, *options: str) -> dict[str, str]:
        """The messages of the desks that differ, by MAC; no desk is unknown."""
        rows, code = await self.drilled(*options)
        assert not [row for row in rows.values() if row["result"] == "unknown"], rows
        found = {mac: row["message"] for mac, row in rows.items() if row["result"] == "differs"}
        assert code == bool(found)
        assert not self.trunk.received()
        return found

    async def place(self, mac: str, location: str | None) -> None:
        data_of(await self.admin.put(f"/phones/{mac}", {"location": location}))

    @asynccontextmanager
    async def edited(
        self,
        before: str,
        after: str,
        file: str = "extensions.conf",
        reload: str = "dialplan reload",
    ) -> AsyncIterator[None]:
        """Change a file of Asterisk, and change it back; then no desk differs."""
        path = self.exchange.folder / file
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        await self.exchange.command(reload)
        try:
            yield
        finally:
            path.write_text(text)
            await self.exchange.command(reload)
        assert await self.faults() == {}

    async def registers_again(self, phone: DeskPhone) -> None:
        before = phone.registrations
        await self.exchange.command(f"sccp restart {device_name(phone.mac)}")
        async with asyncio.timeout(SECONDS):
            await phone.registered(before + 1)


def dialplan() -> str:
    return "[default]\n\n[emergency]\n" + named("emergency") + named("presents") + named("drill")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(service: Served, request: pytest.FixtureRequest) -> AsyncIterator[DrillOffice]:
    def sccp(port: int) -> str:
        text = block("sccp.conf").replace("port = 2000", f"port = {port}")
        variables = "".join(f"setvar = {one}\n" for one in _WRONG)
        return (
            text.replace("10.20.0.0/255.255.0.0", "127.0.0.0/255.0.0.0")
            + f"\n[{device_name(STATIC)}]\ntype = device\ndevicetype = 7945\n{variables}"
            + "button = line,940\n\n[940]\ntype = line\nlabel = 940\n"
        )

    trunk, port = Trunk(), f":{service.port}/"
    request.addfinalizer(trunk.close)
    tables = (block("extconfig.conf") if HAS_SCCP else "[settings]\n") + block(
        "extconfig.conf, PJSIP"
    )
    files = {
        "extconfig.conf": tables.replace(":8000/", port),
        "res_curl.conf": block("res_curl.conf").replace("THE-TOKEN", TOKEN),
        "sorcery.conf": block("sorcery.conf"),
        "extensions.conf": dialplan(),
    }
    pjsip = (
        block("pjsip.conf")
        + trunk.section()
        + endpoint_section(1999, *_WRONG)
        + "".join(endpoint_section(3000 + n, *variables_of("Berlin")) for n in range(CROWD))
    )
    async with running(pjsip, sccp=sccp if HAS_SCCP else None, more=files) as exchange:
        service.environment["PHONEPROV_AMI_PORT"] = str(exchange.ami)
        service.start()
        made = DrillOffice(service, exchange)
        made.trunk = trunk
        async with made.client:
            await made.begin()
            await furnish(made)
            yield made
        for phone in made.phones.values():
            await phone.stop()


async def furnish(office: DrillOffice) -> None:
    for city, (number, place) in CITIES.items():
        body = {"name": city, "emergency_number": number, "emergency_place": place}
        data_of(await office.admin.post("/locations", body), 201)
    if HAS_SCCP:
        for own, location in ((1, "Berlin/3"), (2, "leipzig"), (3, None)):
            phone = await office.phone(own, own=f"90{own}")
            await office.place(phone.mac, location)
            await phone.start()
    for desk, user, location in ((11, "ada", "Berlin"), (12, "bob", "Leipzig/1")):
        mac = await office.sip_phone(desk)
        await office.place(mac, location)
        await office.switched(mac, user)
        office.sip[user] = office.as_user(desk, user)
        await office.sip[user].register()


pytestmark = pytest.mark.asyncio(loop_scope="module")
sccp_only = pytest.mark.skipif(not HAS_SCCP, reason="needs chan_sccp")
LOCATED = {SIP_BERLIN, SIP_LEIPZIG} | ({BERLIN, LEIPZIG} if HAS_SCCP else set())


async def test_desks_as_recorded_agree_in_every_run(office: DrillOffice) -> None:
    rows, _ = await office.drilled()
    agreeing = LOCATED | ({NOWHERE} if HAS_SCCP else set())
    assert {mac for mac, row in rows.items() if row["result"] == "agrees"} == agreeing
    for mac in LOCATED:
        row = rows[mac]
        city = CITIES[row["location"].partition("/")[0].title()]
        assert (row["presented_number"], row["presented_place"]) == city
        assert (row["recorded_number"], row["recorded_place"]) == city
    assert rows[SIP_BERLIN]["line"] == "1001"
    if HAS_SCCP:
        assert (rows[BERLIN]["line"], rows[NOWHERE]["presented_number"]) == ("901", "+493012300")
    for _ in range(RUNS):
        rows, code = await office.drilled()
        assert ({mac for mac, row in rows.items() if row["result"] == "agrees"}, code) == (
            agreeing,
            0,
        )
    assert not office.trunk.received()


@sccp_only
async def test_sccp_phone_with_an_old_answer_is_found(office: DrillOffice) -> None:
    await office.place(BERLIN, "Leipzig")
    found = await office.faults()
    assert list(found) == [BERLIN]
    assert 'from 901 presents the number "+4930112" instead of "+49341112"' in found[BERLIN]
    assert (
        'the place "Lager & Küche, Hof; 100 % = ü" instead of "Markt 2, Leipzig"' in found[BERLIN]
    )
    newest, *_ = data_of(await office.admin.get(f"/phones/{BERLIN}/drills", limit=1))
    assert (newest["result"], newest["message"]) == ("differs", found[BERLIN])
    listed = data_of(await office.admin.get("/phones", last_drill="differs"))
    assert [one["mac"] for one in listed] == [BERLIN]
    await office.registers_again(office.phones[BERLIN])
    assert await office.faults() == {}
    await office.place(BERLIN, "Berlin/3")
    await office.registers_again(office.phones[BERLIN])
    assert await office.faults() == {}


@sccp_only
async def test_sccp_phone_with_values_of_no_location_is_found(office: DrillOffice) -> None:
    await office.place(LEIPZIG, None)
    found = await office.faults()
    assert list(found) == [LEIPZIG]
    assert '"+49341112", which no location of the phone has' in found[LEIPZIG]
    await office.place(LEIPZIG, "Leipzig")
    assert await office.faults() == {}


@sccp_only
async def test_sccp_phone_from_before_its_location_is_found(office: DrillOffice) -> None:
    await office.place(NOWHERE, "Berlin")
    found = await office.faults("--location", "berlin")
    assert list(found) == [NOWHERE]
    assert '"+493012300" instead of "+4930112"' in found[NOWHERE]
    await office.place(NOWHERE, None)
    assert await office.faults() == {}


@sccp_only
async def test_section_of_sccp_conf_that_wins_is_found(office: DrillOffice) -> None:
    phone = await office.phone(4)
    await office.place(STATIC, "Berlin")
    rows, code = await office.drilled("--location", "Berlin")
    assert (rows[STATIC]["result"], rows[STATIC]["line"], code) == ("not_registered", None, 0)
    await phone.start()
    found = await office.faults()
    assert list(found) == [STATIC]
    assert '"+49999" instead of "+4930112"' in found[STATIC]
    await phone.stop()
    del office.phones[STATIC]
    data_of(await office.admin.put(f"/phones/{STATIC}", {"is_active": False}))
    assert await office.faults() == {}


async def test_section_of_pjsip_conf_that_phoneprov_does_not_know_is_found(
    office: DrillOffice,
) -> None:
    mac = await office.sip_phone(13)
    await office.place(mac, "Berlin")
    await register(office, 1999, "127.0.1.13")
    found = await office.faults()
    assert list(found) == [SIP_STATIC]
    assert 'from 1999 presents the number "+49999"' in found[SIP_STATIC]
    data_of(await office.admin.put(f"/phones/{mac}", {"is_active": False}))
    assert await office.faults() == {}


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('${IF($["${PHONEPROV_EMERGENCY}" = ""]?+493012300:${PHONEPROV_EMERGENCY})}',
         "+493012300", 'the number "+493012300"'),
        ("Set(CALLERID(name)=${PHONEPROV_PLACE})", "NoOp()", "the place none"),
        ("?+493012300:${PHONEPROV_EMERGENCY}", "?+493012300:${PHONEPROV_EMERGENCY:1}",
         'the number "49'),
    ],
    ids=["without the number", "without the place", "with a changed number"],
)  # fmt: skip
async def test_dialplan_is_found(office: DrillOffice, before: str, after: str, says: str) -> None:
    async with office.edited(before, after):
        found = await office.faults()
    assert {*found} == LOCATED
    assert all(says in message for message in found.values())


async def test_dialplan_of_one_desk_is_found(office: DrillOffice) -> None:
    first = "exten => s,1,Set(CALLERID(num)"
    override = "exten => s,1,GotoIf($[${CALLERID(num)} = 1002]?3)\n same => n,Set(CALLERID(num)"
    async with office.edited(first, override):
        assert list(await office.faults()) == [SIP_LEIPZIG]


async def test_trunk_with_a_number_of_its_own_is_found(office: DrillOffice) -> None:
    section = office.trunk.section("from_user = 4930999")
    reload = "module reload res_pjsip.so"
    async with office.edited(office.trunk.section(), section, "pjsip.conf", reload):
        found = await office.faults()
    assert {*found} == LOCATED
    assert all('number "4930999"' in message for message in found.values())


async def test_stale_snapshot_is_found_while_the_service_is_stopped(office: DrillOffice) -> None:
    await export(office)
    await office.place(SIP_BERLIN, "Leipzig")
    assert await office.faults() == {}  # Asterisk asks the service
    office.service.stop()
    found = await office.faults()
    assert list(found) == [SIP_BERLIN]
    assert '"+4930112" instead of "+49341112"' in found[SIP_BERLIN]
    office.service.start()
    assert await office.faults() == {}
    await office.place(SIP_BERLIN, "Berlin")
    assert await office.faults() == {}


async def test_sip_phone_that_is_registered_as_its_last_user_is_found(office: DrillOffice) -> None:
    assert (await office.switched(SIP_LEIPZIG, "cy"))["outcome"] == "deployed"
    found = await office.faults()
    assert list(found) == [SIP_LEIPZIG]
    assert 'from 1002 presents the number "+493012300" instead' in found[SIP_LEIPZIG]
    phone = office.as_user(12, "cy")
    await phone.register()  # the contact of bob remains for an hour
    assert await office.faults() == {}
    await office.sip["bob"].register(expires=0)
    assert await office.faults() == {}
    await phone.register(expires=0)
    rows, _ = await office.drilled("--location", "Leipzig")
    assert rows[SIP_LEIPZIG]["result"] == "not_registered"
    await phone.register()


async def test_number_on_several_phones_is_found(office: DrillOffice) -> None:
    mac = await office.sip_phone(14)
    await office.place(mac, "Leipzig")
    await office.switched(mac, "ada")
    found = await office.faults()
    assert list(found) == [SIP_BERLIN]
    assert '"+493012300" instead of "+4930112"' in found[SIP_BERLIN]
    data_of(await office.admin.put(f"/phones/{mac}", {"is_active": False}))
    assert await office.faults() == {}


async def test_exchange_without_the_context_is_unknown_within_seconds(office: DrillOffice) -> None:
    async with office.edited("[phoneprov-drill]", "[none]"):
        began = time.monotonic()
        rows, code = await office.drilled()
        assert time.monotonic() - began < 60
    results = {row["result"] for mac, row in rows.items() if mac in LOCATED}
    assert (results, code) == ({"unknown"}, 1)
    assert "phoneprov-drill" in rows[SIP_BERLIN]["message"]


@sccp_only
async def test_drills_beside_switches_and_each_other_find_nothing(office: DrillOffice) -> None:
    """A phone that restarts is not registered for a moment, and never differs."""
    await office.user("eve", "905")
    drills = asyncio.gather(*(office.drilled("--location", "Berlin") for _ in range(2)))
    phone = office.phones[BERLIN]
    before = phone.registrations
    await office.log_in(phone, "eve")
    for rows, _ in await drills:
        assert {row["result"] for row in rows.values()} <= {"agrees", "not_registered"}
    await phone.registered(before + 1)
    rows, _ = await office.drilled("--location", "Berlin")
    assert (rows[BERLIN]["line"], rows[BERLIN]["result"]) == ("905", "agrees")


async def test_crowd_takes_less_than_a_minute(office: DrillOffice) -> None:
    for number in range(CROWD):
        mac = mac_of(FIRST_OF_CROWD + number)
        body = {"mac": mac, "software_type": "SIP", "location": "Berlin/crowd",
                "phone_ip": f"127.0.2.{number + 1}"}  # fmt: skip
        data_of(await office.admin.post("/phones", body), 201)
        await register(office, 3000 + number, body["phone_ip"])
    began = time.monotonic()
    rows, code = await office.drilled("--location", "Berlin/crowd")
    seconds = time.monotonic() - began
    note(f"a drill of {CROWD} SIP phones takes {seconds:.1f} s")
    assert {row["message"] for row in rows.values()} == {None}
    assert ({row["result"] for row in rows.values()}, len(rows), code) == ({"agrees"}, CROWD, 0)
    assert seconds < 60


@sccp_only
async def test_crowd_of_sccp_phones_takes_less_than_a_minute(office: DrillOffice) -> None:
    crowd = [await office.phone(2000 + n, own=f"{4000 + n}") for n in range(CROWD)]
    for phone in crowd:
        await office.place(phone.mac, "Leipzig/crowd")
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(phone.start() for phone in crowd))
    began = time.monotonic()
    rows, code = await office.drilled("--location", "Leipzig/crowd")
    seconds = time.monotonic() - began
    note(f"a drill of {CROWD} SCCP phones takes {seconds:.1f} s")
    assert {row["message"] for row in rows.values()} == {None}
    assert ({row["result"] for row in rows.values()}, len(rows), code) == ({"agrees"}, CROWD, 0)
    assert seconds < 60


async def test_call_that_is_no_drill_reaches_the_trunk(office: DrillOffice) -> None:
    """What the tests above count would be seen."""
    assert not office.trunk.received()
    await office.exchange.command("channel originate Local/112@emergency application Wait 1")
    [invite, *_] = await until(office.trunk.received)
    assert invite.startswith("INVITE sip:112@")
    assert "<sip:+493012300@" in invite
