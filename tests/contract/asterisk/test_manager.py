"""Messages that the manager client sends, and its reading of responses."""

import asyncio
import time

import pytest

from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import sip_restart
from support.ami_client import MAC, RESTART, SLACK, TIMEOUT, manager
from support.ami_stub import SECRET, USER, AmiStub, endpoint, event, failure, raw


async def test_manager_call_starts_with_login_and_ends_with_logoff(stub: AmiStub) -> None:
    await manager(stub).perform(RESTART)
    await stub.closed.wait()

    login, action, logoff = stub.received
    assert [field for field in login if field[0] != "ActionID"] == [
        ("Action", "Login"),
        ("Username", USER),
        ("Secret", SECRET),
        ("Events", "system,call,user"),
    ]
    assert [field for field in action if field[0] != "ActionID"] == [
        ("Action", "SCCPDeviceRestart"),
        ("DeviceName", "SEP001BD4123456"),
        ("Type", "restart"),
    ]
    assert logoff[0] == ("Action", "Logoff")
    assert len({dict(fields)["ActionID"] for fields in stub.received}) == 3
    assert stub.complaints == []


async def test_notify_fields_are_sent_one_per_line_in_order(stub: AmiStub) -> None:
    action = sip_restart(MAC)
    await manager(stub).perform(action)

    sent = [(name, value.replace("{}", "{call-id-1@10.0.0.7}")) for name, value in action.fields]
    assert stub.performed == [[("Action", "PJSIPNotify"), *sent]]
    assert stub.complaints == []


async def test_concurrent_calls_share_one_login_and_one_logoff(stub: AmiStub) -> None:
    stub.one_login = True
    client = manager(stub)

    for _ in range(2):
        await asyncio.gather(*(client.perform(RESTART) for _ in range(10)))
        await stub.settled()

    assert stub.connections == 2
    assert stub.names.count("Logoff") == 2
    assert len(stub.performed) == 20


@pytest.mark.parametrize(
    "contacts",
    [
        [("sip:a@10.0.0.7", "one"), ("sip:a@10.0.0.7:49152", "two")],
        [("sip:a@10.0.0.7", "a,Content=action=reset")],
        [("sip:a@10.0.0.7", "x}\\")],
        [("sip:a@10.0.0.7", "")],
    ],
    ids=["two", "comma", "brace", "none"],
)
async def test_notify_omits_an_invalid_call_id(
    stub: AmiStub, contacts: list[tuple[str, str]]
) -> None:
    stub.answers["PJSIPShowEndpoint"] = endpoint(*contacts)

    await manager(stub).perform(sip_restart(MAC))

    assert stub.performed == [[("Action", "PJSIPNotify"), *sip_restart(MAC).fields]]


@pytest.mark.parametrize(
    ("uri", "via", "phone_ip"),
    [
        ("sip:a@10.0.0.7:5060;transport=tcp", "", "10.0.0.7"),
        ("sips:10.0.0.7", "", "10.0.0.7"),
        ("sip:a@[2001:db8::1]:5060", "", "2001:db8::1"),
        ("sip:a@[::ffff:10.0.0.7]:5060", "", "10.0.0.7"),
        ("sip:a@203.0.113.9:40000", "10.0.0.7:5060", "10.0.0.7"),  # NAT
        ("sip:phone.example:5060", "[2001:db8::1]:5060", "2001:db8::1"),
    ],
)
async def test_notify_address_of_the_phone_is_recognised(
    stub: AmiStub, uri: str, via: str, phone_ip: str
) -> None:
    stub.answers["PJSIPShowEndpoint"] = endpoint((uri, "x", via))

    await manager(stub).perform(sip_restart(MAC), phone_ip)
    with pytest.raises(Refused, match="another address"):
        await manager(stub).perform(sip_restart(MAC), "10.0.0.70")

    assert len(stub.performed) == 1


OLD = ("sip:1@10.0.0.7", "old", "", "1001", "100")
NEW = ("sip:1@10.0.0.7", "new", "", "1002", "200")
FOREIGN = ("sip:1@10.0.0.8", "foreign", "", "1003", "300")


@pytest.mark.parametrize(
    ("own", "call_id"),
    [([NEW], "new"), ([OLD, NEW], ""), ([FOREIGN, NEW], None), ([], None)],
    ids=["own", "two of its own", "another one", "gone"],
)
async def test_notify_goes_to_the_newest_registration_of_the_phone_alone(
    stub: AmiStub, own: list[tuple[str, ...]], call_id: str | None
) -> None:
    """The endpoint of the phone has the AORs of users who are at other phones now."""
    shown = iter([endpoint(OLD, NEW, FOREIGN), endpoint(*own)])
    stub.answers["PJSIPShowEndpoint"] = lambda action_id: next(shown)(action_id)

    if call_id is None:
        with pytest.raises(Refused, match="another address"):
            await manager(stub).perform(sip_restart(MAC), "10.0.0.7")
        assert stub.performed == []
        return
    await manager(stub).perform(sip_restart(MAC), "10.0.0.7")
    assert [dict(fields)["Endpoint"] for fields in stub.received[1:3]] == [
        "SEP001BD4123456",
        "1002",
    ]
    assert ("Endpoint", "1002") in stub.performed[0]
    assert ("Variable", f"Content=RegisterCallId={{{call_id}}}") in stub.performed[0]


