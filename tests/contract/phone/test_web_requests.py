"""Requests of the HTTP adapter, and their times."""

import asyncio
import base64
import time
from typing import Any

import pytest

from phoneprov_adapters.phone.http import PhoneWebSettings
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES
from phoneprov_core.switching.devices.ports import KeyPress
from support.phone_stub import PhoneStub, http, nothing, sends
from support.phone_web import IP, TIMEOUT, until_idle, web
from support.records import a_mac


async def test_request_is_a_form_with_one_field(stub: PhoneStub) -> None:
    await web(stub).execute(IP, CLEAR_SERVICES)

    (request,) = stub.requests
    assert request.line == "POST /CGI/Execute HTTP/1.1"
    assert request.uris == ["Init:Services"]
    assert request.headers == {
        "host": f"127.0.0.1:{stub.port}",
        "content-type": "application/x-www-form-urlencoded",
        "content-length": str(len(request.body)),
        "accept": "text/xml",
        "accept-encoding": "identity",
        "connection": "close",
        "user-agent": "phoneprov",
    }


async def test_login_is_sent_when_configured(stub: PhoneStub) -> None:
    await web(stub, user="admin", password="pässword:1").execute(IP, CLEAR_SERVICES)

    (request,) = stub.requests
    scheme, login = request.headers["authorization"].split()
    assert scheme == "Basic"
    assert base64.b64decode(login).decode() == "admin:pässword:1"


async def test_look_carries_no_login(stub: PhoneStub) -> None:
    """Neither one of the watch nor the question before a command: another host may have the
    address."""
    phone = web(stub, user="admin", password="x")
    await phone.read(IP, 2)
    await phone.execute(IP, CLEAR_SERVICES, "00:1B:D4:00:00:01")

    sent = [(one.line.split()[0], "authorization" in one.headers) for one in stub.requests]
    assert sent == [("GET", False), ("GET", False), ("POST", True)]


async def test_every_command_uses_a_connection_of_its_own(stub: PhoneStub) -> None:
    await web(stub).execute(IP, [KeyPress("a"), KeyPress("b"), KeyPress("c")])

    assert stub.connections == 3
    assert stub.most_at_once == 1
    await until_idle(stub)


async def test_concurrent_calls_to_one_phone_have_one_request_in_flight(stub: PhoneStub) -> None:
    stub.answers = [sends(http(), each=len(http()) // 2, pause=0.01)]
    phone = web(stub)

    await asyncio.gather(
        *(phone.execute(ip, CLEAR_SERVICES) for ip in (IP, "::ffff:127.0.0.1", IP, IP))
    )

    assert len(stub.requests) == 4
    assert stub.most_at_once == 1


async def test_call_that_waited_for_another_one_says_that_the_phone_was_not_called(
    stub: PhoneStub,
) -> None:
    done = asyncio.Event()

    async def answers_late(writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.write(http())

    stub.answers = [answers_late]
    phone = web(stub, timeout=30.0, total=30.0)
    earlier = asyncio.create_task(phone.execute(IP, CLEAR_SERVICES))
    await stub.asked.wait()

    with pytest.raises(TimedOut, match=r"was not called.*check that the phone is on"):
        await phone.read(IP, 0.05)

    done.set()
    await earlier
    assert len(stub.requests) == 1


async def test_phone_that_is_off_has_its_own_next_step_after_an_earlier_call_too(
    stub: PhoneStub,
) -> None:
    stub.answers = [nothing]
    phone = web(stub, timeout=TIMEOUT)

    calls = [phone.read(IP, TIMEOUT / 2), phone.execute(IP, CLEAR_SERVICES, a_mac(1))]
    failures = await asyncio.gather(*calls, return_exceptions=True)

    for failure in failures:
        assert isinstance(failure, TimedOut)
        assert "check that the phone is on" in failure.message
        assert "other phone" not in failure.message


async def test_calls_to_other_phones_do_not_wait(stub: PhoneStub) -> None:
    done = asyncio.Event()

    async def answers_late(writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.write(http())

    stub.answers = [answers_late]
    phone = web(stub)
    slow = asyncio.create_task(phone.execute(IP, CLEAR_SERVICES))
    await stub.asked.wait()

    # No server listens at the other phone's address: the connection is refused at once.
    with pytest.raises(Refused):
        await asyncio.wait_for(phone.execute("127.0.0.2", CLEAR_SERVICES), 5.0)

    done.set()
    await slow


async def test_waiting_call_keeps_its_deadline(stub: PhoneStub) -> None:
    stub.answers = [nothing]
    phone = web(stub, total=1.0)

    begun = time.monotonic()
    results = await asyncio.gather(
        *(phone.execute(IP, CLEAR_SERVICES) for _ in range(3)), return_exceptions=True
    )

    assert [type(result) for result in results] == [TimedOut] * 3
    assert time.monotonic() - begun < 3.0


@pytest.mark.parametrize(
    "values",
    [
        {"scheme": "ftp"},
        {"port": 0},
        {"port": 65536},
        {"user": "a:b"},
        {"timeout": 0},
        {"total": -1},
        {"timeout": float("nan")},
    ],
)
def test_invalid_setting_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="phones must"):
        PhoneWebSettings(**values)
