"""Numbers and places of emergency calls at a real Asterisk, for SCCP and SIP phones: each way in
which a phone changes hands, texts of any kind, a service that is killed or away (``make
test-asterisk-lines``)."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_asyncio
from msgspec.structs import replace

from asterisk.check_lines import PIN, TOKEN, DeskPhone, Office, block, mac_of, service_of_exchange
from asterisk.exchange import ROOT, SECONDS, Sipp, running
from faults.served import Served
from phoneprov_core.switching.devices.names import device_name
from support.api import data_of
from support.command_line import PROGRAM, without_settings
from support.polling import until
from support.scale import note, rounds

HAS_SCCP = any((ROOT / "usr/lib").rglob("chan_sccp.so"))
KINDS = ["sccp", "pjsip"] if HAS_SCCP else ["pjsip"]
PASSWORD = "s1p&secret=1%41"
PLACES = {"Berlin": ("+4930112", "Hauptstr. 1"), "Leipzig": ("+49341112", "Markt 2")}
NOWHERE = ("", "")
DIALPLAN = (
    "[default]\n"
    'exten => 112,1,ExecIf($["${CHANNEL(channeltype)}" = "PJSIP"]?Answer())\n'
    " same => n,Log(NOTICE,presented ${CALLERID(num)} <${URIENCODE(${PHONEPROV_EMERGENCY})}> "
    "<${URIENCODE(${PHONEPROV_PLACE})}>)\n"
    " same => n,Hangup()\n"
    "exten => _1XXX,1,Dial(PJSIP/${EXTEN},20)\nexten => _2XXX,1,Dial(SCCP/${EXTEN},20)\n"
)
"""An emergency call reaches no trunk. Numbers with 1 are SIP phones."""
_PRESENTED = re.compile(r"presented (\S+) <(\S*)> <(\S*)>")


def address_of(number: int) -> str:
    """The address of the phone with this number."""
    return f"127.0.1.{number % 250 + 1}"


@dataclass
class Presented:
    """What the dialplan sees of an emergency call."""

    number: str
    values: tuple[str, str]


@dataclass
class Desk:
    """A phone, and the number that it has while no user is logged in."""

    kind: str
    number: int
    own: str
    phone: DeskPhone | None = None
    calls: int = field(default=0)

    @property
    def mac(self) -> str:
        return mac_of(self.number)

    @property
    def address(self) -> str:
        return address_of(self.number)


class Desks(Office):
    """An office with desks of both kinds, each with a default profile of an owner of its own."""

    last = 0

    def next(self) -> int:
        self.last += 1
        return self.last

    async def holder(self, kind: str) -> tuple[str, str, str]:
        """A user with a PIN, a profile and a number: username, number and profile."""
        one = self.next()
        name, number = f"user{one}", f"{2 if kind == 'sccp' else 1}{one:03}"
        body = {"first_name": name, "last_name": "L", "username": name,
                "password": "analytical 1843", "email": f"{name}@a.example"}  # fmt: skip
        uuid = data_of(await self.admin.post("/users", body), 201)["uuid"]
        await self.admin.put(f"/vendor-users/{uuid}", {"pin_code": PIN})
        body = {"type": f"chan_{kind}", "extension": number, "name": name, "password": PASSWORD}
        extension = data_of(await self.admin.post("/extensions", body), 201)["uuid"]
        link = {"user_uuid": uuid, "extension_uuid": extension}
        data_of(await self.admin.post("/user-extensions", link), 201)
        profile = {"user_uuid": uuid, "name": number, "cnf_xml": f"<device><n>{name}</n></device>"}
        reply = await self.admin.post("/phone-profiles", profile)
        return name, number, reply.json()["data"]["uuid"]

    async def desk(self, kind: str, location: str | None) -> Desk:
        """A registered phone at a location, with its default profile."""
        _, own, profile = await self.holder(kind)
        desk = Desk(kind, self.next(), own)
        body = {"mac": desk.mac, "phone_ip": desk.address, "location": location,
                "model": "CP-7945G",
                "software_type": "SCCP" if kind == "sccp" else "SIP"}  # fmt: skip
        data_of(await self.admin.post("/phones", body), 201)
        body = {"default_profile_uuid": profile}
        data_of(await self.admin.put(f"/phones/{desk.mac}/desk", body))
        await self.switched(desk, profile)
        if kind == "sccp":
            desk.phone = DeskPhone(desk.mac, self.exchange.sccp)
            self.phones[desk.mac] = desk.phone
            async with asyncio.timeout(SECONDS):
                await desk.phone.start()
        return desk

    async def switched(self, desk: Desk, profile: str) -> None:
        body = {"profile_uuid": profile, "mac": desk.mac}
        reply = await self.admin.post("/phone-profiles/switch", body)
        assert reply.status_code == 200, reply.text

    async def configured(self, desk: Desk) -> str:
        """The number in the configuration of a phone."""
        path = f"/phones/{desk.mac}/deployments"
        deployed = [
            one
            for one in data_of(await self.admin.get(path))
            if one["outcome"] in {"deployed", "unknown"}
        ]
        return str(deployed[-1]["profile_name"])

    async def call(self, desk: Desk, number: str) -> Presented:
        """An emergency call with this number, which the phone has."""
        before = len(_PRESENTED.findall(self.exchange.log()))
        if desk.phone is not None:
            desk.phone.dial("112")
        else:
            phone = self.sipp(desk, number)
            await phone.register(retry_ms=60_000)  # a busy machine is late
            await phone.calls("112")

        async def is_logged() -> Any:
            return _PRESENTED.findall(self.exchange.log())[before:]

        [(presented, emergency, place)] = await until(is_logged, SECONDS)
        return Presented(presented, (unquote(emergency), unquote(place)))

    def sipp(self, desk: Desk, number: str) -> Sipp:
        """The phone after a restart with the configuration of a number."""
        desk.calls += 1
        call_id = f"{desk.number}-{desk.calls}@phone"
        return Sipp(self.exchange, number, PASSWORD, address=desk.address, call_id=call_id)

    async def has(self, desk: Desk, number: str) -> None:
        """Wait until a phone has restarted with a number."""
        name = device_name(desk.mac)

        async def is_there() -> bool:
            if desk.phone is None:
                return await self.configured(desk) == number
            shown = await self.exchange.command(f"sccp show line {number}")
            return name in shown and desk.phone.is_registered

        try:
            await until(is_there, SECONDS)
        except TimeoutError:
            # chan_sccp can lose a line, as docs/how-to/lines.md says: then the phone is restarted.
            lines = data_of(await self.admin.get(f"/phones/{desk.mac}/lines"))
            if desk.phone is None or number not in {line["name"] for line in lines}:
                raise
            note(f"chan_sccp lost the line {number}, or the phone its restart")
            await self.exchange.command(f"sccp restart {name}")
            await until(is_there, SECONDS)

    async def presents(self, desk: Desk, number: str, values: tuple[str, str]) -> None:
        """A phone has this number, its emergency call presents these values, and the number is at
        no other phone."""
        await self.has(desk, number)
        assert await self.call(desk, number) == Presented(number, values)
        lines = (await self.admin.get(f"/phones/{desk.mac}/lines")).json()["metadata"]
        stated = (lines.get("emergency_number", ""), lines.get("emergency_place", ""))
        assert stated == values

        async def is_alone() -> bool:  # the phone that the user left restarts, too
            return await self.at(number) == {desk.address}

        await until(is_alone)
        if desk.phone is not None:
            assert await self.rings_at(number) == {desk.mac}

    async def at(self, number: str) -> set[str]:
        """The addresses of the phones that have a number."""
        if number.startswith("1"):
            shown = await self.exchange.command(f"pjsip show aor {number}")
            return set(re.findall(rf"sip:{number}@([\d.]+):", shown))
        # No phone may ring for this: during a call it is not restarted.
        shown = await self.exchange.command(f"sccp show line {number}")
        macs = {mac for mac in self.phones if device_name(mac) in shown}
        return {address_of(int(mac.replace(":", "")[6:], 16)) for mac in macs}

    async def log_in_at(self, desk: Desk, user: str) -> None:
        await self.log_in(desk.phone or DeskPhone(desk.mac, 0), user)

    async def export(self) -> None:
        """Make the snapshot as the timer does."""
        file = self.exchange.folder / "pjsip_phoneprov.conf"
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, "export", "extensions", str(file), "--format", "pjsip", "--with-secrets",
            env=without_settings(**self.service.environment), stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert await process.wait() == 0
        await self.exchange.command("module reload res_pjsip.so")

    @contextmanager
    def away(self, how: str) -> Iterator[None]:
        """While the service is stopped, killed or hangs."""
        if how == "hanging":
            os.killpg(self.service.pid, signal.SIGSTOP)
        elif how == "killed":
            self.service.kill()
        else:
            self.service.stop()
        try:
            yield
        finally:
            if how == "hanging":
                os.killpg(self.service.pid, signal.SIGCONT)
            else:
                self.service.start()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service, not yet started."""
    with service_of_exchange(
        tmp_path_factory.mktemp("office"),
        PHONEPROV_ASTERISK_PJSIP="on",
        PHONEPROV_CONFIRM_TIMEOUT="5",
        PHONEPROV_DESK_HOURS="1",
    ) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(service: Served) -> AsyncIterator[Desks]:
    def sccp(port: int) -> str:
        text = block("sccp.conf").replace("port = 2000", f"port = {port}")
        return text.replace("10.20.0.0/255.255.0.0", "127.0.0.0/255.0.0.0")

    tables = block("extconfig.conf") + block("extconfig.conf, PJSIP")
    files = {
        "extconfig.conf": tables.replace(":8000/", f":{service.port}/"),
        "res_curl.conf": block("res_curl.conf")
        .replace("THE-TOKEN", TOKEN)
        .replace("httptimeout = 10", "httptimeout = 2"),
        "sorcery.conf": block("sorcery.conf"),
        "extensions.conf": DIALPLAN,
    }
    async with running(
        block("pjsip.conf"), sccp=sccp if HAS_SCCP else None, more=files
    ) as exchange:
        service.environment["PHONEPROV_AMI_PORT"] = str(exchange.ami)
        service.start()
        made = Desks(service, exchange)
        async with made.client:
            await made.begin()
            for city, (number, place) in PLACES.items():
                body = {"name": city, "emergency_number": number, "emergency_place": place}
                data_of(await made.admin.post("/locations", body), 201)
            yield made
        for phone in made.phones.values():
            await phone.stop()


pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.parametrize("kind", KINDS)]


async def test_number_and_place_follow_login_move_logout_and_expiry(
    office: Desks, service: Served, kind: str
) -> None:
    berlin = await office.desk(kind, "Berlin/3")
    leipzig = await office.desk(kind, "LEIPZIG / 1")
    elsewhere = await office.desk(kind, "Leipzig 2")
    user, number, _ = await office.holder(kind)
    await office.presents(berlin, berlin.own, PLACES["Berlin"])
    await office.presents(elsewhere, elsewhere.own, NOWHERE)

    await office.log_in_at(berlin, user)
    await office.presents(berlin, number, PLACES["Berlin"])
    await office.log_in_at(leipzig, user)
    if kind == "pjsip":  # the variables are those of the number, until the phone has restarted
        assert await office.call(berlin, number) == Presented(number, PLACES["Leipzig"])
    await office.presents(leipzig, number, PLACES["Leipzig"])
    await office.presents(berlin, berlin.own, PLACES["Berlin"])
    await office.log_in_at(elsewhere, user)
    await office.presents(elsewhere, number, NOWHERE)
    await office.presents(leipzig, leipzig.own, PLACES["Leipzig"])
    data_of(await office.admin.post(f"/phones/{elsewhere.mac}/desk/logout", {}))
    await office.presents(elsewhere, elsewhere.own, NOWHERE)

    await office.log_in_at(leipzig, user)
    await office.presents(leipzig, number, PLACES["Leipzig"])
    async with service.direct() as direct, direct.database.write() as tx:
        desk = await tx.desks.find(leipzig.mac)
        await tx.desks.put(replace(desk, until="2026-01-01T00:00:00.000Z"))
    await office.presents(leipzig, leipzig.own, PLACES["Leipzig"])
    await office.log_in_at(berlin, user)
    await office.presents(berlin, number, PLACES["Berlin"])


