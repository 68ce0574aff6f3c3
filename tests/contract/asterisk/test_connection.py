"""The one connection to the manager interface that actions, lists and watches share."""

import asyncio

import pytest

from phoneprov_adapters.asterisk import wire
from phoneprov_adapters.asterisk.calls import ManagerCalls
from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_adapters.testing.phone_records import a_phone
from phoneprov_core.devices.commands import sip_restart
from phoneprov_core.devices.names import device_name
from phoneprov_core.kernel.errors import Refused, TimedOut
from support.ami_client import RESTART, TIMEOUT, connection
from support.ami_stub import AmiStub, endpoint, event, failure, listing

SCCP = a_phone(1)
SIP = a_phone(2, software_type="SIP")
NAME = device_name(SIP.mac)
OLD, NEW = "sip:1001@10.0.0.7:5060", "sip:1001@10.0.0.7:49152"
LONG, SHORT = 20.0, 0.3


async def test_watch_restart_and_list_of_calls_take_one_login(stub: AmiStub) -> None:
    stub.one_login = True
    stub.answers["CoreShowChannels"] = listing("CoreShowChannelsComplete")
    stub.answers["SCCPShowChannels"] = listing("SCCPShowChannelsComplete")
    shared = connection(stub)

    watching = await ManagerEvents(shared).begin(SCCP)
    assert not await ManagerCalls(shared).in_call(SCCP)
    await Manager(shared).perform(RESTART)
    for status in ("UNREGISTERED", "REGISTERED"):
        name = device_name(SCCP.mac)
        await stub.tell(event("DeviceStatus", DeviceStatus=status, SCCPDevice=name))

    assert await watching.returned(LONG)
    await watching.close()
    await stub.settled()
    assert stub.connections == 1
    assert stub.names.count("Login") == stub.names.count("Logoff") == 1


async def test_wrong_secret_is_sent_once_for_watch_and_restart(stub: AmiStub) -> None:
    shared = connection(stub, secret="wrong")

    with pytest.raises(Refused, match="PHONEPROV_AMI_SECRET"):
        await ManagerEvents(shared).begin(SCCP)
    with pytest.raises(Refused, match="PHONEPROV_AMI_SECRET"):
        await Manager(shared).perform(RESTART)

    assert stub.names == ["Login"]


async def test_silent_port_costs_one_deadline_for_watch_and_restart(stub: AmiStub) -> None:
    stub.banner = None
    shared = connection(stub, timeout=TIMEOUT)

    with pytest.raises(TimedOut):
        await ManagerEvents(shared).begin(SCCP)
    with pytest.raises(TimedOut):
        await Manager(shared).perform(RESTART)

    assert stub.connections == 1


