"""The one connection to the manager interface that actions, lists and watches share."""

import asyncio
from functools import partial

import pytest

from phoneprov_adapters.asterisk import events, session
from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.lists import ManagerCalls
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import sip_restart
from phoneprov_core.switching.devices.names import device_name
from support.ami_client import RESTART, TIMEOUT, connection
from support.ami_stub import AmiStub, endpoint, event, failure, listing
from support.phone_records import a_phone
from support.polling import until

SCCP = a_phone(1)
SIP = a_phone(2, software_type="SIP", phone_ip="10.0.0.7")
NAME = device_name(SIP.mac)
OLD, NEW = "sip:1001@10.0.0.7:5060", "sip:1001@10.0.0.7:49152"
LONG, SHORT = 20.0, 0.3


@pytest.mark.parametrize(
    ("left", "is_seen"), [("XXX", True), ("SEP", True), ("YYY", False), ("XXX9", False)]
)
async def test_phone_of_the_realtime_configuration_unregisters_as_xxx(
    stub: AmiStub, left: str, is_seen: bool
) -> None:
    watching = await ManagerEvents(connection(stub)).begin(SCCP)
    digits = device_name(SCCP.mac).removeprefix("SEP")
    for prefix, status in ((left, "UNREGISTERED"), ("SEP", "REGISTERED")):
        await stub.tell(event("DeviceStatus", DeviceStatus=status, SCCPDevice=prefix + digits))

    if is_seen:
        assert "registered again" in await watching.returned(LONG)
    else:
        with pytest.raises(TimedOut):
            await watching.returned(SHORT)
    await watching.close()


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


