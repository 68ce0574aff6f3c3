"""Drills over the manager interface."""

import asyncio
import re
from typing import Any
from urllib.parse import quote, unquote

import pytest

from phoneprov_adapters.asterisk import drills
from phoneprov_adapters.asterisk.drills import ManagerDrills
from phoneprov_core.features.lines.drills import DrillCall
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency
from phoneprov_core.kernel.errors import Refused, TimedOut
from support.ami_client import connection
from support.ami_stub import AmiStub, Say, event, failure, listing, raw, success
from support.phone_records import a_phone

SCCP = a_phone(1, software_type="SCCP")
SIP = a_phone(2, software_type="SIP", phone_ip="10.0.0.2")
GIVEN = Emergency("+4930112", 'Lager & Küche, "Hof"; 100 % = ü\\, $x')


def variables(stub: AmiStub) -> dict[str, str]:
    """The decoded variables of the newest call."""
    fields = next(one for one in reversed(stub.received) if one[0][1] == "Originate")
    pairs = (value.partition("=") for name, value in fields if name == "Variable")
    return {name: unquote(value) for name, _, value in pairs}


def presenting(
    stub: AmiStub, presented: Emergency = GIVEN, given: Emergency = GIVEN, **changes: Any
) -> Say:
    """The event of the dialplan, after that which ends the call. None leaves a field out."""

    def say(action_id: str) -> bytes:
        fields = {
            "UserEvent": "PhoneprovDrill",
            "Drill": variables(stub)["DRILL"],
            "DeskNumber": quote(given.number or ""),
            "DeskPlace": quote(given.place or ""),
            "Number": quote(presented.number or ""),
            "Place": quote(presented.place or ""),
        } | changes
        ended = event("OriginateResponse", ActionID=action_id, Response="Failure", Reason="0")
        shown = {name: value for name, value in fields.items() if value is not None}
        return success("queued")(action_id) + ended + event("UserEvent", **shown)

    return say


@pytest.fixture
def stub(stub: AmiStub, monkeypatch: pytest.MonkeyPatch) -> AmiStub:
    """An exchange with an SCCP phone and a SIP phone, whose dialplan answers drills."""
    monkeypatch.setattr(drills, "ANSWER_SECONDS", 0.3)
    devices = [{"Mac": "SEP001BD4000001", "RegState": "OK"}, {"Mac": "SEP001BD4000009"}]
    lines = [{"Exten": "900", "Device": "(null)"}, {"Exten": "101", "Device": "SEP001BD4000001"}]
    stub.answers |= {
        "SCCPShowDevices": listing(
            "SCCPShowDevicesComplete", *(("SCCPDeviceEntry", one) for one in devices)
        ),
        "SCCPShowLines": listing(
            "SCCPShowLinesComplete", *(("SCCPLineEntry", one) for one in lines)
        ),
        "PJSIPShowContacts": contacts(("1001", "10.0.0.2"), ("1002", "10.0.0.3")),
        "PJSIPShowEndpoint": shown(f"PHONEPROV_EMERGENCY=+4930112,PHONEPROV_PLACE={GIVEN.place}"),
        "Originate": presenting(stub),
    }
    return stub


def contacts(*of: tuple[str, str]) -> Say:
    entries = (
        ("ContactList", {"Endpoint": name, "Uri": f"sip:{name}@{host}:5060"}) for name, host in of
    )
    return listing("ContactListComplete", *entries)


def shown(set_var: str) -> Say:
    return listing("EndpointDetailComplete", ("EndpointDetail", {"SetVar": set_var}))


def asked(stub: AmiStub, **changes: Any) -> ManagerDrills:
    return ManagerDrills(connection(stub, **changes))


async def test_call_from_a_device_is_that_of_its_line(stub: AmiStub) -> None:
    presented = Emergency("+4930999", None)
    stub.answers["Originate"] = presenting(stub, presented)
    assert await asked(stub).calls(SCCP, ()) == (DrillCall("101", GIVEN, presented),)
    [call] = [fields for fields in stub.performed if fields[0][1] == "Originate"]
    assert ("Channel", "Local/sccp@phoneprov-drill/n") in call
    assert variables(stub)["DRILL_DEVICE"] == "SEP001BD4000001"
    assert not stub.complaints


