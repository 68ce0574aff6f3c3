"""A fleet of phones with planted faults in real time, of which the records know what a watch and
earlier deployments found."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.fleet.states import PhoneCheck, after_look
from phoneprov_core.features.rehearsal.model import Rehearsal
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut, require
from phoneprov_core.kernel.values import PRIVATE_RANGES, timestamp
from phoneprov_core.people.users.model import Registration
from phoneprov_core.switching.deployments.observation import DeviceInformation, PhoneInformation
from phoneprov_core.switching.devices.commands import require_phone, restart_keys
from phoneprov_core.switching.devices.ports import (
    Calls,
    ConfigUploader,
    KeyPress,
    PhoneCommands,
    Proceed,
    Upload,
    Uploaded,
    always,
)

LOAD = "SCCP45.9-4-2SR3-1S"
XML = (
    "<device><deviceProtocol>SCCP</deviceProtocol><note>{note}</note>"
    "<loadInformation>{load}</loadInformation></device>"
)
DISK_FULL = (
    "The FTP server 10.0.0.2:21 could not store the file while uploading (reply 552): its disk is "
    "full."
)
LOGIN_REFUSED = "The FTP server 10.0.0.2:21 refused the login while logging in (reply 530)."
NO_LOGIN = "The phone refused the login (HTTP 401); check PHONEPROV_PHONE_PASSWORD."
NO_ANSWER = "The phone's web server did not answer in time; check its power."
SILENT_SECONDS = 1.0
FAULTS = ("unreachable", "in_call", "wrong_model", "refused_login", "foreign", "stays_away")


@dataclass
class RealPhone:
    """A phone as it is: nothing but its records is known to the service."""

    mac: str
    ip: str
    model: str = "CP-7945G"
    upload: float = 0.1
    command: float = 0.05
    restart: float = 0.2
    away: float = 1.0
    fault: str | None = None
    left_at: float | None = None

    def is_away(self) -> bool:
        if self.fault == "unreachable":
            return True
        now = asyncio.get_running_loop().time()
        if self.left_at is None or now < self.left_at + 0.05:
            return False
        return self.fault == "stays_away" or now < self.left_at + self.away

    @property
    def states(self) -> DeviceInformation:
        mac = "00:1B:D4:FF:FF:FF" if self.fault == "foreign" else self.mac
        model = "CP-8841" if self.fault == "wrong_model" else self.model
        return DeviceInformation(mac, model, LOAD)


class RealFleet(PhoneCommands, PhoneInformation, ConfigUploader, Calls):
    """The phones, and the server of the uploads with its fault."""

    def __init__(self) -> None:
        self.phones: dict[str, RealPhone] = {}
        self.server_fault: PhoneprovError | None = None
        self._by_ip: dict[str, RealPhone] = {}
        self._files = MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES), host="10.0.0.2")

    def add(self, phone: RealPhone) -> None:
        self.phones[phone.mac] = self._by_ip[phone.ip] = phone

    async def upload(self, upload: Upload) -> Uploaded:
        mac = ":".join(upload.filename[3:15][at : at + 2] for at in range(0, 12, 2))
        await asyncio.sleep(self.phones[mac].upload)
        if self.server_fault is not None:
            raise type(self.server_fault)(self.server_fault.message)
        return await self._files.upload(upload)

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        phone = self._by_ip[phone_ip]
        if phone.is_away():
            await asyncio.sleep(SILENT_SECONDS)
            raise TimedOut(NO_ANSWER)
        require_phone(mac or "", phone.states.mac)
        await proceed()
        await asyncio.sleep(phone.command if len(commands) == 1 else phone.restart)
        if phone.fault == "refused_login":
            raise Refused(NO_LOGIN)
        if tuple(commands) == restart_keys(phone.states.model):
            phone.left_at = asyncio.get_running_loop().time()

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        phone = self._by_ip[phone_ip]
        await asyncio.sleep(min(seconds, 0.02))
        if phone.is_away():
            raise TimedOut(NO_ANSWER)
        return phone.states

    async def in_call(self, phone: Phone) -> bool:
        return self.phones[phone.mac].fault == "in_call"


@dataclass
class Office:
    """An installation with phones of a real fleet."""

    container: Container
    fleet: RealFleet
    owner: str = ""
    profiles: list[str] = field(default_factory=list)

    @property
    def root(self) -> Any:
        return self.container.use_cases().system_actor()

    async def furnish(self, profiles: int = 3, load: str = LOAD) -> None:
        """An administrator with some profiles, the last one of a template."""
        use_cases = self.container.use_cases()
        made = await use_cases.create_admin(
            Registration(
                first_name="Ada",
                last_name="Lovelace",
                username="ada",
                email="ada@example.com",
                password="correct horse battery",
            )
        )
        self.owner = made.user.uuid
        body = XML.format(note="{{ phone.hex }} {{ values.note }}", load=load)
        new = CreateTemplate(name="office", body=body, model="7945")
        await use_cases.templates.create(self.root, new)
        for number in range(profiles):
            fields: dict[str, Any] = {"cnf_xml": XML.format(note=number, load=load)}
            if number == profiles - 1:
                fields = {"template": "office", "values": {"note": "a"}}
            created = await use_cases.profiles.create(
                self.root, CreateProfile(user_uuid=self.owner, name=f"Floor {number}", **fields)
            )
            self.profiles.append(created.uuid)

    async def add(self, phones: Sequence[RealPhone], location: str = "floor 3") -> None:
        now = timestamp(self.container.clock()())
        async with self.container.database().write() as tx:
            for one in phones:
                self.fleet.add(one)
                await tx.phones.add(_record(one, location, now))

    async def look(self) -> None:
        """What the watch records: two looks, as silence counts only then."""
        now = timestamp(self.container.clock()())
        async with self.container.database().write(by=SYSTEM_ACTOR) as tx:
            for one in self.fleet.phones.values():
                phone = require(await tx.phones.find(one.mac), "phone")
                check = PhoneCheck(answers=False)
                if not one.is_away():
                    check = PhoneCheck(answers=True, information=one.states)
                seen = after_look(phone, await tx.fleet.find(one.mac), check, now)
                seen = after_look(phone, seen, check, now)
                await tx.fleet.put(seen, is_change=True)

    async def run(self, **fields: Any) -> Batch:
        """Run a batch, with that which undoes it, to its end."""
        batches = self.container.use_cases().batches
        batch = await batches.start(self.root, _batch(fields))
        uuid: str | None = batch.uuid
        while uuid is not None:
            found = await batches.get(self.root, uuid)
            if found.ended_at is None:
                await asyncio.sleep(0.05)
                continue
            uuid = found.undone_by
        while await batches.is_watching(self.root, batch.uuid):  # noqa: ASYNC110 - as a command
            await asyncio.sleep(0.05)
        return await batches.get(self.root, batch.uuid)

    async def rehearse(self, **fields: Any) -> Rehearsal:
        return await self.container.use_cases().rehearse_batch(self.root, _batch(fields))

    async def outcomes(self, batch: Batch) -> dict[str, str]:
        """What became of each phone, in the words of a rehearsal."""
        words = {"done": "deployed", "left_out": "left_alone"}
        async with self.container.database().read() as tx:
            claims = await tx.batches.items(batch.uuid, 0, 10_000)
        busy = {one.mac for one in claims if one.waiting_since is not None}
        listing = await self.container.use_cases().batches.phones(self.root, batch.uuid)
        found = {}
        for one in await listing.everything():
            word = words.get(one.state.value, one.state.value)
            if one.message is not None and "has this configuration already" in one.message:
                word = "left_alone"
            found[one.mac] = "postponed" if one.mac in busy and word != "left_alone" else word
        return found


def _batch(fields: dict[str, Any]) -> CreateBatch:
    return CreateBatch(**{"action": "switch", **fields})


def _record(one: RealPhone, location: str, now: str) -> Phone:
    nothing: dict[str, Any] = dict.fromkeys(
        ("brand", "description", "name", "hostname", "phone_vlan")
    )
    return Phone(
        mac=one.mac,
        model=one.model,
        location=location,
        phone_ip=one.ip,
        software_version=None,
        software_type="SCCP",
        is_active=True,
        created_at=now,
        updated_at=now,
        **nothing,
    )


def real_phones(chance: random.Random, count: int, first: int = 1) -> list[RealPhone]:
    """Phones of which 30 % are slow."""
    phones = []
    for number in range(first, first + count):
        octets = number.to_bytes(2, "big")
        slow = 3.0 if chance.random() < 0.3 else 1.0
        phones.append(
            RealPhone(
                f"00:1B:D4:33:{octets[0]:02X}:{octets[1]:02X}",
                f"10.33.{octets[0]}.{octets[1]}",
                upload=slow * chance.uniform(0.1, 0.3),
                command=slow * 0.02,
                restart=slow * chance.uniform(0.1, 0.4),
                away=slow * chance.uniform(0.3, 0.6),
            )
        )
    return phones


@asynccontextmanager
async def office_in(folder: Path, **variables: str) -> AsyncIterator[Office]:
    """An office over a file in this folder."""
    settings = read_settings(
        {
            "PHONEPROV_DATA_DIR": str(folder / "data"),
            "PHONEPROV_FTP_HOST": "10.0.0.2",
            "PHONEPROV_FTP_PASSWORD": "the login of the fleet",
            "PHONEPROV_CONFIRM_TIMEOUT": "4",
            **variables,
        }
    )
    fleet = RealFleet()
    container = prepare(
        settings, phone_commands=fleet, uploader=fleet, calls=fleet, journal=lambda _: None
    )
    await create_database(settings)
    async with running(container):
        yield Office(container, fleet)


def foretold_share(rehearsal: Rehearsal, real: dict[str, str]) -> float:
    """The share of the phones whose outcome was foretold."""
    foretold = {one.mac: one.outcome.value for one in rehearsal.foretold}
    return sum(foretold.get(mac) == word for mac, word in real.items()) / len(real)


def misses(rehearsal: Rehearsal, real: dict[str, str]) -> Counter[tuple[str, str]]:
    """What was foretold and what came, for the phones that differ."""
    foretold = {one.mac: one.outcome.value for one in rehearsal.foretold}
    return Counter((foretold[mac], word) for mac, word in real.items() if foretold[mac] != word)
