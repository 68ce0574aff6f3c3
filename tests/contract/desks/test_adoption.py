"""A new phone asks who it belongs to."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.features.desks.pins import phone_key
from phoneprov_core.features.serving.model import (
    MOST_OF_ADDRESS,
    NEW_PHONES,
    FetchResult,
    Transport,
)
from phoneprov_core.features.serving.use_cases import FileRequest
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.people.vendor_users import guess_key
from phoneprov_core.switching.deployments.observation import DeviceInformation
from phoneprov_http.main.commands.simulate import reaching
from support.api import Caller, data_of, opened_api
from support.desk import press_without_pauses
from support.hotdesk import LOBBY, PIN, Hotdesk, hotdesk
from support.phone_browser import PhoneBrowser, Shown
from support.polling import until
from support.switch_rig import XML, a_profile_of

MAC, NAME, IP = "00:1B:D4:00:00:77", "SEP001BD4000077.cnf.xml", "10.0.0.77"
BOOTSTRAP = (
    "<device><name>{{ phone.hex }}</name><model>{{ phone.model }}</model>"
    "<servicesURL>{{ urls.services }}</servicesURL></device>"
)


ADOPTING = {"PHONEPROV_ADOPT": "pin", "PHONEPROV_FTP_HOST": "10.0.0.5"}


async def add_bootstrap(admin: Caller, body: str = BOOTSTRAP, **fields: Any) -> None:
    template = {"name": "bootstrap", "body": body, **fields}
    data_of(await admin.post("/configuration-templates", template), 201)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Hotdesk]:
    """Phones fetch their files elsewhere; the new phone confirms its MAC."""
    settings = {**ADOPTING, "PHONEPROV_PHONE_URL": "http://10.0.0.2:8000"}
    async with hotdesk(tmp_path, **settings) as opened:
        await add_bootstrap(opened.admin)
        opened.world.phones.tells[IP] = DeviceInformation(mac=MAC, model="CP-7965G")
        yield opened


async def adopt(phone: PhoneBrowser, user: str = "ada", pin: str = PIN) -> Shown:
    form = await phone.first()
    assert form.title == "New phone", form
    return await phone.submit(form, User=user, PIN=pin)


async def test_new_phone_becomes_the_users_own_and_gets_no_login_until_level_0_confirms_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way with a phone that fetches its files from this service: it starts, a user types
    a PIN and restarts it; level 0 confirms its address, and the service restarts it."""
    press_without_pauses(monkeypatch)
    async with SimulatedPhone(ftp_password="x", mac=MAC, away_seconds=0.1) as device:
        settings = {
            **reaching(device, "phoneprov", "x"),
            "PHONEPROV_ADOPT": "pin",
            "PHONEPROV_UPLOADER": "served",
            "PHONEPROV_PHONE_URL": "http://10.0.0.2:8000",
            "PHONEPROV_CONFIRM_TIMEOUT": "0",
        }
        async with opened_api(tmp_path, database_kind="memory", overrides=None, **settings) as api:
            admin, ada = await api.account("admin", level=0), await api.account("ada")
            await add_bootstrap(admin)
            profile = await a_profile_of(ada, admin)
            await ada.put(f"/vendor-users/{ada.uuid}", {"pin_code": PIN})
            provide = api.container.provide_file()

            async def started() -> bytes:
                request = FileRequest(Transport.HTTP, NAME, device.host, "CP-7945G")
                found = await provide.open(request)
                ended = provide.ended(found, is_complete=True, size=1, duration_ms=1)
                await provide.record([ended])
                return found.content or b""

            first = await started()
            assert b"<name>001BD4000077</name><model>CP-7945G</model>" in first
            assert b"<servicesURL>http://10.0.0.2:8000/phone/services</servicesURL>" in first
            app: Any = api.client._transport.app  # type: ignore[attr-defined]
            phone = PhoneBrowser(app, MAC, device.host)
            answer = await adopt(phone)
            assert answer.title == "New phone"
            assert "unplug it and plug it in again" in answer.text

            await api.container.tasks().drain(10)
            assert await started() == XML.encode()
            assert await api.container.keep_desks()() == 0
            assert not [event for event in device.events if hasattr(event, "uri")]
            found = data_of(await admin.get(f"/phones/{MAC}"))
            assert (found["phone_ip"], found["model"]) == (device.host, "CP-7945G")
            assert (found["address_confirmed"], found["adopted_with_pin"]) == (False, True)
            again = {"profile_uuid": profile, "mac": MAC}
            switched = (await ada.post("/phone-profiles/switch", again)).json()["data"]
            assert "Level 0 has not confirmed the phone's address" in switched["restart"]
            # What was read is sent back, and confirms nothing.
            assert not data_of(await admin.put(f"/phones/{MAC}", found))["address_confirmed"]
            confirmed = data_of(await admin.put(f"/phones/{MAC}", {"address_confirmed": True}))
            assert not {"address_confirmed", "adopted_with_pin"} & confirmed.keys()
            await ada.post("/phone-profiles/switch", again)
            await until(lambda: device.restarted)
            keys = [event.uri for event in device.events if hasattr(event, "uri")]
            assert keys.count("Key:Settings") == 1  # the begin of one restart
            desk = data_of(await admin.get(f"/phones/{MAC}/desk"))
            assert (desk["default_profile_uuid"], desk["user_uuid"]) == (profile, None)
            query = {"action": "phone.adopted"}
            (entry,) = data_of(await admin.get("/audit", **query), 200)
            assert (entry["resource_id"], entry["actor"]) == (MAC, "ada")
            assert entry["changes"]["user_uuid"]["new"] == ada.uuid
            # From now on it is like every other phone.
            assert "Log in" in (await phone.first()).items


