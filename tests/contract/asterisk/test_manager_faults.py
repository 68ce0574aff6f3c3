"""The manager client with silent, faulty or foreign servers."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.ports import ManagerAction
from phoneprov_core.switching.errors import REPLY_LOST
from support.ami_client import NOTIFY, RESTART, SLACK, TIMEOUT, manager
from support.ami_stub import SECRET, USER, AmiStub, Say, raw


@pytest.mark.parametrize("silent", ["banner", "Login", "SCCPDeviceRestart"])
async def test_manager_silent_at_any_step_times_out(stub: AmiStub, silent: str) -> None:
    stub.answers[silent] = None
    if silent == "banner":
        stub.banner = None

    begun = time.monotonic()
    with pytest.raises(TimedOut, match="in time"):
        await manager(stub, timeout=TIMEOUT).perform(RESTART)

    assert TIMEOUT * 0.9 <= time.monotonic() - begun < TIMEOUT + SLACK


async def test_manager_slow_at_every_step_times_out_once(stub: AmiStub) -> None:
    stub.pieces, stub.pause = 10, 0.1

    begun = time.monotonic()
    with pytest.raises(TimedOut):
        await manager(stub, timeout=TIMEOUT).perform(RESTART)

    assert time.monotonic() - begun < TIMEOUT + SLACK


@pytest.mark.parametrize(
    "lose",
    [
        lambda stub: None,  # late
        lambda stub: stub.disconnect_all(),
        lambda stub: stub.reset_all(),
        lambda stub: raw(b"\0" * 100_000),
    ],
    ids=["late", "closed", "reset", "garbage"],
)
@pytest.mark.parametrize("action", [RESTART, NOTIFY], ids=["sccp", "sip"])
async def test_response_that_is_lost_after_the_command_was_sent_is_unknown(
    stub: AmiStub, action: ManagerAction, lose: Callable[[AmiStub], Say | None]
) -> None:
    def say(action_id: str) -> bytes:
        answer = lose(stub)
        return answer(action_id) if answer else b""

    stub.answers[action.name] = say

    with pytest.raises((Refused, TimedOut), match="not known whether the phone restarts") as lost:
        await manager(stub, timeout=TIMEOUT).perform(action)

    assert lost.value.code == REPLY_LOST
    assert len(stub.performed) == 1


@pytest.mark.parametrize("silent", ["Login", "PJSIPShowEndpoint"])
async def test_command_that_was_never_sent_is_a_failure(stub: AmiStub, silent: str) -> None:
    stub.answers[silent] = None

    with pytest.raises(TimedOut) as late:
        await manager(stub, timeout=TIMEOUT).perform(NOTIFY)

    assert late.value.code == TimedOut.code
    assert stub.performed == []


async def test_logoff_without_answer_changes_nothing(stub: AmiStub) -> None:
    stub.answers["Logoff"] = None

    begun = time.monotonic()
    await manager(stub).perform(RESTART)

    assert time.monotonic() - begun < 5.0


async def test_action_followed_by_disconnect_succeeds(stub: AmiStub) -> None:
    stub.hang_up_after = "SCCPDeviceRestart"

    await manager(stub).perform(RESTART)

    assert len(stub.performed) == 1


@pytest.mark.parametrize("place", ["banner", "Login", "SCCPDeviceRestart"])
async def test_connection_lost_before_the_response_is_refused(stub: AmiStub, place: str) -> None:
    stub.hang_up_after = place
    stub.answers[place] = None

    with pytest.raises(Refused, match="closed the connection"):
        await manager(stub).perform(RESTART)


@pytest.mark.parametrize(
    "answer",
    [
        raw(b"Response: Success\r\nActionID: " + b"x" * 200_000 + b"\r\n\r\n"),
        raw(b"x" * 200_000),
        raw(b"Event: Huge\r\n" + b"Line: 1234567890\r\n" * 10_000 + b"\r\n"),
        raw(b"\0" * 100_000),
    ],
    ids=["giant-value", "giant-line", "giant-message", "zeros"],
)
@pytest.mark.parametrize("place", ["Login", "SCCPDeviceRestart"])
async def test_oversized_messages_are_refused(stub: AmiStub, place: str, answer: Say) -> None:
    stub.answers[place] = answer

    begun = time.monotonic()
    with pytest.raises(Refused, match="manager protocol"):
        await manager(stub).perform(RESTART)

    assert time.monotonic() - begun < 5.0


@pytest.mark.parametrize(
    "banner", [b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 400 Bad\r\n\r\n", b"\r\n", b"\xff" * 70_000]
)
async def test_other_server_at_the_port_gets_no_secret(stub: AmiStub, banner: bytes) -> None:
    stub.banner = banner

    with pytest.raises(Refused, match="manager protocol"):
        await manager(stub).perform(RESTART)

    assert stub.received == []


async def test_unknown_host_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    settings = ManagerSettings(host="nowhere.invalid", user=USER, secret=SECRET)

    with pytest.raises(Refused, match="PHONEPROV_AMI_HOST"):
        await Manager(ManagerConnection(settings)).perform(RESTART)


async def test_cancelled_caller_leaves_no_connection_open(stub: AmiStub) -> None:
    stub.answers["Login"] = None
    call = asyncio.create_task(manager(stub).perform(RESTART))
    await stub.asked.wait()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    async with asyncio.timeout(60.0):
        await stub.closed.wait()