@pytest.mark.parametrize("number", [1, 9, 3])
async def test_device_that_is_not_registered_has_no_call(stub: AmiStub, number: int) -> None:
    calls = await asked(stub).calls(a_phone(number, software_type="SCCP"), ())
    assert len(calls) == (number == 1)


async def test_values_of_an_endpoint_reach_the_dialplan_in_one_line_each(stub: AmiStub) -> None:
    [call] = await asked(stub).calls(SIP, ["1001"])
    assert (call.line, call.presented) == ("1001", GIVEN)
    found = variables(stub)
    assert {found.pop("DRILL")} != {""}
    assert found == {"DRILL_LINE": "1001", "DRILL_NUMBER": GIVEN.number, "DRILL_PLACE": GIVEN.place}
    fields = [value for name, value in stub.received[-2] if name == "Variable"]
    assert all(re.fullmatch(r"DRILL(_[A-Z]+)?=[^,\"\\;=$]*", one) for one in fields)
    assert not stub.complaints


@pytest.mark.parametrize(
    ("set_var", "number", "place"),
    [
        ("", "", ""),
        ("PHONEPROV_PLACE=Hof, PHONEPROV_EMERGENCY", "", "Hof, PHONEPROV_EMERGENCY"),
        ("LANG=de,PHONEPROV_EMERGENCY=+4930112", "+4930112", ""),
        ("PHONEPROV_PLACE=a,b=c,PHONEPROV_EMERGENCY=+4930112", "+4930112", "a,b=c"),
        ("PHONEPROV_PLACE=a\rAction: Logoff\r\n", "", "a\rAction: Logoff"),
    ],
)
async def test_variables_of_an_endpoint_are_read(
    stub: AmiStub, set_var: str, number: str, place: str
) -> None:
    stub.answers["PJSIPShowEndpoint"] = shown(set_var)
    await asked(stub).calls(SIP, ())
    found = variables(stub)
    assert (found["DRILL_NUMBER"], found["DRILL_PLACE"]) == (number, place)
    assert "Logoff" not in stub.names[:-1]
    assert not stub.complaints


async def test_name_of_a_line_ends_no_line_and_begins_no_variable(stub: AmiStub) -> None:
    name = '1,DRILL=x" \\'
    stub.answers["PJSIPShowContacts"] = contacts((name, "10.0.0.2"))
    await asked(stub).calls(SIP, ())
    found = variables(stub)
    assert found["DRILL_LINE"] == name.strip()
    assert re.fullmatch("[0-9a-f]{32}", found["DRILL"])


async def test_sip_phone_has_the_calls_of_its_contacts(stub: AmiStub) -> None:
    here = [("1001", "10.0.0.2"), ("1002", "10.0.0.3"), ("1003", "10.0.0.2")]
    for numbers, phone, lines in (
        (["1003"], SIP, ["1003"]),  # the contact of its last user remains
        (["1001", "1003"], SIP, ["1001", "1003"]),
        (["7"], SIP, ["1001", "1003"]),  # it is registered as its last user
        (["1002"], a_phone(2, software_type="SIP", phone_ip=None), ["1002"]),
        (["7"], a_phone(2, software_type="SIP", phone_ip=None), []),
        (["1001"], a_phone(2, software_type="SIP", phone_ip="10.0.0.9"), []),
    ):
        stub.answers["PJSIPShowContacts"] = contacts(*here)
        calls = await asked(stub).calls(phone, numbers)
        assert [one.line for one in calls] == lines, numbers
    stub.answers["PJSIPShowContacts"] = failure("No Contacts found")
    assert await asked(stub).calls(SIP, ["1001"]) == ()


@pytest.mark.parametrize("lost", ["DeskNumber", "DeskPlace", "Number", "Place", "Drill"])
async def test_event_that_lacks_a_value_is_no_answer(stub: AmiStub, lost: str) -> None:
    changes: dict[str, Any] = {lost: None}
    stub.answers["Originate"] = presenting(stub, **changes)
    with pytest.raises(TimedOut, match="context phoneprov-drill"):
        await asked(stub).calls(SCCP, ())