async def test_replacement_presents_the_place_of_the_phone_that_it_replaces(
    office: Desks, kind: str
) -> None:
    old = await office.desk(kind, "Berlin/3")
    user, number, _ = await office.holder(kind)
    await office.log_in_at(old, user)
    await office.presents(old, number, PLACES["Berlin"])
    new = Desk(kind, office.next(), old.own)
    if old.phone is not None:
        del office.phones[old.mac]
        await old.phone.stop()
        new.phone = office.phones[new.mac] = DeskPhone(new.mac, office.exchange.sccp)
    body = {"mac": new.mac, "phone_ip": new.address}
    data_of(await office.admin.post(f"/phones/{old.mac}/replace", body), 201)
    if new.phone is not None:
        async with asyncio.timeout(SECONDS):
            await new.phone.start()
    await office.presents(new, number, PLACES["Berlin"])
    if old.phone is not None:  # the replaced phone is refused
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await old.phone.register()
        await old.phone.disconnected()
    data_of(await office.admin.put(f"/phones/{new.mac}", {"location": "Leipzig"}))
    if new.phone is not None:  # an SCCP phone has it after its next registration
        assert (await office.call(new, number)).values == PLACES["Berlin"]
        await office.exchange.command(f"sccp restart {device_name(new.mac)}")
        await new.phone.registered(new.phone.registrations + 1)
    await office.presents(new, number, PLACES["Leipzig"])


