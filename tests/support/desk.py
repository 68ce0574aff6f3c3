"""A database with a phone and profiles for commands, and the simulated phone."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.phone import watch
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile, ProfilePatch
from phoneprov_core.people.users.model import CreateUser
from phoneprov_core.switching.devices import commands as device
from phoneprov_core.switching.devices.ports import KeyPress
from phoneprov_http.main.commands.simulate import reaching
from support import data_folder

MAC = "00:1B:D4:12:34:56"
FILE = "SEP001BD4123456.cnf.xml"
FTP_PASSWORD = "secret-enough"
ADA = "Ada at the front desk"
BOB = "Bob"
NAMESAKE = "Namesake"


def configuration(name: str) -> str:
    """A configuration without an error."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<device>
  <deviceProtocol>SCCP</deviceProtocol>
  <phonePersonalization>{name}</phonePersonalization>
  <sshPassword>of {name}</sshPassword>
  <devicePool>
    <callManagerGroup><members><member><callManager>
      <processNodeName>10.0.0.5</processNodeName>
    </callManager></member></members></callManagerGroup>
  </devicePool>
  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>
  <vendorConfig><webAccess>0</webAccess></vendorConfig>
</device>
"""


def press_without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the pauses between the keys of a restart, and shorten those of a watch."""
    keys = tuple(KeyPress(key.uri) for key in device.restart_keys(None))
    monkeypatch.setattr(device, "_SETTINGS_STARS", keys)
    monkeypatch.setattr(watch, "FIRST_PAUSE", 0.1)


@contextmanager
def phone_beside(folder: Path, *, away_seconds: float = 1.0) -> Iterator[SimulatedPhone]:
    """A simulated phone in a thread, with its files in ``folder``."""
    started = threading.Event()
    phones: list[SimulatedPhone] = []
    ends: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        phone = SimulatedPhone(
            ftp_password=FTP_PASSWORD, mac=MAC, folder=folder, away_seconds=away_seconds
        )
        end = asyncio.Event()
        async with phone:
            phones.append(phone)
            ends.append((asyncio.get_running_loop(), end))
            started.set()
            await end.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield phones[0]
    finally:
        loop, end = ends[0]
        loop.call_soon_threadsafe(end.set)
        thread.join(10)


def settings_for(phone: SimulatedPhone, data: Path) -> dict[str, str]:
    """The settings of the database and of the phone."""
    return {"PHONEPROV_DATA_DIR": str(data), **reaching(phone, "phoneprov", FTP_PASSWORD)}


def populate(environment: dict[str, str]) -> None:
    """Add the phone, the profiles of Ada and Bob, and two profiles of one name to an empty
    database."""

    async def put() -> None:
        async with open_phoneprov(read_settings(environment)) as phoneprov:
            actor = phoneprov.system_actor()
            ada = await phoneprov.users.create(
                actor,
                CreateUser(
                    first_name="Ada",
                    last_name="Lovelace",
                    username="ada",
                    email="ada@example.com",
                    password="analytical engine 1843",
                ),
            )
            phone = CreatePhone(
                mac=MAC, model="CP-7945G", phone_ip="127.0.0.1", software_type="SCCP"
            )
            await phoneprov.phones.create(actor, phone)
            for name in (ADA, BOB, NAMESAKE, NAMESAKE):
                profile = CreateProfile(user_uuid=ada.uuid, name=name, cnf_xml=configuration(name))
                await phoneprov.profiles.create(actor, profile)

    data_folder.populate(Path(environment["PHONEPROV_DATA_DIR"]))
    asyncio.run(put())


def change(environment: dict[str, str], name: str, xml: str) -> None:
    """Give a profile another configuration."""

    async def put() -> None:
        async with open_phoneprov(read_settings(environment)) as phoneprov:
            actor = phoneprov.system_actor()
            for profile in (await phoneprov.profiles.all(actor)).first:
                if profile.name == name:
                    await phoneprov.profiles.update(actor, profile.uuid, ProfilePatch(cnf_xml=xml))

    asyncio.run(put())
