"""Devices and lines of chan_sccp, by the manager interface."""

import pytest

from phoneprov_adapters.asterisk.lists import ManagerLines
from phoneprov_core.kernel.errors import Refused, TimedOut
from support.ami_client import connection
from support.ami_stub import AmiStub, Say, failure, listing, raw
from support.phone_records import a_phone

PHONE = a_phone(1, mac="00:1B:D4:00:00:01")


def after_a_success(message: str) -> Say:
    """The failure of a list that chan_sccp has announced."""
    return lambda action_id: (
        f"Response: Success\r\nActionID: {action_id}\r\nEventList: start\r\n\r\n".encode()
        + failure(message)(action_id)
        + failure("Execution Failed")(action_id)
    )


async def test_numbers_are_those_of_the_lines_in_order(stub: AmiStub) -> None:
    stub.answers["SCCPShowDevice"] = listing(
        "SCCPShowDeviceComplete",
        ("SCCPShowDevice", {"MacAddress": "SEP001BD4000001"}),
        ("TableStart", {"TableName": "Buttons"}),
        ("SCCPDeviceButtonEntry", {"Id": "1"}),
        ("SCCPDeviceLineEntry", {"Id": "1", "Name": "102", "Label": "Ada"}),
        ("SCCPDeviceLineEntry", {"Id": "2", "Name": "101"}),
        ("SCCPDeviceStatisticsEntry", {"Name": "103"}),
    )
    assert await ManagerLines(connection(stub)).numbers(PHONE.mac) == ("102", "101")
    [asked] = [fields for fields in stub.performed if fields[0][1] == "SCCPShowDevice"]
    assert ("DeviceName", "SEP001BD4000001") in asked


@pytest.mark.parametrize(
    ("message", "ours"),
    [
        ("Can't find settings for device SEP001BD4000001", "is not registered"),
        ("Permission denied", "write = system"),
        ("Invalid/unknown command: SCCPShowDevice.", "not loaded"),
    ],
)
async def test_refusal_says_what_to_do(stub: AmiStub, message: str, ours: str) -> None:
    for answer in (failure(message), after_a_success(message)):
        stub.answers["SCCPShowDevice"] = answer
        with pytest.raises(Refused, match=ours):
            await ManagerLines(connection(stub)).numbers(PHONE.mac)


async def test_devices_are_the_phones_of_the_exchange(stub: AmiStub) -> None:
    stub.answers["SCCPShowDevices"] = listing(
        "SCCPShowDevicesComplete",
        *(
            ("SCCPDeviceEntry", {"Mac": name})
            for name in ("SEP001BD4000001", "ATA001BD4000002", "SEP001BD4000003", "")
        ),
    )
    found = await ManagerLines(connection(stub)).devices()
    assert found == {"00:1B:D4:00:00:01", "00:1B:D4:00:00:03"}
    stub.answers["SCCPShowDevices"] = failure("Permission denied")
    with pytest.raises(Refused, match="write = system"):
        await ManagerLines(connection(stub)).devices()


async def test_silent_asterisk_times_out(stub: AmiStub) -> None:
    stub.answers["SCCPShowDevice"] = raw(b"")
    with pytest.raises(TimedOut):
        await ManagerLines(connection(stub, timeout=0.3)).numbers(PHONE.mac)
