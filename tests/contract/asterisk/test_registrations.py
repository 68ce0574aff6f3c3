"""The phones that Asterisk has, by its manager interface."""

import pytest

from phoneprov_adapters.asterisk.lists import ManagerRegistrations
from phoneprov_core.features.fleet.watch import Registered
from phoneprov_core.kernel.errors import Refused
from support.ami_client import connection
from support.ami_stub import AmiStub, failure, listing
from support.phone_records import a_phone

A, B, C, D = (f"00:1B:D4:00:00:0{number}" for number in range(1, 5))


async def test_phones_of_both_channel_drivers_are_listed(stub: AmiStub) -> None:
    stub.answers["PJSIPShowEndpoints"] = listing(
        "EndpointListComplete",
        ("EndpointList", {"ObjectName": "SEP001BD4000001", "Contacts": "a/sip:1@10.0.0.1,"}),
        ("EndpointList", {"ObjectName": "001bd4000002", "Contacts": ""}),
        ("EndpointList", {"ObjectName": "a-trunk", "Contacts": "x"}),
    )
    stub.answers["PJSIPShowContacts"] = failure("No Contacts found")
    stub.answers["SCCPShowDevices"] = listing(
        "SCCPShowDevicesComplete",
        ("TableStart", {"TableName": "Devices"}),
        ("SCCPDeviceEntry", {"Name": "Front", "Mac": "SEP001BD4000003", "RegState": "OK"}),
        ("SCCPDeviceEntry", {"Name": "Back", "Mac": "SEP001BD4000004", "RegState": "None"}),
        ("SCCPDeviceEntry", {"Name": "", "Mac": "ATA001BD400000501", "RegState": "OK"}),
        ("TableEnd", {"TableName": "Devices"}),
    )

    found = await ManagerRegistrations(connection(stub)).registered()

    assert found == Registered({A: True, B: False, C: True, D: False}, lists_sccp=True)
    assert stub.complaints == []


@pytest.mark.parametrize("refused", ["PJSIPShowEndpoints", "SCCPShowDevices"])
async def test_driver_that_is_not_loaded_has_no_phones(stub: AmiStub, refused: str) -> None:
    stub.answers["PJSIPShowEndpoints"] = listing("EndpointListComplete")
    stub.answers["PJSIPShowContacts"] = listing("ContactListComplete")
    stub.answers["SCCPShowDevices"] = listing("SCCPShowDevicesComplete")
    stub.answers[refused] = failure("Invalid/unknown command")

    found = await ManagerRegistrations(connection(stub)).registered()

    assert found == Registered({}, lists_sccp=refused == "PJSIPShowEndpoints")


async def test_account_that_may_not_list_is_refused_with_the_next_step(stub: AmiStub) -> None:
    for action in ("PJSIPShowEndpoints", "PJSIPShowContacts", "SCCPShowDevices"):
        stub.answers[action] = failure("Permission denied")

    with pytest.raises(Refused, match=r"write = system in manager\.conf"):
        await ManagerRegistrations(connection(stub)).registered()


@pytest.mark.parametrize("serves_sip", [True, False])
async def test_sip_phones_are_found_by_the_addresses_of_their_contacts(
    stub: AmiStub, serves_sip: bool
) -> None:
    """Asterisk 16 and 22 list no endpoint that they ask phoneprov for."""
    stub.answers["PJSIPShowEndpoints"] = failure("No endpoints found")
    stub.answers["SCCPShowDevices"] = failure("Invalid/unknown command: SCCPShowDevices.")
    stub.answers["PJSIPShowContacts"] = listing(
        "ContactListComplete",
        ("ContactList", {"Uri": "sip:1@10.0.0.1:5060;transport=tcp", "ViaAddr": "10.0.0.1"}),
        ("ContactList", {"Uri": "sip:2@192.0.2.1:61234", "ViaAddr": "10.0.0.2"}),
        ("ContactList", {"Uri": "sip:3@[2001:db8::3]:5060", "ViaAddr": "[2001:db8::4]"}),
        ("ContactList", {"Uri": "", "ViaAddr": ""}),
    )

    found = await ManagerRegistrations(connection(stub), serves_sip=serves_sip).registered()

    def is_registered(ip: str | None, software: str | None = "SIP") -> bool | None:
        return found.of(a_phone(1, phone_ip=ip, software_type=software))

    absent = False if serves_sip else None
    there = ["10.0.0.1", "10.0.0.2", "2001:db8:0::3", "2001:db8::4", "::ffff:10.0.0.1"]
    assert [is_registered(ip) for ip in [*there, "10.0.0.3"]] == [True] * 5 + [absent]
    assert is_registered("10.0.0.1", None) is True
    assert is_registered("10.0.0.3", None) is None
    assert is_registered("10.0.0.1", "SCCP") is None