async def test_batch_that_is_undone_leaves_number_and_place(office: Desks, kind: str) -> None:
    berlin, leipzig = await office.desk(kind, "Berlin"), await office.desk(kind, "Leipzig")
    user, number, _ = await office.holder(kind)
    _, other, profile = await office.holder(kind)
    await office.log_in_at(berlin, user)
    await office.presents(berlin, number, PLACES["Berlin"])
    await office.presents(leipzig, leipzig.own, PLACES["Leipzig"])

    async def batch(*desks: Desk, **fields: Any) -> dict[str, Any]:
        body = {"action": "switch", "profile_uuid": profile, "macs": [one.mac for one in desks]}
        made = data_of(await office.admin.post("/batches", {**body, **fields}), 202)
        return await over(made["uuid"])

    async def over(uuid: str) -> dict[str, Any]:
        async def ended() -> Any:
            found = data_of(await office.admin.get(f"/batches/{uuid}"))
            return found if found["ended_at"] else None

        return dict(await until(ended, 2 * SECONDS))

    if berlin.phone is not None:
        berlin.phone.ignored = 1  # the phone does not restart: the batch stops
    stopped = await batch(berlin, leipzig, first=1, first_minutes=1, undo_on_stop=True)
    assert stopped["state"] == "stopped"
    assert (await over(stopped["undone_by"]))["phones"]["left_out"] == 0
    await office.presents(berlin, number, PLACES["Berlin"])
    await office.presents(leipzig, leipzig.own, PLACES["Leipzig"])

    assert (await batch(leipzig))["state"] == "done"
    await office.presents(leipzig, other, PLACES["Leipzig"])


