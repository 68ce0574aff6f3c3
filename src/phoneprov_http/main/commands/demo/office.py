"""An office to look at: 200 phones and a year of deployments, for ``phoneprov demo --keep``."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

from msgspec.structs import replace

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import opened, prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.memory.devices import MemoryPhone, MemoryUploader, MemoryWatch
from phoneprov_adapters.memory.system import FixedClock, MemoryBackground, await_directly
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.application import UseCases
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.fleet.states import (
    ExpectedLoad,
    FleetState,
    PhoneCheck,
    after_file,
    after_look,
)
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.features.transfer.texts import ImportRequest
from phoneprov_core.inventory.profiles.model import (
    CreateProfile,
    Profile,
    ProfilePatch,
    SwitchRequest,
)
from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import PhoneprovError, TimedOut, require
from phoneprov_core.kernel.system import timestamp
from phoneprov_core.people.directory.model import CreateCompanyContact
from phoneprov_core.switching.deployments.confirm import Watch
from phoneprov_core.switching.deployments.observation import DeviceInformation, FileState
from phoneprov_core.switching.devices.ports import Upload, Uploaded

PHONES = 200
SWITCHES = 600
_UPLOAD_SECONDS, _SILENT_SECONDS = 0.4, 5.0
_DAYS = 350
_MODELS = ("CP-7945G", "CP-7965G", "CP-8841")
_LOCATIONS = ("Reception", "1st floor", "2nd floor", "3rd floor", "Workshop", "Annex")
_FIRST_NAMES = (
    "Grace", "Alan", "Katherine", "Edsger", "Barbara", "Donald", "Radia", "Dennis", "Frances",
    "Ken", "Margaret", "Niklaus", "Jean", "Tony", "Adele", "John", "Evelyn", "Leslie", "Karen",
    "Whitfield",
)  # fmt: skip
_LAST_NAMES = (
    "Hopper", "Turing", "Johnson", "Dijkstra", "Liskov", "Knuth", "Perlman", "Ritchie", "Allen",
    "Thompson",
)  # fmt: skip
_RECENT = 30
"""Switches of the last hours: an office where something fails today."""
_XML = """<?xml version="1.0" encoding="UTF-8"?>
<device>
  <deviceProtocol>SCCP</deviceProtocol>
  <devicePool><callManagerGroup><members><member priority="0"><callManager>
    <processNodeName>10.20.0.2</processNodeName>
  </callManager></member></members></callManagerGroup></devicePool>
  <phonePersonalization>{name}</phonePersonalization>
  <sshPassword>secret {version}</sshPassword>
  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>
  <vendorConfig><webAccess>0</webAccess></vendorConfig>