async def test_failed_login_is_retried_later(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phoneprov_adapters.asterisk.connection.FAILURE_SECONDS", 0.0)
    shared = connection(stub)
    stub.answers["Login"] = failure("Authentication failed")
    with pytest.raises(Refused):
        await Manager(shared).perform(RESTART)

    del stub.answers["Login"]
    await Manager(shared).perform(RESTART)

    assert len(stub.performed) == 1


async def test_connection_without_answer_is_closed(stub: AmiStub) -> None:
    shared = connection(stub, timeout=TIMEOUT)
    watching = await ManagerEvents(shared).begin(SCCP)
    stub.answers[RESTART.name] = None
    with pytest.raises(TimedOut):
        await Manager(shared).perform(RESTART)

    with pytest.raises(Refused, match="lost"):
        await watching.returned(LONG)
    await watching.close()
    del stub.answers[RESTART.name]
    again = ManagerConnection(shared._settings)
    await Manager(again).perform(RESTART)

    assert stub.connections == 2


@pytest.mark.parametrize(
    "statuses",
    [
        [("Removed", OLD), ("Created", NEW)],
        [("Created", NEW), ("Removed", OLD)],  # as remove_existing may order them
        [("Removed", OLD), ("Created", OLD)],
        [("Unreachable", OLD), ("Reachable", OLD)],
        [("Removed", OLD), ("NonQualified", NEW)],
    ],
)
async def test_sip_phone_new_registration_confirms(
    stub: AmiStub, statuses: list[tuple[str, str]]
) -> None:
    stub.answers["PJSIPShowEndpoint"] = endpoint((OLD, "x"))
    watching = await ManagerEvents(connection(stub)).begin(SIP)

    for status, uri in statuses:
        await stub.tell(
            event("ContactStatus", EndpointName=NAME, AOR=NAME, URI=uri, ContactStatus=status)
        )

    assert "registered again" in await watching.returned(LONG)
    await watching.close()


async def test_sip_phone_shared_aor_confirms(stub: AmiStub) -> None:
    stub.answers["PJSIPShowEndpoint"] = endpoint((OLD, "x"), aors="1001")
    watching = await ManagerEvents(connection(stub)).begin(SIP)

    for status in ("Removed", "Created"):
        await stub.tell(
            event("ContactStatus", EndpointName="1001", AOR="1001", URI=OLD, ContactStatus=status)
        )

    assert await watching.returned(LONG)
    await watching.close()


async def test_sip_phone_device_state_confirms(stub: AmiStub) -> None:
    watching = await ManagerEvents(connection(stub)).begin(SIP)

    for state in ("UNAVAILABLE", "NOT_INUSE"):
        await stub.tell(event("DeviceStateChange", Device=f"PJSIP/{NAME}", State=state))

    assert await watching.returned(LONG)
    await watching.close()


@pytest.mark.parametrize(
    "statuses",
    [
        [("Created", NEW, NAME)],  # another device at the same endpoint
        [("Reachable", OLD, NAME), ("Updated", OLD, NAME)],  # refreshed
        [("Removed", OLD, "other"), ("Created", NEW, "other")],
        [("Created", NEW, NAME), ("Removed", NEW, NAME)],
    ],
)
async def test_sip_phone_without_restart_is_not_confirmed(
    stub: AmiStub, statuses: list[tuple[str, str, str]]
) -> None:
    stub.answers["PJSIPShowEndpoint"] = endpoint((OLD, "x"))
    watching = await ManagerEvents(connection(stub)).begin(SIP)

    for status, uri, name in statuses:
        await stub.tell(
            event("ContactStatus", EndpointName=name, AOR=name, URI=uri, ContactStatus=status)
        )

    with pytest.raises(TimedOut, match="read = system,call"):
        await watching.returned(SHORT)
    await watching.close()


@pytest.mark.parametrize(
    ("flood", "least"),
    [
        (event("VarSet", Value="x" * 1000) * 650, 18),
        # Empty lines cost more than their bytes: 64 KiB of them took 70 ms.
        (b"\n" * 40_000, 36),
    ],
    ids=["events", "empty-lines"],
)
async def test_event_flood_is_read_at_a_limited_rate(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch, flood: bytes, least: int
) -> None:
    """The peer sends at full speed; the reader pauses after every 64 KiB. ``flood`` is sent before
    the responses to login and restart."""
    rests = 0
    sleep = asyncio.sleep

    async def counted(seconds: float) -> None:
        nonlocal rests
        rests += seconds == wire.PAUSE_SECONDS
        await sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", counted)
    stub.between = flood
    await Manager(connection(stub)).perform(RESTART)

    assert rests >= least


@pytest.mark.parametrize(
    "message",
    [
        b"Event: Half",
        b"Response: Success\r\nActionID: phoneprov-2\r\n",
        b"\r\n" * 1000,
        event("ContactStatus"),
        event("DeviceStatus", SCCPDevice=NAME),
        event("DeviceStateChange", Device=f"PJSIP/{NAME}\x00", State="UNAVAILABLE"),
        b"Response: Success\r\n\r\n",
        b"Event\r\nEvent: \r\n\r\n",
    ],
)
async def test_malformed_messages_are_ignored(stub: AmiStub, message: bytes) -> None:
    watching = await ManagerEvents(connection(stub)).begin(SIP)

    await stub.tell(message)

    with pytest.raises(TimedOut, match="did not unregister"):
        await watching.returned(SHORT)
    await watching.close()


async def test_event_with_the_field_response_is_no_response(stub: AmiStub) -> None:
    def say(action_id: str) -> bytes:
        other = event("OriginateResponse", ActionID=action_id, Response="Success")
        return other + failure("Device not found")(action_id)

    stub.answers[RESTART.name] = say

    with pytest.raises(Refused, match="no device of this name"):
        await Manager(connection(stub)).perform(RESTART)


async def test_list_without_end_is_bounded(stub: AmiStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phoneprov_adapters.asterisk.session.MOST_ENTRIES", 10)
    entry = ("ContactStatusDetail", {"URI": OLD, "CallID": "x"})
    stub.answers["PJSIPShowEndpoint"] = listing("EndpointDetailComplete", *[entry] * 11)

    with pytest.raises(Refused, match="manager protocol"):
        await Manager(connection(stub)).perform(sip_restart(SIP.mac))
