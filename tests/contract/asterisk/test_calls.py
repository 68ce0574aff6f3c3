"""Devices in calls, by the manager interface."""

import asyncio
from typing import Any

import pytest

from phoneprov_adapters.asterisk.lists import ManagerCalls
from phoneprov_core.kernel.errors import Refused, TimedOut
from support.ami_client import connection
from support.ami_stub import AmiStub, endpoint, event, failure, listing, success
from support.phone_records import a_phone

SCCP = a_phone(1, mac="00:1B:D4:00:00:01")
SIP = a_phone(2, mac="00:1B:D4:00:00:02", software_type="SIP")
IDLE = a_phone(3, mac="00:1B:D4:00:00:03")


def calls(stub: AmiStub, *, fresh_seconds: float = 60.0, **changes: Any) -> ManagerCalls:
    return ManagerCalls(connection(stub, **changes), fresh_seconds=fresh_seconds)


@pytest.fixture
def busy(stub: AmiStub) -> AmiStub:
    """An Asterisk with a SIP phone, an SCCP phone and an external number in calls."""
    stub.answers["CoreShowChannels"] = listing(
        "CoreShowChannelsComplete",
        ("CoreShowChannel", {"Channel": "PJSIP/SEP001BD4000002-0000002a"}),
        ("CoreShowChannel", {"Channel": "SCCP/1001-00000007"}),
        ("CoreShowChannel", {"Channel": "PJSIP/a-trunk-0000002b"}),
    )
    stub.answers["SCCPShowChannels"] = listing(
        "SCCPShowChannelsComplete",
        ("TableStart", {"TableName": "Channels"}),
        ("SCCPChannelEntry", {"LineName": "1001", "DeviceName": "SEP001BD4000001"}),
        ("TableEnd", {"TableName": "Channels"}),
    )
    return stub


async def test_phones_with_a_channel_are_in_a_call(busy: AmiStub) -> None:
    asked = calls(busy)

    assert await asked.in_call(SCCP)
    assert await asked.in_call(SIP)
    assert not await asked.in_call(IDLE)

    assert busy.complaints == []


async def test_calls_older_chan_sccp_device_field_is_read(busy: AmiStub) -> None:
    busy.answers["SCCPShowChannels"] = lambda action_id: (
        f"Response: Success\r\nActionID: {action_id}\r\n\r\n".encode()
        + event("SCCPChannelEntry", Device="SEP001BD4000001")  # and without an ActionID
        + event("SCCPShowChannelsComplete")
    )

    assert await calls(busy).in_call(SCCP)


async def test_concurrent_callers_share_one_query(busy: AmiStub) -> None:
    asked = calls(busy)

    await asyncio.gather(*(asked.in_call(phone) for phone in (SCCP, SIP, IDLE) * 5))

    assert busy.names.count("CoreShowChannels") == 1
    assert busy.connections == 1


async def test_calls_expired_list_is_queried_again(busy: AmiStub) -> None:
    asked = calls(busy, fresh_seconds=0.0)
    assert await asked.in_call(SIP)

    busy.answers["CoreShowChannels"] = listing("CoreShowChannelsComplete")

    assert not await asked.in_call(SIP)


async def test_calls_without_chan_sccp_are_listed_from_channels(busy: AmiStub) -> None:
    busy.answers["SCCPShowChannels"] = failure("Invalid/unknown command")
    asked = calls(busy)

    assert await asked.in_call(SIP)
    assert not await asked.in_call(SCCP)


async def test_calls_account_without_right_is_reported(busy: AmiStub) -> None:
    busy.answers["CoreShowChannels"] = failure("Permission denied")
    asked = calls(busy)

    for _ in range(2):
        with pytest.raises(Refused, match="may not list calls"):
            await asked.in_call(SIP)
    assert busy.connections == 1  # and not one for each phone of the floor


async def test_calls_list_without_end_times_out(busy: AmiStub) -> None:
    busy.answers["CoreShowChannels"] = success("Channels will follow")

    with pytest.raises(TimedOut):
        await calls(busy, timeout=0.3).in_call(SIP)


async def test_calls_events_of_other_actions_are_ignored(busy: AmiStub) -> None:
    busy.between = event("CoreShowChannel", Channel="PJSIP/SEP001BD4000003-1", ActionID="another")

    assert not await calls(busy).in_call(IDLE)


async def test_ringing_sccp_phones_are_in_a_call(busy: AmiStub) -> None:
    busy.answers["SCCPShowChannels"] = listing(
        "SCCPShowChannelsComplete",
        ("SCCPChannelEntry", {"Linename": "1001", "Devicename": "SCCP", "Sccpstate": "RINGING"}),
    )
    busy.answers["SCCPShowLines"] = listing(
        "SCCPShowLinesComplete",
        ("SCCPLineEntry", {"Exten": "1001", "Device": "SEP001BD4000001"}),
        ("SCCPLineEntry", {"Exten": "1002", "Device": "SEP001BD4000003"}),
        ("SCCPLineEntry", {"Exten": "1003", "Device": "(null)"}),
    )
    asked = calls(busy)

    assert await asked.in_call(SCCP)
    assert not await asked.in_call(IDLE)


async def test_calls_endpoint_named_after_its_aor_is_in_a_call(busy: AmiStub) -> None:
    busy.answers["CoreShowChannels"] = listing(
        "CoreShowChannelsComplete", ("CoreShowChannel", {"Channel": "PJSIP/1002-0000002a"})
    )
    busy.answers["PJSIPShowEndpoint"] = endpoint(aors="1002, 1003")
    asked = calls(busy)

    assert await asked.in_call(SIP)
    busy.answers["PJSIPShowEndpoint"] = endpoint(aors="1003")
    assert not await asked.in_call(SIP)
    assert not await asked.in_call(IDLE)


async def test_call_of_a_user_who_is_at_another_phone_is_none_of_this_phone(busy: AmiStub) -> None:
    busy.answers["CoreShowChannels"] = listing(
        "CoreShowChannelsComplete", ("CoreShowChannel", {"Channel": "PJSIP/1002-0000002a"})
    )
    phone = a_phone(2, mac=SIP.mac, software_type="SIP", phone_ip="10.0.0.7")
    for host, is_in_call in (("10.0.0.8", False), ("10.0.0.7", True)):
        contact = (f"sip:1002@{host}", "x", "", "1002")
        busy.answers["PJSIPShowEndpoint"] = endpoint(contact, aors="1002")
        assert await calls(busy).in_call(phone) is is_in_call


async def test_missing_peer_is_reported(stub: AmiStub) -> None:
    await stub.stop()

    with pytest.raises(Refused):
        await calls(stub).in_call(SIP)