async def test_user_at_two_desks_presents_the_desk_or_nothing(
    office: Desks, service: Served, kind: str
) -> None:
    berlin, leipzig = await office.desk(kind, "Berlin"), await office.desk(kind, "Leipzig")
    user, number, _ = await office.holder(kind)
    with restarted(service, PHONEPROV_DESK_ELSEWHERE="allow"):
        for desk in (berlin, leipzig):
            await office.log_in_at(desk, user)
            await office.has(desk, number)
        if kind == "sccp":  # the variables are those of the device
            assert await office.at(number) == {berlin.address, leipzig.address}
            for desk, city in ((berlin, "Berlin"), (leipzig, "Leipzig")):
                assert await office.call(desk, number) == Presented(number, PLACES[city])
        else:  # those of the endpoint, which is at both: never a guess
            for desk in (berlin, leipzig):
                await office.presents(desk, number, NOWHERE)
        data_of(await office.admin.post(f"/phones/{berlin.mac}/desk/logout", {}))
        await office.presents(leipzig, number, PLACES["Leipzig"])
        await office.presents(berlin, berlin.own, PLACES["Berlin"])


@contextmanager
def restarted(service: Served, **environment: str) -> Iterator[None]:
    """The service with other settings, and then as before."""
    before = dict(service.environment)

    def again(settings: dict[str, str]) -> None:
        service.stop()
        service.environment.clear()
        service.environment |= settings
        service.start()

    again({**before, **environment})
    try:
        yield
    finally:
        again(before)


async def test_kill_between_login_and_registration_mixes_no_places(
    office: Desks, service: Served, kind: str
) -> None:
    berlin, leipzig = await office.desk(kind, "Berlin"), await office.desk(kind, "Leipzig")
    user, number, _ = await office.holder(kind)
    desks = {"Berlin": berlin, "Leipzig": leipzig}
    for turn in range(rounds(6, 24)):
        city = "Leipzig" if turn % 2 else "Berlin"
        pause = 0.1 + turn * rounds(0.1, 0.025)
        log_in = asyncio.create_task(office.log_in_at(desks[city], user))
        await asyncio.sleep(pause)
        service.kill()
        await asyncio.gather(log_in, return_exceptions=True)
        service.start()

        async def is_settled() -> bool:
            for desk in desks.values():
                record = data_of(await office.admin.get(f"/phones/{desk.mac}/deployments"))
                if record[-1]["outcome"] == "pending":
                    return False
            async with service.direct() as direct, direct.database.read() as tx:
                found = [await tx.desks.find(one.mac) for one in desks.values()]
            return all(one.due is None and one.change_uuid is None for one in found)

        await until(is_settled)
        users = {}
        for name, desk in desks.items():
            record = data_of(await office.admin.get(f"/phones/{desk.mac}/desk"))
            users[name] = record["username"]
            await office.presents(desk, number if record["username"] else desk.own, PLACES[name])
        assert list(users.values()).count(user) <= 1
        note(f"{kind}: killed {pause * 1000:.0f} ms after the login at {city}: {users}")


async def test_phone_that_restarts_while_the_service_is_killed_has_its_place_afterwards(
    office: Desks, service: Served, kind: str
) -> None:
    if kind == "pjsip":
        pytest.skip("a SIP phone has its number from its file, and registers with the snapshot")
    berlin, leipzig = await office.desk(kind, "Berlin"), await office.desk(kind, "Leipzig")
    user, number, _ = await office.holder(kind)
    await office.log_in_at(berlin, user)
    await office.presents(berlin, number, PLACES["Berlin"])
    assert leipzig.phone
    leipzig.phone.ignored = 1  # it restarts below, while the service is dead
    await office.log_in_at(leipzig, user)
    service.kill()
    await leipzig.phone.leave()
    starting = asyncio.create_task(leipzig.phone.start())
    await asyncio.sleep(2)
    assert not starting.done()
    service.start()
    async with asyncio.timeout(SECONDS):
        await starting
    await office.presents(leipzig, number, PLACES["Leipzig"])
    await office.presents(berlin, berlin.own, PLACES["Berlin"])