async def test_events_of_other_drills_and_replays_are_no_answer(stub: AmiStub) -> None:
    exchange = asked(stub)
    [first] = await exchange.calls(SCCP, ())
    replayed = presenting(stub, Emergency("+1999"))("phoneprov-9")
    other = event("UserEvent", UserEvent="PhoneprovDrill", Drill="x", DeskNumber="", DeskPlace="",
                  Number="+1999", Place="")  # fmt: skip
    foreign = event("UserEvent", UserEvent="Other", Drill="x", Number="+1999")
    stub.between = replayed + other + foreign
    assert await exchange.calls(SCCP, ()) == (first,)
    stub.answers["Originate"] = success("queued")
    with pytest.raises(TimedOut):
        await exchange.calls(SCCP, ())


async def test_first_of_two_answers_counts(stub: AmiStub) -> None:
    once, again = presenting(stub), presenting(stub, NO_EMERGENCY)
    stub.answers["Originate"] = lambda action_id: once(action_id) + again(action_id)
    [call] = await asked(stub).calls(SCCP, ())
    assert call.presented == GIVEN


async def test_drills_at_once_get_their_own_answers(stub: AmiStub) -> None:
    """Each call is answered after the next one was placed."""
    held: list[bytes] = []

    def late(action_id: str) -> bytes:
        line = variables(stub)["DRILL_LINE"]
        before, held[:] = b"".join(held), [presenting(stub, Emergency(f"+49{line}"))(action_id)]
        return before + success("queued")(action_id)

    stub.answers["Originate"] = late
    stub.answers["PJSIPShowContacts"] = contacts(*((f"{n}", f"10.0.0.{n}") for n in range(2, 9)))
    exchange = asked(stub)
    phones = [a_phone(n, software_type="SIP", phone_ip=f"10.0.0.{n}") for n in range(2, 9)]
    calls = asyncio.gather(*(exchange.calls(one, ()) for one in phones), return_exceptions=True)
    found = await calls
    assert isinstance(found[-1], TimedOut)
    numbers = [one[0].presented.number for one in found[:-1] if isinstance(one, tuple)]
    assert numbers == [f"+49{n}" for n in range(2, 8)]


@pytest.mark.parametrize(
    ("action", "phone", "ours"),
    [
        ("Originate", SCCP, "write = originate"),
        ("SCCPShowDevices", SCCP, "chan_sccp is not loaded"),
        ("SCCPShowLines", SCCP, "chan_sccp is not loaded"),
        ("PJSIPShowContacts", SIP, "write = system"),
        ("PJSIPShowEndpoint", SIP, "does not show the endpoint 1001"),
    ],
)
async def test_refusal_says_what_to_do(stub: AmiStub, action: str, phone: Any, ours: str) -> None:
    stub.answers[action] = failure("Permission denied")
    with pytest.raises(Refused, match=ours):
        await asked(stub).calls(phone, ())


@pytest.mark.parametrize("action", ["Originate", "SCCPShowDevices"])
async def test_exchange_that_hangs_times_out(stub: AmiStub, action: str) -> None:
    stub.answers[action] = raw(b"")
    with pytest.raises(TimedOut):
        await asked(stub, timeout=0.4).calls(SCCP, ())


async def test_connection_that_ends_during_the_call_is_replaced_once(stub: AmiStub) -> None:
    stub.hang_up_after = "Originate"
    stub.answers["Originate"] = success("queued")
    with pytest.raises(Refused, match="closed the connection"):
        await asked(stub).calls(SCCP, ())
    assert stub.names.count("Originate") == 2


async def test_value_that_asterisk_would_cut_is_refused(stub: AmiStub) -> None:
    stub.answers["PJSIPShowEndpoint"] = shown("PHONEPROV_PLACE=" + "," * 400)
    with pytest.raises(Refused, match="too long"):
        await asked(stub).calls(SIP, ())
    assert "Originate" not in stub.names


async def test_long_place_in_any_script_fits(stub: AmiStub) -> None:
    place = "\u6771" * 170
    stub.answers["PJSIPShowEndpoint"] = shown(f"PHONEPROV_PLACE={place}")
    await asked(stub).calls(SIP, ())
    assert variables(stub)["DRILL_PLACE"] == place