async def test_connection_without_answer_is_closed(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SILENT_SECONDS", TIMEOUT / 2)
    shared = connection(stub, timeout=TIMEOUT)
    watching = await ManagerEvents(shared).begin(SCCP)
    stub.answers[RESTART.name] = None
    with pytest.raises(TimedOut):
        await Manager(shared).perform(RESTART)

    with pytest.raises(TimedOut, match="lost for a while"):
        await watching.returned(SHORT)
    await watching.close()
    del stub.answers[RESTART.name]
    again = ManagerConnection(shared._settings)
    await Manager(again).perform(RESTART)

    assert stub.connections == 3


async def test_many_watches_of_a_slow_exchange_keep_the_connection(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "ANSWER_SECONDS", 0.5)
    stub.pause = 0.1
    shared = connection(stub)
    watchings = [await ManagerEvents(shared).begin(a_phone(number)) for number in range(1, 31)]
    waiting = [asyncio.create_task(one.returned(1.5)) for one in watchings]
    await until(lambda: "Ping" in stub.names, LONG)
    await Manager(shared).perform(RESTART)

    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert {isinstance(end, TimedOut) and "did not unregister" in end.message for end in ends} == {
        True
    }
    assert stub.connections == 1
    for one in watchings:
        await one.close()


async def test_restarts_do_not_wait_for_an_unanswered_ping(stub: AmiStub) -> None:
    stub.answers["Ping"] = None
    shared = connection(stub)
    watching = await ManagerEvents(shared).begin(SCCP)
    waiting = asyncio.create_task(watching.returned(LONG))
    await until(lambda: "Ping" in stub.names, LONG)
    await asyncio.gather(*(Manager(shared).perform(RESTART) for _ in range(50)))

    assert (stub.names.count(RESTART.name), stub.connections) == (50, 1)
    waiting.cancel()
    await asyncio.wait({waiting})
    await watching.close()


async def test_restart_that_was_not_sent_is_sent_on_another_connection(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SILENT_SECONDS", 0.3)
    shows_it = endpoint((OLD, "x"))
    stub.answers["PJSIPShowEndpoint"] = lambda action_id: (
        shows_it(action_id) if stub.connections > 1 else b""
    )
    shared = connection(stub)
    notify = sip_restart(SIP.mac)
    await asyncio.gather(*(Manager(shared).perform(notify) for _ in range(3)))

    assert stub.names.count("PJSIPNotify") == 3


async def test_connection_that_sends_events_is_not_half_open(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SILENT_SECONDS", 0.2)
    shared = connection(stub)
    watching = await ManagerEvents(shared).begin(SCCP)
    stub.answers["Ping"] = None
    looking = asyncio.create_task(watching.returned(1.0))
    await until(lambda: "Ping" in stub.names, LONG)
    for _ in range(10):
        await asyncio.sleep(0.05)
        await stub.tell(event("DeviceStatus", DeviceStatus="REGISTERED", SCCPDevice="SEP1"))
    assert stub.connections == 1
    assert not stub.closed.is_set()
    looking.cancel()
    await asyncio.wait({looking})
    await watching.close()


def shows(stub: AmiStub, *contacts: tuple[str, ...], aors: str = "") -> None:
    """Let Asterisk show these contacts of the phone's endpoint: URI, Call-ID and Via address."""
    stub.answers["PJSIPShowEndpoint"] = endpoint(*contacts, aors=aors)


async def tell(stub: AmiStub, status: str, uri: str = OLD, aor: str = NAME) -> None:
    """Send an event of Asterisk 22."""
    await stub.tell(
        event("ContactStatus", URI=uri, ContactStatus=status, AOR=aor, EndpointName=aor)
    )


def _looked(stub: AmiStub, looks: int) -> bool:
    return stub.names.count("PJSIPShowEndpoint") > looks


SEQUENCES: dict[str, list[tuple[str, list[tuple[str, ...]]]]] = {
    "another Call-ID": [("Created", [(NEW, "y")])],
    "another Call-ID beside the old one": [("Created", [(OLD, "x"), (NEW, "y")])],
    "gone and newer": [("Removed", []), ("Created", [(OLD, "x")])],
    "gone and at another port": [("Removed", []), ("Created", [(NEW, "x")])],
    "over NAT": [("Created", [("sip:1001@203.0.113.9:4000", "y", "10.0.0.7:5060")])],
}
"""Events with the contacts that Asterisk shows after each."""


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES.keys())
@pytest.mark.parametrize("aor", [NAME, "1001"])
async def test_sip_phone_new_registration_confirms(
    stub: AmiStub, sequence: list[tuple[str, list[tuple[str, ...]]]], aor: str
) -> None:
    shows(stub, (OLD, "x"), aors="1001")
    watching = await ManagerEvents(connection(stub)).begin(SIP)
    waiting = asyncio.create_task(watching.returned(LONG))

    for status, contacts in sequence:
        shows(stub, *contacts)
        looks = stub.names.count("PJSIPShowEndpoint")
        await tell(stub, status, aor=aor)
        await until(partial(_looked, stub, looks), LONG)

    assert "registered again" in await waiting
    await watching.close()


@pytest.mark.parametrize(
    "sequence",
    [
        # qualify_frequency: the network was away for 7 s
        [("Unreachable", [(OLD, "x")]), ("Reachable", [(OLD, "x")])],
        # NAT changed the port: the same registration from another one
        [("Created", [(OLD, "x"), (NEW, "x")]), ("Removed", [(NEW, "x")])],
        [("NonQualified", [(NEW, "x")]), ("Updated", [(NEW, "x")])],
        # another phone at the same endpoint
        [("Created", [(OLD, "x"), ("sip:1001@10.0.0.9:5060", "y", "10.0.0.9:5060")])],
        [("Removed", []), ("Created", [("sip:1001@10.0.0.9:5060", "y", "10.0.0.9:5060")])],
        # no Call-ID is shown
        [("Created", [(OLD, "x"), (NEW, "")])],
    ],
    ids=["network", "port", "port alone", "other phone", "other phone instead", "no Call-ID"],
)
async def test_sip_phone_without_new_registration_is_not_confirmed(
    stub: AmiStub, sequence: list[tuple[str, list[tuple[str, ...]]]]
) -> None:
    shows(stub, (OLD, "x"))
    watching = await ManagerEvents(connection(stub)).begin(SIP)
    waiting = asyncio.create_task(watching.returned(1.0))

    for status, contacts in sequence:
        shows(stub, *contacts)
        await tell(stub, status)
        for state in ("UNAVAILABLE", "NOT_INUSE"):
            await stub.tell(event("DeviceStateChange", Device=f"PJSIP/{NAME}", State=state))
        await asyncio.sleep(0.1)

    with pytest.raises(
        TimedOut,
        match=r"^(No new registration .*|.* unregistered and did not register.*) within 1 s\.$",
    ):
        await waiting
    await watching.close()


async def test_sip_phone_is_looked_for_without_events(
    stub: AmiStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account with write = system and without read = system."""
    monkeypatch.setattr(events, "LOOK_SECONDS", 0.05)
    shows(stub, (OLD, "x"))
    watching = await ManagerEvents(connection(stub)).begin(SIP)
    waiting = asyncio.create_task(watching.returned(LONG))

    shows(stub, (OLD, "y"))

    assert "another Call-ID" in await waiting
    await watching.close()


async def test_sip_phone_registered_while_the_connection_was_lost_confirms(stub: AmiStub) -> None:
    shows(stub, (OLD, "x"))
    watching = await ManagerEvents(connection(stub)).begin(SIP)
    stub.disconnect_all()
    shows(stub, (OLD, "y"))

    assert "another Call-ID" in await watching.returned(LONG)
    await watching.close()


@pytest.mark.parametrize("lose", ["late", "closed"])
async def test_sip_phone_is_watched_after_the_reply_to_its_restart_was_lost(
    stub: AmiStub, lose: str
) -> None:
    shows(stub, (OLD, "x"))
    shared = connection(stub, timeout=TIMEOUT)
    watching = await ManagerEvents(shared).begin(SIP)
    waiting = asyncio.create_task(watching.returned(LONG))
    stub.answers["PJSIPNotify"] = None
    stub.hang_up_after = "PJSIPNotify" if lose == "closed" else ""

    with pytest.raises((Refused, TimedOut), match="not known whether the phone restarts"):
        await Manager(shared).perform(sip_restart(SIP.mac), SIP.phone_ip)
    shows(stub, (OLD, "y"))

    assert "registered again" in await waiting
    await watching.close()


async def test_sip_phone_that_asterisk_does_not_show_is_not_watched(stub: AmiStub) -> None:
    stub.answers["PJSIPShowEndpoint"] = failure("Unable to retrieve endpoint x")

    with pytest.raises(Refused, match="write = system"):
        await ManagerEvents(connection(stub)).begin(SIP)
    await stub.settled()


async def test_sip_phone_without_address_is_not_watched(stub: AmiStub) -> None:
    phone = a_phone(2, software_type="SIP", phone_ip=None)

    with pytest.raises(Refused, match="phone_ip"):
        await ManagerEvents(connection(stub)).begin(phone)

    assert stub.connections == 0


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
        rests += seconds == session.PAUSE_SECONDS
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

    with pytest.raises(TimedOut, match="No new registration"):
        await watching.returned(SHORT)
    await watching.close()


async def test_event_with_the_field_response_is_no_response(stub: AmiStub) -> None:
    def say(action_id: str) -> bytes:
        other = event("OriginateResponse", ActionID=action_id, Response="Success")
        return other + failure("Device not found")(action_id)

    stub.answers[RESTART.name] = say

    with pytest.raises(Refused, match="not registered"):
        await Manager(connection(stub)).perform(RESTART)


async def test_list_without_end_is_bounded(stub: AmiStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phoneprov_adapters.asterisk.session.MOST_ENTRIES", 10)
    entry = ("ContactStatusDetail", {"URI": OLD, "CallID": "x"})
    stub.answers["PJSIPShowEndpoint"] = listing("EndpointDetailComplete", *[entry] * 11)

    with pytest.raises(Refused, match="manager protocol"):
        await Manager(connection(stub)).perform(sip_restart(SIP.mac))