</device>
"""


def host(number: int) -> str:
    """The address of a phone of the office."""
    return f"127.0.7.{number}"


def mac(number: int) -> str:
    """Its MAC address."""
    return f"00:1B:D4:20:{number >> 8:02X}:{number & 255:02X}"


_STATES = dict(enumerate((one for one in FleetState if one is not FleetState.USER_INACTIVE), 1))
_CHANGED = FleetState.FILE_CHANGED
_OTHER_MODEL = "CP-6945"
_LOAD, _OLD_LOAD = "SCCP45.9-4-2SR3-1S", "SCCP45.9-3-1SR4-1S"


def state(number: int) -> FleetState:
    """The state that a phone is in: most are fine, and a few are in each other state."""
    return _STATES.get(number % 20, FleetState.FINE)


def _stated(number: int) -> DeviceInformation:
    """What a phone states about itself."""
    is_foreign, is_other = (
        state(number) is one for one in (FleetState.FOREIGN, FleetState.WRONG_MODEL)
    )
    model = _OTHER_MODEL if is_other else _MODELS[number % len(_MODELS)]
    stated = mac(number + 500 * is_foreign)
    load = _OLD_LOAD if state(number) is FleetState.WRONG_LOAD else _LOAD
    return DeviceInformation(stated, model, load, f"FCH{number:08}")


@asynccontextmanager
async def simulated_office(first: SimulatedPhone, password: str) -> AsyncIterator[dict[str, Path]]:
    """The phones of the office on the ports of ``first``, as far as this machine has their
    addresses; the folder of each by its address. Those that are not to answer are off."""
    folders = {}
    async with AsyncExitStack() as running:
        for number in range(1, PHONES + 1):
            if state(number) in {FleetState.NEVER_SEEN, FleetState.UNREACHABLE}:
                continue
            stated = _stated(number)
            with suppress(OSError):
                phone = SimulatedPhone(
                    ftp_password=password,
                    host=host(number),
                    ftp_port=first.ftp_port,
                    http_port=first.http_port,
                    mac=stated.mac or "",
                    model=stated.model or "",
                    load=stated.load or "",
                )
                await running.enter_async_context(phone)
                folders[phone.host] = phone.folder
        yield folders


async def fill_office(environment: Mapping[str, str], folders: Mapping[str, Path]) -> None:
    """Fill the database: users, phones, profiles with revisions, contacts, and deployments over
    the last year; and the folders of the phones with their files. The time is simulated; the rules
    are those of the service."""
    # The simulated phones of the past state no firmware.
    settings = read_settings({**environment, "PHONEPROV_LOAD_MINUTES": "0"})
    past = _Past(datetime.now(UTC) - timedelta(days=_DAYS))
    background, watch = MemoryBackground(), MemoryWatch()
    uploader = _PastUploader(settings.phone_networks, past)
    container = prepare(
        settings,
        clock=past,
        journal=lambda _: None,
        tasks=SimpleNamespace(run=await_directly, start=background),
        watch=Watch(None, watch, seconds=120),
        uploader=uploader,
        phone_commands=MemoryPhone(settings.phone_networks),
    )
    async with opened(container):
        use_cases = container.use_cases()
        actor = await _admin(use_cases)
        profiles = await _records(use_cases, actor)
        await _template(use_cases, actor, profiles[0].user_uuid)
        # A demonstration needs no secrecy, and the same office each time.
        chance = random.Random(1843)  # noqa: S311  # nosec B311
        rare = (_DAYS - 1) * 24 * 3600 / (SWITCHES - _RECENT)
        for number in range(SWITCHES):
            is_recent = number >= SWITCHES - _RECENT
            past.advance(600 if is_recent else rare)
            desk = chance.randint(1, PHONES)
            # Each phone has its own person: a login at one desk ends no other.
            phone, profile = mac(desk), profiles[desk - 1]
            if chance.random() < 0.1:
                xml = _XML.format(name=profile.name, version=number)
                await use_cases.profiles.update(actor, profile.uuid, ProfilePatch(cnf_xml=xml))
            if chance.random() < (0.2 if is_recent else 0.05):
                uploader.fail_next(TimedOut("Connecting to the FTP server took over 5 seconds."))
            with suppress(PhoneprovError):
                await use_cases.switch_profile(
                    actor, SwitchRequest(profile_uuid=profile.uuid, mac=phone)
                )
            if chance.random() < 0.05:
                watch.goes_missing(phone)
            else:
                past.advance(chance.randint(35, 70))
                watch.comes_back(phone, "The phone was away and answers again.")
            await background.done()
        await _batches(use_cases, actor, watch, background)
        changed = {host(number) for number in range(1, PHONES) if state(number) is _CHANGED}
        for server, files in uploader.files.items():
            ip = server.partition(":")[0]
            for name, content in files.items():
                if ip in folders:
                    more = b"<!-- by hand -->\n" if ip in changed else b""
                    await asyncio.to_thread((folders[ip] / name).write_bytes, content + more)
        await _look_around(container, timestamp(past()))


async def _look_around(container: Container, now: str) -> None:
    """Record what looking at the phones found. There is no exchange to ask."""
    async with container.database().write(by=SYSTEM_ACTOR) as tx:
        for number in range(1, PHONES + 1):
            phone = require(await tx.phones.find(mac(number)), "phone")
            in_place = await tx.deployments.in_place(phone.mac)
            expected = ExpectedLoad(_LOAD, by="") if in_place else None
            fine = PhoneCheck(True, _stated(number), is_registered=True, expected=expected)
            silent = PhoneCheck(answers=False, expected=expected)
            looks = {
                FleetState.NEVER_SEEN: [silent],
                FleetState.UNREACHABLE: [fine, silent, replace(silent, is_registered=False)],
                FleetState.UNREGISTERED: [replace(fine, is_registered=False)],
            }.get(state(number), [fine])
            seen = None
            for look in looks:
                seen = after_look(phone, seen, look, now)
            assert seen is not None
            if in_place is not None:
                file: FileState = "changed" if state(number) is _CHANGED else "as_deployed"
                seen = after_file(phone, seen, file, now)
            await tx.fleet.put(seen, is_change=True)


async def _admin(use_cases: UseCases) -> Actor:
    """The first account, as the caller."""
    async for piece in await use_cases.users.all(use_cases.system_actor()):
        return Actor(piece[0].uuid, SUPERADMIN, level_rule=use_cases.level_rule)
    raise RuntimeError("there is no account")


async def _records(use_cases: UseCases, actor: Actor) -> Sequence[Profile]:
    phones = ["mac,model,brand,name,location,phone_ip,software_type"]
    for number in range(1, PHONES + 1):
        model, place = _MODELS[number % len(_MODELS)], _LOCATIONS[number % len(_LOCATIONS)]
        phones.append(f"{mac(number)},{model},Cisco,Desk {number},{place},{host(number)},SCCP")
    users = ["first_name,last_name,username,email,location"]
    extensions = ["type,extension,name,password"]
    names = [(first, last) for last in _LAST_NAMES for first in _FIRST_NAMES][:PHONES]
    for number, (first, last) in enumerate(names, 1):
        login, place = f"{first}.{last}".lower(), _LOCATIONS[number % len(_LOCATIONS)]
        users.append(f"{first},{last},{login},{login}@example.com,{place}")
        extensions.append(f"chan_sccp,{2000 + number},{first} {last},line secret {number}")
        contact = CreateCompanyContact(name=f"{first} {last}", work=f"+44 20 7946 {number:04}")
        await use_cases.company_directory.create(actor, contact)
    for kind, rows in {"phones": phones, "users": users, "extensions": extensions}.items():
        await use_cases.import_text(actor, kind, ImportRequest(csv="\n".join(rows)))
    profiles = []
    async for piece in await use_cases.users.all(actor):
        for user in piece:
            if user.uuid == actor.user_uuid:
                continue
            name = f"{user.first_name} {user.last_name}"
            new = CreateProfile(
                user_uuid=user.uuid,
                name=name,
                cnf_xml=_XML.format(name=name, version=1),
                software_type="SCCP",
            )
            profiles.append(await use_cases.profiles.create(actor, new))
    return profiles


async def _template(use_cases: UseCases, actor: Actor, owner: str) -> None:
    """A template with a profile of it."""
    body = _XML.format(name="{{ phone.name }}", version=1).replace("10.20.0.2", "{{ values.pbx }}")
    await use_cases.templates.create(actor, CreateTemplate(name="office", body=body))
    new = CreateProfile(
        user_uuid=owner, name="Meeting room", template="office", values={"pbx": "10.20.0.2"}
    )
    await use_cases.profiles.create(actor, new)


async def _batches(
    use_cases: UseCases, actor: Actor, watch: MemoryWatch, background: MemoryBackground
) -> None:
    """A restart of each of two floors."""
    for place in _LOCATIONS[1:3]:
        order = CreateBatch(action="restart", location=place, at_once=50)
        await use_cases.batches.start(actor, order)
        ended = asyncio.ensure_future(background.done())
        while not ended.done() or watch.watched:
            for phone in list(watch.watched):
                watch.comes_back(phone, "The phone was away and answers again.")
            await asyncio.sleep(0)


class _PastUploader(MemoryUploader):
    """An upload takes its time on the simulated clock."""

    def __init__(self, networks: PhoneNetworks, past: FixedClock) -> None:
        super().__init__(networks)
        self._past = past

    async def upload(self, upload: Upload) -> Uploaded:
        try:
            done = await super().upload(upload)
        except TimedOut:
            self._past.advance(_SILENT_SECONDS)
            raise
        self._past.advance(_UPLOAD_SECONDS)
        return done


class _Past(FixedClock):
    """A clock in the past: each reading takes a few milliseconds."""

    def __call__(self) -> datetime:
        self.advance(0.009)
        return self.now