ODD = {
    "signs": "% & ; = \u00fc + # , | ' ( [ {x} ] ? !",
    "comments": ";-- not a comment --; \u2013 ;; #include x",
    "percent": "%3B%26%20%zz 100 %",
    "ascii": "x" * 255,
    "two bytes": "\u00fc" * 255,
    "four bytes": "\U0001d11e" * 127 + "xyz",
    "semicolons": ";" * 255,
}
"""Places, of which dialplan, configuration files and realtime could cut or change some."""


@pytest.mark.parametrize("text", ODD)
async def test_place_arrives_whole(office: Desks, kind: str, text: str) -> None:
    number, place = "+" + "9" * 20, ODD[text]
    name = f"Odd/{text}/{kind}"
    body = {"name": name, "emergency_number": number, "emergency_place": place}
    data_of(await office.admin.post("/locations", body), 201)
    desk = await office.desk(kind, f"{name}/1")
    await office.presents(desk, desk.own, (number, place))
    if kind == "pjsip":
        await office.export()
        with office.away("killed"):
            assert (await office.call(desk, desk.own)).values == (number, place)


async def test_answer_without_a_location_is_as_ever(office: Desks, kind: str) -> None:
    desk = await office.desk(kind, None)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    name = device_name(desk.mac)
    table, key = ("sccpdevice", "name") if kind == "sccp" else ("ps_endpoints", "id")
    expected = {
        name if kind == "sccp" else desk.own: (
            f"name={name}&type=device&devicetype=7945&button=line%2C{desk.own}"
            if kind == "sccp"
            else f"id={desk.own}&context=default&disallow=all&allow=g722%2Calaw%2Culaw"
            f"&callerid=%22user{int(desk.own[1:])}%22%20%3C{desk.own}%3E"
            f"&auth={desk.own}&aors={desk.own}"
        ),
        "SEP001BD4FFFFFF": "",
        "9999": "",
    }
    path = f"/asterisk/{table}/single"
    for asked, body in expected.items():
        reply = await office.client.post(path, data={key: asked}, headers=headers)
        assert (reply.status_code, reply.text) == (200 if body else 404, body)
    if kind == "sccp":
        stranger = DeskPhone(mac_of(0xFFFF), office.exchange.sccp)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await stranger.start()
        await stranger.disconnected()


@pytest.mark.parametrize("how", ["stopped", "killed", "hanging"])
async def test_registered_phones_call_and_ring_while_the_service_is(
    office: Desks, kind: str, how: str
) -> None:
    if kind == "pjsip":
        pytest.skip("check_pjsip_objects.py has the case")
    berlin, leipzig = await office.desk(kind, "Berlin"), await office.desk(kind, "Leipzig")
    third = await office.desk(kind, "Berlin/2")
    user, number, _ = await office.holder(kind)
    await office.log_in_at(berlin, user)
    await office.presents(berlin, number, PLACES["Berlin"])
    assert berlin.phone
    assert leipzig.phone
    assert third.phone
    with office.away(how):
        # A phone that restarts meanwhile costs the others nothing.
        before = third.phone.registrations
        await office.exchange.command(f"sccp restart {device_name(third.mac)}")
        assert await office.call(berlin, number) == Presented(number, PLACES["Berlin"])
        assert await office.call(leipzig, leipzig.own) == Presented(leipzig.own, PLACES["Leipzig"])
        assert await office.at(number) == {berlin.address}
        leipzig.phone.rings.clear()
        berlin.phone.dial(leipzig.own)
        async with asyncio.timeout(SECONDS):
            await leipzig.phone.rings.wait()
        await office.exchange.command("channel request hangup all")
        assert third.phone.registrations == before
    async with asyncio.timeout(SECONDS):
        await third.phone.registered(before + 1)
    await office.presents(third, third.own, PLACES["Berlin"])
