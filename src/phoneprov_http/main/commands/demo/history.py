"""The year of the demo's office: its records, and the deployments until now."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import opened, prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.memory.devices import MemoryPhone, MemoryUploader, MemoryWatch
from phoneprov_adapters.memory.system import FixedClock, MemoryBackground, await_directly
from phoneprov_adapters.runtime.networks import PhoneNetworks
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
from phoneprov_core.inventory.links import CreateLink
from phoneprov_core.inventory.profiles.model import (
    CreateProfile,
    Profile,
    ProfilePatch,
    SwitchRequest,
)
from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut, require
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.permissions import GrantRight
from phoneprov_core.switching.deployments.confirm import Watch
from phoneprov_core.switching.deployments.observation import FileState
from phoneprov_core.switching.devices.ports import Upload, Uploaded
from phoneprov_http.main.commands.demo.office import (
    CHANGED,
    DESKS,
    LOAD,
    PHONES,
    PLACES,
    host,
    mac,
    state,
    stated_by,
)

_UPLOAD_SECONDS, _SILENT_SECONDS = 0.4, 5.0
_DAYS, _BUSY_DAYS = 350, 30
"""The year, and the days of it that the chart of the console shows."""
_DEPARTMENTS = (
    "Sales", "Customer service", "Finance", "Purchasing", "Human resources", "IT", "Marketing",
)  # fmt: skip
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


_SILENT = "Connecting to the FTP server took over 5 seconds."
_FAILURES = (TimedOut(_SILENT), TimedOut(_SILENT), Refused("The FTP server refused the login."))
"""Why the last changes of three phones failed today."""


async def fill_office(environment: Mapping[str, str], folders: Mapping[str, Path]) -> None:
    """Fill the database: users, phones, profiles with revisions, contacts, and deployments over
    the last year; and the folders of the phones with their files. The time is simulated; the rules
    are the service's."""
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
        # A demonstration needs no secrecy, and the same office each time.
        chance = random.Random(1843)  # noqa: S311  # nosec B311
        now = datetime.now(UTC)
        batches = _batches_of(now)
        used = [one.number for one in DESKS if state(one.number) is not FleetState.NEVER_SEEN]
        failing = dict(zip(chance.sample(used, 3), _FAILURES, strict=True))
        begin = [now - timedelta(days=chance.uniform(_BUSY_DAYS + 1, _DAYS - 1)) for _ in used]
        switches = list(zip(begin, used, strict=True))
        switches += [(at, chance.choice(used)) for at in _moments(chance, now)]
        switches += [(now - timedelta(minutes=20 + at), at) for at in failing]
        for moment, desk in sorted([*switches, *((at, 0) for at in batches)]):
            past.reach(moment)
            if desk == 0:
                await _run(use_cases, actor, batches[moment], uploader, watch, background)
                continue
            # Each phone has its own person: a login at one desk ends no other.
            phone, profile = mac(desk), profiles[desk - 1]
            if profile.template is None and chance.random() < 0.1:
                xml = _XML.format(name=profile.name, version=chance.randint(2, 900))
                await use_cases.profiles.update(actor, profile.uuid, ProfilePatch(cnf_xml=xml))
            is_last = desk in failing and moment > now - timedelta(hours=4)
            tries: list[Exception | None] = [failing[desk]] if is_last else [None]
            if not is_last and chance.random() < 0.05:  # the second attempt succeeds
                tries.insert(0, TimedOut(_SILENT))
            for failure in tries:
                if failure is not None:
                    uploader.fail_next(failure)
                with suppress(PhoneprovError):
                    await use_cases.switch_profile(
                        actor, SwitchRequest(profile_uuid=profile.uuid, mac=phone)
                    )
                past.advance(chance.randint(35, 70))
                watch.comes_back(phone, "The phone was away and answers again.")
                await background.done()
        past.reach(now - timedelta(minutes=2))
        changed = {host(number) for number in range(1, PHONES) if state(number) is CHANGED}
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
            expected = ExpectedLoad(LOAD, by="") if in_place else None
            fine = PhoneCheck(True, stated_by(number), is_registered=True, expected=expected)
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
                file: FileState = "changed" if state(number) is CHANGED else "as_deployed"
                seen = after_file(phone, seen, file, now)
            await tx.fleet.put(seen, is_change=True)


async def _admin(use_cases: UseCases) -> Actor:
    """The first account, as the caller."""
    async for piece in await use_cases.users.all(use_cases.system_actor()):
        return Actor(piece[0].uuid, SUPERADMIN, level_rule=use_cases.level_rule)
    raise RuntimeError("there is no account")


