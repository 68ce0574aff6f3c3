"""The how-to pages of emergency calls and of SIP phones while the service is away, on a Debian with
the files of the packages: the blocks of the pages, and the commands of the units in ``deploy/``
(``make test-asterisk-lines``, with Asterisk 16 and 22).

It runs in a network and a mount namespace of its own.
"""

import asyncio
import os
import re
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from configparser import ConfigParser, SectionProxy
from functools import cached_property
from pathlib import Path

import pytest
import pytest_asyncio

from asterisk.check_emergency import HAS_SCCP
from asterisk.check_how_to import At, Debian, commands, debian, near, run
from asterisk.check_lines import PAGE, DeskPhone, Office, block, mac_of
from asterisk.exchange import ROOT, WITHIN, Exchange, Sipp, _call
from faults.served import Served
from support.api import data_of
from support.command_line import PROGRAM, without_settings

__all__ = ["debian"]

EMERGENCY = PAGE.parent / "emergency-calls.md"
UNIT = PAGE.parents[2] / "deploy/phoneprov-pjsip.service"
NUMBER, PASSWORD = "1001", "s1p&secret=1%41"
SNAPSHOT = "etc/asterisk/pjsip_phoneprov.conf"
PLACES = {"Berlin": ("+493012345", "Hauptstr. 1; Küche"), "Leipzig": ("+4934112345", "Markt 2")}
TRUNK = (
    "\n[transport-udp]\ntype = transport\nprotocol = udp\nbind = 0.0.0.0\n\n"
    "[trunk]\ntype = endpoint\ncontext = default\nallow = !all,alaw\naors = trunk\n\n"
    "[trunk]\ntype = aor\ncontact = sip:127.0.0.1:{port}\n\n"
)


def dialplan() -> str:
    """The dialplan of the page; that of the drill is tried with the drill."""
    found = re.findall(
        r"```ini\n; extensions\.conf, (\w+)\n(.*?)```", EMERGENCY.read_text(), re.DOTALL
    )
    return "".join(text for name, text in found if name != "drill")


class Phone(Sipp):
    """A phone whose call the trunk refuses."""

    async def calls(self, number: str) -> str:
        call = _call(self._number, self._password, number).replace('"200" rrs="true"', '"486"')
        return await self._run(call.partition('<recv request="BYE"/>')[0] + "</scenario>", "calls")


