"""The contract of ``ManagerInterface``, for the real adapter and the fake."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import pytest

from phoneprov_adapters.memory.devices import MemoryManager
from phoneprov_core.kernel.errors import Invalid, Refused, TimedOut
from phoneprov_core.switching.devices.commands import sip_restart
from phoneprov_core.switching.devices.names import device_name
from phoneprov_core.switching.devices.ports import ManagerAction, ManagerInterface
from support.ami_client import MAC, RESTART, TIMEOUT, manager
from support.ami_stub import AmiStub, endpoint, failure


class Asterisk(Protocol):
    """An Asterisk, and the adapter under test."""

    manager: ManagerInterface

    async def performed(self) -> list[ManagerAction]: ...

    def refuse(self) -> None:
        """Let the next action be refused."""
        ...

    def unregister(self) -> None:
        """Remove the contact of the phone's endpoint."""
        ...

    def register_elsewhere(self) -> None:
        """Add a contact at another address to the phone's endpoint."""
        ...

    def stop_answering(self) -> None:
        """Let the next action get no response."""
        ...

    async def stop_server(self) -> None: ...


class FakeAsterisk:
    def __init__(self) -> None:
        self._memory = MemoryManager()
        self.manager: ManagerInterface = self._memory

    async def performed(self) -> list[ManagerAction]:
        return self._memory.performed

    def unregister(self) -> None:
        self._memory.unregistered.add(device_name(MAC))

    def register_elsewhere(self) -> None:
        self._memory.elsewhere.add(device_name(MAC))

    def refuse(self) -> None:
        self._memory.fail(Refused("Asterisk refused the action; see its log for the reason."))

    def stop_answering(self) -> None:
        self._memory.fail(TimedOut("Asterisk's manager interface did not answer in time."))

    async def stop_server(self) -> None:
        self._memory.fail(Refused("Asterisk's manager interface cannot be reached."))


class StubbedAsterisk:
    def __init__(self, stub: AmiStub) -> None:
        self._stub = stub
        # Without a Call-ID a NOTIFY is sent as it is.
        stub.answers["PJSIPShowEndpoint"] = endpoint(("sip:a@10.0.0.7", ""))
        self.manager: ManagerInterface = manager(stub, timeout=5 * TIMEOUT)

    async def performed(self) -> list[ManagerAction]:
        """The performed actions, each between a login and a logoff."""
        await self._stub.settled()
        assert self._stub.complaints == []
        performed = self._stub.performed
        names = [name for name in self._stub.names if name != "PJSIPShowEndpoint"]
        calls = [tuple(names[at : at + 3]) for at in range(0, len(names), 3)]
        refused = ("Login", "Logoff")
        assert calls in (
            [("Login", fields[0][1], "Logoff") for fields in performed],
            [refused] if names else [],
        )
        return [ManagerAction(fields[0][1], tuple(fields[1:])) for fields in performed]

    def unregister(self) -> None:
        self._stub.answers["PJSIPShowEndpoint"] = endpoint()

    def register_elsewhere(self) -> None:
        contacts = ("sip:a@10.0.0.7:5060", "x"), ("sip:a@10.0.0.9:5060", "y")
        self._stub.answers["PJSIPShowEndpoint"] = endpoint(*contacts)

    def refuse(self) -> None:
        self._stub.answers[RESTART.name] = failure("No")

    def stop_answering(self) -> None:
        self._stub.answers[RESTART.name] = None

    async def stop_server(self) -> None:
        await self._stub.stop()


@asynccontextmanager
async def fake() -> AsyncIterator[Asterisk]:
    yield FakeAsterisk()


@asynccontextmanager
async def stubbed() -> AsyncIterator[Asterisk]:
    async with AmiStub() as stub:
        yield StubbedAsterisk(stub)


@pytest.fixture(params=[fake, stubbed], ids=["memory", "ami"])
async def asterisk(request: pytest.FixtureRequest) -> AsyncIterator[Asterisk]:
    async with request.param() as made:
        yield made


@pytest.mark.parametrize(
    "action",
    [RESTART, sip_restart(MAC), ManagerAction("Ping", ())],
    ids=lambda action: action.name,
)
async def test_action_fields_are_sent_unchanged_in_order(
    asterisk: Asterisk, action: ManagerAction
) -> None:
    await asterisk.manager.perform(action)

    assert await asterisk.performed() == [action]


async def test_notify_to_a_phone_that_is_not_registered_is_refused(asterisk: Asterisk) -> None:
    asterisk.unregister()

    with pytest.raises(Refused, match="not registered"):
        await asterisk.manager.perform(sip_restart(MAC))

    assert await asterisk.performed() == []


@pytest.mark.parametrize("phone_ip", ["10.0.0.7", "10.0.0.9", None])
async def test_notify_to_an_endpoint_with_another_phone_is_refused(
    asterisk: Asterisk, phone_ip: str | None
) -> None:
    asterisk.register_elsewhere()

    with pytest.raises(Refused, match="another address"):
        await asterisk.manager.perform(sip_restart(MAC), phone_ip)

    assert await asterisk.performed() == []


async def test_actions_are_performed_in_separate_calls(asterisk: Asterisk) -> None:
    for _ in range(3):
        await asterisk.manager.perform(RESTART)

    assert await asterisk.performed() == [RESTART] * 3


async def test_action_that_asterisk_refuses_is_refused(asterisk: Asterisk) -> None:
    asterisk.refuse()

    with pytest.raises(Refused):
        await asterisk.manager.perform(RESTART)


async def test_action_without_an_answer_times_out(asterisk: Asterisk) -> None:
    asterisk.stop_answering()

    with pytest.raises(TimedOut):
        await asterisk.manager.perform(RESTART)


async def test_stopped_asterisk_is_refused(asterisk: Asterisk) -> None:
    await asterisk.stop_server()

    with pytest.raises(Refused, match="cannot be reached"):
        await asterisk.manager.perform(RESTART)


@pytest.mark.parametrize("character", ["\r", "\n", "\r\nAction: Command", "\0"])
async def test_line_end_is_invalid_and_nothing_is_sent(asterisk: Asterisk, character: str) -> None:
    for action in (
        ManagerAction("Ping" + character, ()),
        ManagerAction("Ping", (("Name" + character, "x"),)),
        ManagerAction("Ping", (("Name", "x"), ("Name", "x" + character))),
    ):
        with pytest.raises(Invalid):
            await asterisk.manager.perform(action)

    assert await asterisk.performed() == []