async def test_user_with_several_profiles_chooses_one(office: Hotdesk) -> None:
    other = await a_profile_of(office.ada, office.admin, name="Other", cnf_xml="<device>2</device>")
    phone = office.phone(MAC, IP)

    menu = await adopt(phone)
    assert (menu.title, set(menu.items)) == ("New phone", {"Ada's", "Other"})
    assert (await office.admin.get(f"/phones/{MAC}")).status_code == 404
    answer = await phone.choose(menu, "Other")
    await office.settled(MAC)

    assert "yours" in answer.text
    assert office.on_phone(IP, MAC) == b"<device>2</device>"
    assert (await office.desk(MAC))["default_profile_uuid"] == other
    # The same link again adopts nothing.
    assert (await phone.choose(menu, "Ada's")).title == "Not possible"


async def test_refusals_are_the_same_bytes(office: Hotdesk) -> None:
    """Wrong name or PIN, another phone or no answer at the address, and phones that are not asked:
    known, inactive, flagged, deleted, of another address or network."""
    admin, tells = office.admin, office.world.phones.tells
    form = await office.phone(MAC, IP).first()
    token = form.form.partition("token=")[2]

    async def check(mac: str = MAC, ip: str = IP, user: str = "ada", pin: str = PIN) -> bytes:
        device = f"SEP{mac.replace(':', '')}"
        query = f"device={device}&token={token}&user={user}&pin={pin}"
        return (await office.phone(mac, ip).fetch(f"/phone/adopt/check?{query}")).content

    answers = [
        await check(pin="11111111"),
        await check(user="unknown"),
        await check(ip="192.0.2.9"),
    ]
    for found in (
        DeviceInformation(mac="00:1B:D4:00:00:78"),
        DeviceInformation(),
        TimedOut("Late."),
    ):
        tells[IP] = found
        answers.append(await check())
    tells[IP] = DeviceInformation(mac=MAC)
    for mac, fields in (("00:1B:D4:00:00:80", {}), ("00:1B:D4:00:00:81", {"is_active": False})):
        await admin.post("/phones", {"mac": mac, "phone_ip": IP, **fields})
        answers.append(await check(mac))
    await admin.put(f"/vendor-phones/{MAC}", {"vendor": False})
    answers.append(await check())
    await admin.delete(f"/vendor-phones/{MAC}")
    await admin.post("/phones", {"mac": MAC, "phone_ip": IP})
    await admin.delete(f"/phones/{MAC}")
    answers.append(await check())

    assert len(set(answers)) == 1
    assert b"The user or the PIN is wrong." in answers[0]
    # The menu of such a phone is that of every unknown phone.
    asked = await office.phone(MAC, IP).first()
    assert asked.content == (await office.phone(MAC, "192.0.2.9").first()).content
    assert (await admin.get(f"/phones/{MAC}")).status_code == 404


async def test_wrong_pins_lock_the_user_and_the_phone(office: Hotdesk) -> None:
    await office.person("bob")
    phone = office.phone(MAC, IP)
    for _ in range(5):
        wrong = await adopt(phone, pin="00000000")

    for name in ("ada", "bob"):  # the lock of the user, and that of the phone
        assert (await adopt(phone, name)).content == wrong.content
    assert (await office.admin.get(f"/phones/{MAC}")).status_code == 404


async def test_user_without_a_fitting_profile_gets_no_phone(office: Hotdesk) -> None:
    body = {"compatible_models": ["8851"]}
    await office.ada.put(f"/phone-profiles/{office.profile}", body)

    answer = await adopt(office.phone(MAC, IP))

    assert "no profile that fits" in answer.text
    assert (await office.admin.get(f"/phones/{MAC}")).status_code == 404