async def test_notify_endpoint_not_shown_is_sent(stub: AmiStub) -> None:
    stub.answers["PJSIPShowEndpoint"] = failure("Unable to retrieve endpoint x")
    stub.answers["PJSIPNotify"] = failure("Unable to retrieve endpoint x")

    with pytest.raises(Refused, match="no endpoint of this name"):
        await manager(stub).perform(sip_restart(MAC))


async def test_notify_omits_headers_that_asterisk_adds() -> None:
    assert "Subscription-State" not in str(sip_restart(MAC))


@pytest.mark.parametrize("size", [1, 2, 7, 100])
async def test_response_in_fragments_is_parsed(stub: AmiStub, size: int) -> None:
    stub.pieces, stub.pause = size, 0.005 if size > 7 else 0.0

    await manager(stub).perform(RESTART)

    assert len(stub.performed) == 1


@pytest.mark.parametrize(
    "noise",
    [
        event("FullyBooted", Privilege="system,all", Status="Fully Booted"),
        event("Fake", ActionID="phoneprov-1"),
        event("PeerStatus", Response="Error", Message="Device not found"),
        b"Response: Error\r\nActionID: other\r\nMessage: Device not found\r\n\r\n",
        b"Response: Error\r\nMessage: Device not found\r\n\r\n",
        b"\r\n\r\n",
        b"no colon here\r\n\r\n",
        b": \r\n\r\n",
        b"Event: \xff\xfe\r\n\r\n",
        b"Event: LineFeedsOnly\nX: 1\n\n",
        event("Many", **{f"Line{n}": "x" * 900 for n in range(60)}),
        event("Again") * 300,
    ],
    ids=[
        "booted", "our-id", "error-event", "other-id", "no-id", "empty", "no-colon", "no-name",
        "bytes", "line-feeds", "long", "many",
    ],
)  # fmt: skip
async def test_messages_before_the_response_are_ignored(stub: AmiStub, noise: bytes) -> None:
    stub.between = noise

    await manager(stub).perform(RESTART)

    assert len(stub.performed) == 1


async def test_events_without_end_time_out(stub: AmiStub) -> None:
    stub.answers["SCCPDeviceRestart"] = raw(event("Again", Text="x" * 100) * 2000)
    stub.pieces, stub.pause = 140, 0.001

    begun = time.monotonic()
    with pytest.raises(TimedOut):
        await manager(stub, timeout=TIMEOUT).perform(RESTART)

    assert time.monotonic() - begun < TIMEOUT + SLACK


@pytest.mark.parametrize(
    "answer",
    [
        b"response: success\r\nactionid: {}\r\nmessage: x\r\n\r\n",
        b"ActionID: {}\r\nResponse:Success\r\n\r\n",
        b"Response: SUCCESS\r\nActionID:   {}  \r\nResponse: Error\r\n\r\n",
    ],
)
async def test_header_names_ignore_case_and_the_first_value_counts(
    stub: AmiStub, answer: bytes
) -> None:
    stub.answers["SCCPDeviceRestart"] = lambda action_id: answer.replace(b"{}", action_id.encode())

    await manager(stub).perform(RESTART)

    assert len(stub.performed) == 1


@pytest.mark.parametrize(
    ("asterisk_message", "ours"),
    [
        ("Device not found", "not registered"),
        ("device NOT found", "not registered"),
        ("Device not registered", "not registered"),
        ("Unable to retrieve endpoint SEP001BD4123456", "pjsip.conf"),
        ("Unable to push Notify task", "too busy"),
        ("Permission denied", "write = system"),
        ("Invalid/unknown command: SCCPDeviceRestart. Use Action: ListCommands", "chan_sccp"),
        ("Something unknown zqzq", "refused the action"),
        ("", "refused the action"),
        (" ", "refused the action"),
    ],
)
async def test_refusal_message_is_replaced_by_ours(
    stub: AmiStub, asterisk_message: str, ours: str
) -> None:
    stub.answers["SCCPDeviceRestart"] = failure(asterisk_message)
    if not asterisk_message:
        follows = "Response: Follows\r\nActionID: {}\r\n\r\n"
        stub.answers["SCCPDeviceRestart"] = lambda action_id: follows.format(action_id).encode()

    with pytest.raises(Refused, match=ours) as caught:
        await manager(stub).perform(RESTART)

    assert "zqzq" not in caught.value.message
    assert caught.value.message.endswith(".")


@pytest.mark.parametrize("changes", [{"secret": "wrong-secret"}, {"user": "wrong-user"}])
async def test_login_wrong_secret_names_the_settings_and_sends_no_action(
    stub: AmiStub, changes: dict[str, str]
) -> None:
    with pytest.raises(Refused, match="PHONEPROV_AMI_USER") as caught:
        await manager(stub, **changes).perform(RESTART)

    assert stub.names == ["Login"]
    stub.answers["Login"] = failure("Something else")
    with pytest.raises(Refused, match="PHONEPROV_AMI_USER"):
        await manager(stub).perform(RESTART)
    assert stub.names == ["Login"] * 2
    assert "wrong-" not in caught.value.message
    assert SECRET not in caught.value.message
