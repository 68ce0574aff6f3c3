"""``phoneprov doctor``: the way on which Asterisk asks for lines."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneprov_adapters.composition.doctor import examine
from phoneprov_adapters.composition.doctor_lines import SNAPSHOT_STAMP, CheckResult, Verdict
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.switching.devices.names import device_name
from support.ami_stub import SECRET, USER, AmiStub, failure, listing
from support.keys import NEW_KEY
from support.phone_records import a_location, a_phone
from support.served import Served, served

TOKEN = "a service token of Asterisk"
PHONE, STRANGER = a_phone(1), a_phone(2)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, {"PHONEPROV_ASTERISK_TOKEN": TOKEN}) as running:
        yield running


async def add_phone(service: Served) -> None:
    async with service.container.database().write() as tx:
        await tx.phones.add(PHONE)


async def findings(folder: Path, url: str, **environment: object) -> dict[str, CheckResult]:
    variables = {
        "PHONEPROV_DATA_DIR": str(folder),
        "PHONEPROV_SECRET_KEYS": NEW_KEY,
        "PHONEPROV_UPLOADER": "served",
        "PHONEPROV_ASTERISK_TOKEN": TOKEN,
        **{f"PHONEPROV_{name}": str(value) for name, value in environment.items()},
    }
    return {one.check: one async for one in examine(variables, url)}


async def test_doctor_asks_the_service_as_asterisk_does(tmp_path: Path, service: Served) -> None:
    found = (await findings(tmp_path, service.url))["exchange"]
    assert (found.state, found.message) == (
        Verdict.OK,
        "The service answers as Asterisk asks; no phone is active.",
    )
    service.run(add_phone(service))
    found = (await findings(tmp_path, service.url))["exchange"]
    assert (found.state, found.message) == (
        Verdict.OK,
        f"The service answers for {device_name(PHONE.mac)} as Asterisk asks.",
    )


@pytest.mark.parametrize(
    ("token", "path", "message", "step"),
    [
        ("another service token for all", "", "answers 401", "another PHONEPROV_ASTERISK_TOKEN"),
        (TOKEN, "/elsewhere", "answers 404", "Restart"),
        (TOKEN, ":1", "does not answer", "--url"),
        (TOKEN, ":x", "does not answer", "--url"),
    ],
)
async def test_doctor_says_why_asterisk_gets_nothing(
    tmp_path: Path, service: Served, token: str, path: str, message: str, step: str
) -> None:
    service.run(add_phone(service))
    url = f"http://127.0.0.1{path}" if path.startswith(":") else service.url + path
    found = (await findings(tmp_path, url, ASTERISK_TOKEN=token))["exchange"]
    assert found.state is Verdict.FAILED
    assert message in found.message
    assert step in str(found.next_step)
    assert TOKEN not in str(found)


@pytest.mark.parametrize(
    ("devices", "lines", "state", "message"),
    [
        ([], [], Verdict.OK, "Asterisk has 0 phones"),
        ([PHONE], [], Verdict.OK, "Asterisk has 1 phones"),
        ([PHONE], ["101"], Verdict.FAILED, "should have no line"),
        ([PHONE, STRANGER], [], Verdict.FAILED, f"the first is {STRANGER.mac}"),
        (None, [], Verdict.FAILED, "write = system"),
    ],
)
async def test_doctor_compares_the_phones_of_asterisk(
    tmp_path: Path,
    service: Served,
    devices: list[Phone] | None,
    lines: list[str],
    state: Verdict,
    message: str,
) -> None:
    service.run(add_phone(service))
    async with AmiStub() as stub:
        stub.answers["SCCPShowDevices"] = (
            failure("Permission denied")
            if devices is None
            else listing(
                "SCCPShowDevicesComplete",
                *(("SCCPDeviceEntry", {"Mac": device_name(one.mac)}) for one in devices),
            )
        )
        stub.answers["SCCPShowDevice"] = listing(
            "SCCPShowDeviceComplete", *(("SCCPDeviceLineEntry", {"Name": one}) for one in lines)
        )
        found = await findings(
            tmp_path, service.url, AMI_HOST="127.0.0.1", AMI_PORT=stub.port, AMI_USER=USER,
            AMI_SECRET=SECRET,
        )  # fmt: skip
    assert (found["lines"].state, message in found["lines"].message) == (state, True)


async def test_doctor_counts_phones_with_logins_and_no_emergency_number(
    tmp_path: Path, service: Served
) -> None:
    async def arrange() -> None:
        async with service.container.database().write() as tx:
            await tx.locations.add(a_location(1, name="Berlin", emergency_number="+49301"))
            await tx.locations.add(a_location(2, name="Bonn", emergency_number=None))
            for number in range(3, 28):
                await tx.phones.add(a_phone(number, location="Bonn"))
            await tx.phones.add(a_phone(30, location="berlin/3"))
            await tx.phones.add(a_phone(31, location=None, is_active=False))
            await tx.phones.add(a_phone(32, location=None))
            await tx.desks.put(DeskRecord(a_phone(32).mac, hotdesk=False))

    found = (await findings(tmp_path, service.url))["emergency"]
    assert found.state is Verdict.OK
    service.run(arrange())
    found = (await findings(tmp_path, service.url))["emergency"]
    assert found.state is Verdict.FAILED
    assert found.message.startswith("25 active phones with logins")
    named = [a_phone(number).mac for number in range(3, 28)]
    assert [mac for mac in named if mac in found.message] == named[:20]


async def test_doctor_warns_about_an_old_export_of_endpoints(
    tmp_path: Path, service: Served
) -> None:
    async def found() -> CheckResult:
        return (await findings(tmp_path, service.url, ASTERISK_PJSIP="on"))["snapshot"]

    assert (await findings(tmp_path, service.url))["snapshot"].state is Verdict.SKIPPED
    assert (await found()).state is Verdict.FAILED
    stamp = tmp_path / SNAPSHOT_STAMP
    stamp.touch()
    assert (await found()).state is Verdict.OK
    os.utime(stamp, (0, time.time() - 3700))
    old = await found()
    assert (old.state, "62 minutes" in old.message) == (Verdict.FAILED, True)