async def test_two_users_at_once_adopt_the_phone_once(office: Hotdesk) -> None:
    await office.person("bob")
    phone = office.phone(MAC, IP)

    answers = await asyncio.gather(adopt(phone), adopt(phone, "bob"))
    await office.settled(MAC)

    assert sorted(answer.title for answer in answers) == ["New phone", "Not possible"]
    assert len(await office.deployments(MAC)) == 1


async def test_adoption_whose_upload_failed_leaves_a_phone_to_log_in_at(office: Hotdesk) -> None:
    office.world.fail_next(Refused("The FTP server refused the upload."))
    phone = office.phone(MAC, IP)

    failed = await adopt(phone)
    assert "could not be stored" in failed.text
    await phone.log_in("ada", PIN)
    await office.settled(MAC)

    assert office.on_phone(IP, MAC) == XML.encode()


@pytest.mark.parametrize(
    ("environment", "body"),
    [
        ({"PHONEPROV_ADOPT": "off"}, BOOTSTRAP),
        (ADOPTING, None),
        ({**ADOPTING, "PHONEPROV_PHONE_SERVICES": "off"}, BOOTSTRAP),
        (ADOPTING, "<device>{{ user.last_name }}</device>"),
    ],
)
async def test_without_setting_or_template_a_new_phone_gets_nothing(
    tmp_path: Path, environment: dict[str, str], body: str | None
) -> None:
    async with hotdesk(tmp_path, **environment) as office:
        if body:
            await add_bootstrap(office.admin, body)
        provide = office.api.container.provide_file()
        found = await provide.open(FileRequest(Transport.HTTP, NAME, IP))
        assert (found.result, found.content) == (FetchResult.NOT_FOUND, None)
        if body and "user" in body:
            return  # the page is there: the administrator may have put the file elsewhere
        if "PHONEPROV_PHONE_SERVICES" in environment:
            reply = await office.phone(MAC, IP).client.get("/phone/services")
            assert reply.status_code == 404
        else:
            asked = await office.phone(MAC, IP).first()
            assert asked.content == (await office.phone(MAC, "192.0.2.9").first()).content
        assert data_of(await office.admin.get("/discovered-phones")) == []


async def test_bootstrap_goes_to_new_phones_of_the_networks_only(office: Hotdesk) -> None:
    provide = office.api.container.provide_file()
    await add_bootstrap(office.admin, "<device>8851</device>", model="8851")

    async def got(name: str, ip: str = IP, model: str | None = None) -> str | None:
        found = await provide.open(FileRequest(Transport.HTTP, name, ip, model))
        return found.content.decode() if found.content else None

    assert "<model></model>" in (await got(NAME.lower()) or "")
    assert await got(NAME, model="CP-8851") == "<device>8851</device>"
    assert await got(NAME, "192.0.2.9") is None
    assert await got(NAME + ".sgn") is None
    assert await got("XMLDefault.cnf.xml") is None
    known = "SEP001BD4123456.cnf.xml"  # in the inventory, and nothing is served to it
    assert await got(known, "10.0.0.5") is None
    floods = [await got(f"SEP0000000{number:05X}.cnf.xml") for number in range(1, 400)]
    assert 200 < len([one for one in floods if one]) < 260


async def test_phone_that_is_logged_out_gets_the_profile_of_its_user(office: Hotdesk) -> None:
    await office.person("bob")
    phone = office.phone(MAC, IP)
    await adopt(phone)
    await office.settled(MAC)

    await phone.log_in("bob", PIN)
    await office.settled(MAC)
    assert b"bob" in office.on_phone(IP, MAC)
    await phone.log_out()
    await office.settled(MAC)

    assert office.on_phone(IP, MAC) == XML.encode() != LOBBY.encode()


async def test_floods_of_new_phones_are_bounded_by_address_however_it_is_written(
    office: Hotdesk,
) -> None:
    async def asked(kind: int, count: int, ip: str) -> int:
        """How many new phones are asked whose they are; ``ip`` may differ for each."""
        found = 0
        for number in range(count):
            mac = f"00:0A:00:{kind:02X}:{number >> 8:02X}:{number & 255:02X}"
            found += (await office.phone(mac, ip.format(number + 1)).first()).title == "New phone"
        return found

    assert await asked(1, NEW_PHONES + 5, IP) == NEW_PHONES
    assert await asked(2, 3, f"::ffff:{IP}") == 0
    assert await asked(3, NEW_PHONES + 5, "fd00::{:x}") == NEW_PHONES
    assert await asked(4, 3, "10.0.1.{}") == 3
    assert await asked(5, 3, "8.8.8.{}") == 0
    listed = data_of(await office.admin.get("/discovered-phones"))
    assert len(listed) == 2 * MOST_OF_ADDRESS + 3