class Page(Office):
    """The office of the pages: SIP phones, and SCCP phones where there is chan_sccp."""

    def __init__(self, service: Served, debian: Debian, rig: Exchange, trunk: Sipp) -> None:
        super().__init__(service, debian)
        self.rig, self.trunk = rig, trunk

    @cached_property
    def account(self) -> tuple[int, int]:
        """The account of the service in the folder of Asterisk."""
        folder = self.exchange.folder
        run("chroot", folder, "useradd", "--system", "--user-group", "phoneprov")
        found = (
            run("chroot", folder, "id", "-u", "phoneprov"),
            run("chroot", folder, "id", "-g", "phoneprov"),
        )
        return int(found[0]), int(found[1])

    def sip_phone(self) -> Phone:
        return Phone(self.rig, NUMBER, PASSWORD)

    async def presented(self, phone: Phone | DeskPhone) -> tuple[str, str]:
        """Call 112: number and name in the INVITE that the trunk gets."""
        ringing = asyncio.create_task(self.trunk.rings())
        await asyncio.sleep(1.0)  # SIPp opens its port
        if isinstance(phone, DeskPhone):
            phone.dial("112")
        else:
            await phone.calls("112")
        sent = await ringing
        assert "INVITE sip:112@" in sent
        found = re.search(r'^From: (?:"(.*?)" )?<sip:(\S+?)@', sent, re.MULTILINE)
        assert found, sent
        return found[2], found[1] or ""

    def snapshot(self) -> int:
        """What the timer does; the inode of the file that Asterisk reads."""
        unit = read_unit()
        command = shlex.split(unit["ExecStart"])
        program, name = command[0], next(one for one in command if one.endswith(".conf"))
        assert program == "/opt/phoneprov/bin/phoneprov"
        file = self.exchange.folder / name.removeprefix("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        command = [*PROGRAM, *(str(file) if one == name else one for one in command[1:])]
        run(*command, **without_settings(**self.service.environment))
        shutil.chown(file, *self.account)  # as the account of the unit, which is not here
        self.copy()
        return (self.exchange.folder / SNAPSHOT).stat().st_ino

    def copy(self) -> None:
        """The second command of the unit, as root."""
        after = read_unit()["ExecStartPost"]
        assert after.startswith("+")
        run("chroot", self.exchange.folder, *shlex.split(after.removeprefix("+")))


def read_unit() -> SectionProxy:
    """The service of the unit."""
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(UNIT)
    return unit["Service"]


@pytest.fixture(scope="module")
def rig() -> Iterator[Exchange]:
    """The folder in which SIPp has its files."""
    folder = ROOT / WITHIN / f"phoneprov-how-to-{os.getpid()}"
    folder.mkdir(parents=True)
    yield Exchange(5038, 5060, folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def trunk(rig: Exchange) -> Sipp:
    """The other end of the trunk."""
    return Sipp(rig, "trunk", "")


@pytest.fixture(scope="module")
def service(
    debian: Debian, trunk: Sipp, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The service, and Asterisk with the files of the pages."""
    exported = run("sh", "-e", "-c", f"{commands('openssl rand')} env -0")
    environment = dict(
        one.split("=", 1) for one in exported.split("\0") if one.startswith("PHONEPROV_")
    )
    token = Path(environment["PHONEPROV_ASTERISK_TOKEN_FILE"]).read_text().strip()
    curl = block("res_curl.conf").replace("THE-TOKEN", token)
    files = {
        "extconfig.conf": block("extconfig.conf") + block("extconfig.conf, PJSIP"),
        "res_curl.conf": curl.replace("httptimeout = 10", "httptimeout = 2"),
        "sorcery.conf": block("sorcery.conf"),
        "extensions.conf": block("extensions.conf") + dialplan(),
    }
    for name, text in files.items():
        debian.write(name, text)
    if HAS_SCCP:
        debian.follow("chan_skinny")
        debian.write("sccp.conf", block("sccp.conf"))
    debian.write("pjsip.conf", TRUNK.format(port=trunk.port) + block("pjsip.conf"), add=True)
    debian.start()
    made = At(
        tmp_path_factory.mktemp("office"),
        "127.0.0.1",
        {
            **environment,
            "PHONEPROV_ASTERISK_PJSIP": "on",
            "PHONEPROV_UPLOADER": "served",
            "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
            "PHONEPROV_RESTART": "none",
        },
    )
    made.start()
    yield made
    made.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(
    service: Served, debian: Debian, rig: Exchange, trunk: Sipp
) -> AsyncIterator[Page]:
    made = Page(service, debian, rig, trunk)
    async with made.client:
        await made.begin()
        for city, (number, place) in PLACES.items():
            body = {"name": city, "emergency_number": number, "emergency_place": place}
            data_of(await made.admin.post("/locations", body), 201)
        await a_user(made)
        yield made
    for phone in made.phones.values():
        await phone.stop()


async def a_user(office: Page) -> None:
    """A user of chan_pjsip whose profile is on a SIP phone in Berlin."""
    body = {"first_name": "Ada", "last_name": "L", "username": "ada", "email": "a@a.example",
            "password": "analytical engine 1843"}  # fmt: skip
    user = data_of(await office.admin.post("/users", body), 201)["uuid"]
    body = {"type": "chan_pjsip", "extension": NUMBER, "name": "Ada", "password": PASSWORD}
    extension = data_of(await office.admin.post("/extensions", body), 201)["uuid"]
    body = {"user_uuid": user, "extension_uuid": extension}
    data_of(await office.admin.post("/user-extensions", body), 201)
    body = {"user_uuid": user, "name": "ada", "cnf_xml": "<device/>"}
    profile = (await office.admin.post("/phone-profiles", body)).json()["data"]["uuid"]
    body = {"mac": mac_of(1), "software_type": "SIP", "location": "Berlin/3"}
    data_of(await office.admin.post("/phones", body), 201)
    body = {"profile_uuid": profile, "mac": mac_of(1)}
    assert (await office.admin.post("/phone-profiles/switch", body)).status_code == 200


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_trunk_gets_number_and_place_of_the_desk(office: Page) -> None:
    phone = office.sip_phone()
    await phone.register()
    assert await office.presented(phone) == PLACES["Berlin"]
    if HAS_SCCP:
        desk = near(await office.phone(2, own="102"))
        main = ("+493012300", "")  # no location: the main number of the page
        for location, expected in (("Leipzig/2", PLACES["Leipzig"]), ("Paris", main)):
            data_of(await office.admin.put(f"/phones/{desk.mac}", {"location": location}))
            await desk.start()
            assert await office.presented(desk) == expected
            await desk.leave()


@pytest.mark.parametrize("how", ["killed", "hanging"])
async def test_snapshot_of_the_timer_serves_while_the_service_is(office: Page, how: str) -> None:
    service, path = office.service, f"/phones/{mac_of(1)}"
    phone = office.sip_phone()
    await phone.register()
    data_of(await office.admin.put(path, {"location": "Berlin"}))
    before = await asyncio.to_thread(office.snapshot)
    assert await asyncio.to_thread(office.snapshot) == before  # Asterisk reloads nothing
    data_of(await office.admin.put(path, {"location": "Leipzig"}))
    assert await asyncio.to_thread(office.snapshot) != before
    file = office.exchange.folder / SNAPSHOT
    assert file.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in file.parent.glob(".pjsip*")] == []

    if how == "hanging":
        os.killpg(service.pid, signal.SIGSTOP)
    else:
        service.kill()
    try:
        assert await office.presented(phone) == PLACES["Leipzig"]
        await phone.register(retry_ms=60_000)
    finally:
        if how == "hanging":
            os.killpg(service.pid, signal.SIGCONT)
        else:
            await asyncio.to_thread(service.start)
    assert await office.presented(phone) == PLACES["Leipzig"]


async def test_snapshot_is_no_file_that_the_account_cannot_read(office: Page) -> None:
    await asyncio.to_thread(office.snapshot)
    copy = office.exchange.folder / SNAPSHOT
    before = copy.read_bytes()
    file = office.exchange.folder / "var/lib/phoneprov/pjsip_phoneprov.conf"
    file.unlink()
    file.symlink_to("/etc/shadow")
    with pytest.raises(AssertionError, match="Permission denied"):
        await asyncio.to_thread(office.copy)
    assert copy.read_bytes() == before
