"""``phoneprov doctor``: the way on which Asterisk asks for lines."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from phoneprov_adapters.composition.doctor import examine
from phoneprov_adapters.composition.doctor_lines import CheckResult, Verdict
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.switching.devices.names import device_name
from support.ami_stub import SECRET, USER, AmiStub, failure, listing
from support.keys import NEW_KEY
from support.phone_records import a_phone
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