async def test_guesses_at_made_up_phones_count_for_their_network_and_for_all(
    office: Hotdesk,
) -> None:
    """Each made-up phone would have a count of its own: a network has one, IPv6 as IPv4."""
    await office.person("bob")

    async def guesses(count: int, ip: str, first: int = 0) -> None:
        for number in range(first, first + count):
            mac = f"00:0A:00:00:00:{number:02X}"
            await adopt(office.phone(mac, ip), f"unknown{number}", "00000000")

    await guesses(5, f"fd00::{7}")
    office.world.phones.tells["fd00::8"] = DeviceInformation(mac=MAC)
    refused = await adopt(office.phone(MAC, "fd00::8"), "bob")
    assert "wrong" in refused.text

    for network in range(6):
        await guesses(5, f"10.0.{network}.9", first=5 + 5 * network)
    async with office.api.database.write() as tx:
        for number in range(8):
            assert (await tx.attempts.of(phone_key(f"00:0A:00:00:00:{number:02X}"))).failures == 0
    answer = await adopt(office.phone(MAC, IP))  # a network of its own, but 30 were counted
    assert "wrong" in answer.text
    # Phones of the inventory are counted apart.
    await office.admin.post("/phones", {"mac": MAC, "model": "CP-7965G", "phone_ip": IP})
    assert (await office.phone(MAC, IP).log_in("ada", PIN)).title == "Logged in"


async def test_guesses_at_a_made_up_phone_lock_the_user_and_are_not_kept(office: Hotdesk) -> None:
    for number in range(6):
        await adopt(office.phone(f"00:0A:00:00:00:{number:02X}", IP), pin="00000000")

    assert "wrong" in (await adopt(office.phone(MAC, "10.0.9.9"))).text
    async with office.api.database.write() as tx:
        assert (await tx.attempts.of(phone_key(IP))).known == 0
        assert (await tx.attempts.of(guess_key(office.ada.uuid))).known == 1


async def test_adopted_phone_is_not_adopted_again(office: Hotdesk) -> None:
    await office.person("bob")
    phone, there = office.phone(MAC, IP), office.phone(MAC, "10.0.0.78")
    form, other = await phone.first(), await there.first()
    office.world.phones.tells["10.0.0.78"] = DeviceInformation(mac=MAC)
    await adopt(phone)
    await office.settled(MAC)

    for browser, again in ((phone, form), (there, other)):
        assert "wrong" in (await browser.submit(again, User="bob", PIN=PIN)).text
    assert (await office.desk(MAC))["default_profile_uuid"] == office.profile
    assert len(await office.deployments(MAC)) == 1


async def test_one_pin_adopts_two_phones_at_once(office: Hotdesk) -> None:
    other, there = "00:1B:D4:00:00:78", "10.0.0.78"
    office.world.phones.tells[there] = DeviceInformation(mac=other)

    answers = await asyncio.gather(adopt(office.phone(MAC, IP)), adopt(office.phone(other, there)))

    assert [answer.title for answer in answers] == ["New phone"] * 2
    for mac, ip in ((MAC, IP), (other, there)):
        await office.settled(mac)
        assert office.on_phone(ip, mac) == XML.encode()


@pytest.mark.parametrize("model", ["\"><a b='&amp;{{ 7*7 }}", "x" * 64, "%s\\ud800"])
async def test_text_that_a_phone_says_of_itself_is_only_text(office: Hotdesk, model: str) -> None:
    found = await office.api.container.provide_file().open(
        FileRequest(Transport.HTTP, NAME, IP, model)
    )
    assert ElementTree.fromstring(found.content or b"").findtext("model") == model  # noqa: S314

    await adopt(office.phone(MAC, IP, **{"x-CiscoIPPhoneModelName": model}))
    assert data_of(await office.admin.get(f"/phones/{MAC}"))["model"] == model


async def test_phone_is_not_adopted_with_a_text_that_its_user_wrote(office: Hotdesk) -> None:
    """Else a guessed PIN puts a text of its user onto a new phone."""
    text = {"cnf_xml": "<device>mine</device>"}
    await office.ada.put(f"/phone-profiles/{office.profile}", text)

    answer = await adopt(office.phone(MAC, IP))

    assert "You have no profile that fits this phone." in answer.text
    assert (await office.admin.get(f"/phones/{MAC}")).status_code == 404
    await a_profile_of(office.ada, office.admin, name="Of level 0")
    answer = await adopt(office.phone(MAC, IP))
    assert answer.title == "New phone"
    await office.settled(MAC)
    assert office.on_phone(IP, MAC) == XML.encode()
