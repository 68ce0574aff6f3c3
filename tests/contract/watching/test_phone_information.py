"""The contract of ``PhoneInformation``."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

import pytest

from phoneprov_adapters.memory.devices import MemoryPhone
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.deployments.observation import DeviceInformation, PhoneInformation
from support.phone_stub import Answer, PhoneStub, closes, http, nothing, sends
from support.phone_web import IP, LOOPBACK, SLACK, web

KNOWN = DeviceInformation("00:1B:D4:12:34:56", "CP-7945G", "SCCP45.9-4-2SR3-1S")
XML = """<?xml version="1.0" encoding="UTF-8"?>
<DeviceInformation>
 <HostName>SEP001BD4123456</HostName><MACAddress>001BD4123456</MACAddress>
 <modelNumber> CP-7945G
 </modelNumber><appLoadID>SCCP45.9-4-2SR3-1S</appLoadID><versionID>V01</versionID>
</DeviceInformation>"""


class Phone(NamedTuple):
    """The adapter, and the number of requests that reached a phone."""

    information: PhoneInformation
    asked: Callable[[], int]


@asynccontextmanager
async def in_memory(
    information: DeviceInformation | PhoneprovError, _: Answer
) -> AsyncIterator[Phone]:
    phone = MemoryPhone(LOOPBACK)
    phone.tells[IP] = information
    yield Phone(phone, lambda: 0)


@asynccontextmanager
async def over_the_web(
    _: DeviceInformation | PhoneprovError, answer: Answer
) -> AsyncIterator[Phone]:
    async with PhoneStub(answer) as stub:
        yield Phone(web(stub), lambda: stub.connections)


Opening = Callable[[DeviceInformation | PhoneprovError, Answer], AbstractAsyncContextManager[Phone]]


@pytest.fixture(params=[in_memory, over_the_web])
def asked(request: pytest.FixtureRequest) -> Opening:
    opening: Opening = request.param
    return opening


async def test_device_information_is_parsed(asked: Opening) -> None:
    async with asked(KNOWN, sends(http(body=XML))) as phone:
        assert await phone.information.read(IP, 10.0) == KNOWN


@pytest.mark.parametrize(
    "answer",
    [
        sends(http(body="<html>Hello</html>")),
        sends(http(body="no XML at all")),
        sends(http(body="")),
        sends(http(401, "")),
        sends(http(404, XML)),
        sends(http(body=f"<!DOCTYPE a>{XML[38:]}")),
        sends(http(body=f"{XML}{' ' * 70_000}")),
        sends(http(body="<a><MACAddress>unknown</MACAddress><modelNumber> </modelNumber></a>")),
    ],
)
async def test_malformed_device_information_has_no_values(asked: Opening, answer: Answer) -> None:
    async with asked(DeviceInformation(), answer) as phone:
        assert await phone.information.read(IP, 10.0) == DeviceInformation()


async def test_missing_values_are_none_and_others_fit_in_a_line(asked: Opening) -> None:
    xml = f"<a><modelNumber>CP-\t7945\n</modelNumber><versionID>{'V' * 99}</versionID></a>"
    shown = DeviceInformation(None, "CP- 7945", "V" * 64)
    async with asked(shown, sends(http(body=xml))) as phone:
        assert await phone.information.read(IP, 10.0) == shown


@pytest.mark.parametrize(
    "answer", [nothing, sends(http(body=XML)[:-20]), sends(http(body=XML), each=10, pause=0.1)]
)
async def test_incomplete_response_times_out(asked: Opening, answer: Answer) -> None:
    if answer is not nothing:
        whole = answer

        async def waits(writer: object) -> None:
            await whole(writer)  # type: ignore[arg-type]
            await nothing(writer)  # type: ignore[arg-type]

        answer = waits
    began = time.monotonic()
    async with asked(TimedOut("No answer."), answer) as phone:
        with pytest.raises(TimedOut):
            await phone.information.read(IP, 0.3)
    assert time.monotonic() - began < 0.3 + SLACK


async def test_missing_response_is_refused(asked: Opening) -> None:
    async with asked(Refused("No answer."), closes) as phone:
        with pytest.raises(Refused):
            await phone.information.read(IP, 10.0)


@pytest.mark.parametrize("address", ["10.1.2.3", "192.0.2.1", "::1"])
async def test_forbidden_address_is_not_called(asked: Opening, address: str) -> None:
    async with asked(KNOWN, sends(http(body=XML))) as phone:
        with pytest.raises(Conflict):
            await phone.information.read(address, 10.0)
        assert phone.asked() == 0
