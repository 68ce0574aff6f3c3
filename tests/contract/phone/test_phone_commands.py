"""The contract of ``PhoneCommands``, for the real adapter and the fake."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import pytest

from phoneprov_adapters.memory.devices import MemoryPhone
from phoneprov_core.kernel.errors import Conflict, Invalid, PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.ports import KeyPress, PhoneCommands
from support.phone_stub import PhoneStub, error, http, nothing, sends
from support.phone_web import IP, LOOPBACK, TIMEOUT, web

KEYS = [KeyPress("Key:Settings"), KeyPress("Key:KeyPadStar"), KeyPress("Key:KeyPadPound")]
URIS = [key.uri for key in KEYS]


class Phone(Protocol):
    """One phone at ``IP`` and the adapter that calls it."""

    commands: PhoneCommands

    def sent(self) -> list[str]:
        """The commands that reached the phone, one entry a request."""
        ...

    def refuse(self, number: int, *, after: int) -> None:
        """Let the phone return an error number once, after ``after`` successes."""
        ...

    def stop_answering(self, *, after: int) -> None: ...

    async def stop_server(self) -> None: ...


class FakePhone:
    def __init__(self) -> None:
        self._phone = MemoryPhone(LOOPBACK, asyncio.sleep)
        self.commands: PhoneCommands = self._phone

    def sent(self) -> list[str]:
        return self._phone.sent.get(IP, [])

    def refuse(self, number: int, *, after: int) -> None:
        self._fail(Refused(f"The phone refused the command (error {number})."), after)

    def stop_answering(self, *, after: int) -> None:
        self._fail(TimedOut("The phone's web server did not answer in time."), after)

    async def stop_server(self) -> None:
        self._fail(Refused("The phone's web server cannot be reached."), 0)

    def _fail(self, planned: PhoneprovError, after: int) -> None:
        self._phone.fail(planned, after=after)


class StubbedPhone:
    def __init__(self, stub: PhoneStub) -> None:
        self._stub = stub
        self.commands: PhoneCommands = web(stub, timeout=5 * TIMEOUT)

    def sent(self) -> list[str]:
        assert all(len(request.uris) == 1 for request in self._stub.requests)
        return self._stub.uris

    def refuse(self, number: int, *, after: int) -> None:
        self._stub.answers = [*[sends(http())] * after, error(number), sends(http())]

    def stop_answering(self, *, after: int) -> None:
        self._stub.answers = [*[sends(http())] * after, nothing, sends(http())]

    async def stop_server(self) -> None:
        await self._stub.stop()


@asynccontextmanager
async def fake() -> AsyncIterator[Phone]:
    yield FakePhone()


@asynccontextmanager
async def stubbed() -> AsyncIterator[Phone]:
    async with PhoneStub() as stub:
        yield StubbedPhone(stub)


@pytest.fixture(params=[fake, stubbed], ids=["memory", "http"])
async def phone(request: pytest.FixtureRequest) -> AsyncIterator[Phone]:
    async with request.param() as made:
        yield made


async def test_commands_are_sent_in_separate_requests_in_order(phone: Phone) -> None:
    await phone.commands.execute(IP, KEYS)

    assert phone.sent() == URIS


async def test_empty_command_list_sends_no_request(phone: Phone) -> None:
    await phone.commands.execute(IP, [])

    assert phone.sent() == []


async def test_every_command_is_followed_by_its_pause(phone: Phone) -> None:
    begun = time.monotonic()
    await phone.commands.execute(IP, [KeyPress("a", 0.05), KeyPress("b", 0.1), KeyPress("c", 0.05)])

    assert time.monotonic() - begun >= 0.2


async def test_concurrent_calls_to_one_phone_are_serialized(phone: Phone) -> None:
    first = [KeyPress(f"first:{n}", 0.01) for n in range(4)]
    second = [KeyPress(f"second:{n}", 0.01) for n in range(4)]

    await asyncio.gather(phone.commands.execute(IP, first), phone.commands.execute(IP, second))

    in_turn = [key.uri for key in first + second]
    other_turn = [key.uri for key in second + first]
    assert phone.sent() in (in_turn, other_turn)


@pytest.mark.parametrize("number", [1, 4, 99])
@pytest.mark.parametrize("after", [0, 1])
async def test_refused_command_is_named_by_number_and_stops_the_call(
    phone: Phone, number: int, after: int
) -> None:
    phone.refuse(number, after=after)

    with pytest.raises(Refused, match=rf"\berror {number}\b"):
        await phone.commands.execute(IP, KEYS)

    assert phone.sent() == URIS[: after + 1]


@pytest.mark.parametrize("after", [0, 2])
async def test_silent_phone_times_out_and_gets_no_further_command(phone: Phone, after: int) -> None:
    phone.stop_answering(after=after)

    with pytest.raises(TimedOut):
        await phone.commands.execute(IP, KEYS)

    assert phone.sent() == URIS[: after + 1]


async def test_stopped_phone_is_refused(phone: Phone) -> None:
    await phone.stop_server()

    with pytest.raises(Refused, match="cannot be reached"):
        await phone.commands.execute(IP, KEYS)


@pytest.mark.parametrize("address", ["10.0.0.1", "::1", "localhost", "127.1", ""])
async def test_forbidden_address_is_not_called(phone: Phone, address: str) -> None:
    with pytest.raises(Conflict) as caught:
        await phone.commands.execute(address, KEYS)

    assert caught.value.code == "address_not_allowed"
    assert phone.sent() == []


async def test_invalid_command_prevents_every_request(phone: Phone) -> None:
    with pytest.raises(Invalid):
        await phone.commands.execute(IP, [*KEYS, KeyPress("Key:\r\n")])

    assert phone.sent() == []


async def test_call_after_a_failure_succeeds(phone: Phone) -> None:
    phone.refuse(4, after=0)
    with pytest.raises(Refused):
        await phone.commands.execute(IP, KEYS)

    await phone.commands.execute(IP, KEYS)

    assert phone.sent() == [URIS[0], *URIS]


async def test_fake_phone_does_not_wait_by_default() -> None:
    phone = MemoryPhone(LOOPBACK)

    await asyncio.wait_for(phone.execute(IP, [KeyPress("a", 3600.0)]), 10.0)

    assert phone.sent == {IP: ["a"]}