async def _records(use_cases: UseCases, actor: Actor) -> Sequence[Profile]:
    """Everything that is recorded by hand; the profile of each desk."""
    phones = ["mac,model,brand,name,location,phone_ip,software_type"]
    users = ["first_name,last_name,username,email,location"]
    extensions = ["type,extension,name,password"]
    contacts = ["name,work,mobile,email,department,company,location"]
    locations = ["name,emergency_number,emergency_place"]
    for place, (_, base) in PLACES.items():
        locations.append(f"{place},+44113496{base:04},Harrow & Pike {place}")
    for desk in DESKS:
        address, town = f"{desk.login}@harrow-pike.example", desk.place.partition("/")[0]
        ip = host(desk.number)
        phones.append(f"{mac(desk.number)},{desk.model},Cisco,{desk.name},{desk.place},{ip},SCCP")
        users.append(f"{desk.first},{desk.last or town},{desk.login},{address},{desk.place}")
        secret = f"line secret {desk.extension}"
        extensions.append(f"chan_sccp,{desk.extension},{desk.who},{secret}")
        mobile = f"+44 7700 900{desk.number:03}" if desk.last and desk.number % 3 == 0 else ""
        group = _DEPARTMENTS[desk.extension % len(_DEPARTMENTS)] if desk.last else ""
        contacts.append(
            f"{desk.who},{desk.extension},{mobile},{address},{group},Harrow & Pike,{desk.place}"
        )
    tables = {
        "locations": locations, "phones": phones, "users": users, "extensions": extensions,
        "company-directory": contacts,
    }  # fmt: skip
    kems = [f"CP-7916,00:1B:D5:00:00:{n:02X},{mac(n)}" for n in (1, 27, 123)]
    tables["kems"] = ["model,mac,connected_phone", *kems]
    for kind, rows in tables.items():
        done = await use_cases.import_text(actor, kind, ImportRequest(csv="\n".join(rows)))
        assert done.failed == 0, (kind, [row for row in done.rows if row.problems][:2])
    body = _XML.format(name="{{ user.username }}", version=1)
    body = body.replace("10.20.0.2", "{{ values.pbx }}")
    await use_cases.templates.create(actor, CreateTemplate(name="office", body=body))
    people = {
        one.username: one async for piece in await use_cases.users.all(actor) for one in piece
    }
    lines = {
        one.extension: one async for piece in await use_cases.extensions.all(actor) for one in piece
    }
    profiles = []
    for desk in DESKS:
        owner = people[desk.login].uuid
        extension = lines[str(desk.extension)].uuid
        await use_cases.links.create(actor, CreateLink(user_uuid=owner, extension_uuid=extension))
        content: dict[str, Any] = {"cnf_xml": _XML.format(name=desk.who, version=1)}
        if desk.place.startswith("York"):
            content = {"template": "office", "values": {"pbx": "10.20.0.2"}}
        new = CreateProfile(user_uuid=owner, name=desk.who, software_type="SCCP", **content)
        profiles.append(await use_cases.profiles.create(actor, new))
    helper = people[DESKS[5].login].uuid
    right = GrantRight(right="helpdesk", locations=("Leeds",))
    await use_cases.rights.grant(actor, helper, right)
    return profiles


def _moments(chance: random.Random, now: datetime) -> Iterator[datetime]:
    """When phones are switched in the last weeks: on working days."""
    for day in range(_BUSY_DAYS, 0, -1):
        begin = (now - timedelta(days=day)).replace(hour=7, minute=0)
        most = chance.randint(7, 15) if begin.weekday() < 5 else chance.randint(0, 2)
        for _ in range(most):
            yield begin + timedelta(minutes=chance.uniform(0, 600))
    for _ in range(9):  # this morning, at any hour of the demo
        yield now - timedelta(minutes=chance.uniform(40, 230))


def _batches_of(now: datetime) -> dict[datetime, CreateBatch]:
    """A restart of a floor, a switch of which two phones failed, and a restart for tomorrow."""

    def evening(days: int) -> datetime:
        return (now - timedelta(days=days)).replace(hour=19, minute=30, second=0, microsecond=0)

    tomorrow = timestamp(evening(-1))
    return {
        evening(16): CreateBatch(action="restart", location="Leeds/1st floor", at_once=50),
        evening(2): CreateBatch(
            action="switch", location="York/1st floor", at_once=50, newest=True
        ),
        now - timedelta(minutes=15): CreateBatch(
            action="restart", location="Leeds/Warehouse", start_at=tomorrow
        ),
    }


async def _run(
    use_cases: UseCases, actor: Actor, order: CreateBatch, uploader: MemoryUploader,
    watch: MemoryWatch, background: MemoryBackground,
) -> None:  # fmt: skip
    if order.action == "switch":
        uploader.fail_next(TimedOut(_SILENT))
        uploader.fail_next(TimedOut(_SILENT))
    await use_cases.batches.start(actor, order)
    if order.start_at is not None:
        return
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

    def reach(self, moment: datetime) -> None:
        """Go on to a moment, unless it is over."""
        self.now = max(self.now, moment)

    def __call__(self) -> datetime:
        self.advance(0.009)
        return self.now
