"""What the HTTP adapter sends, and that no answer and no surroundings lead it astray."""

from __future__ import annotations

import asyncio
import base64
import gzip
import ssl
import time
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from phoneprov_adapters.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.profiles.device import CLEAR_SERVICES, REPLY_LIMIT
from phoneprov_core.profiles.ports import KeyPress
from support.phone_stub import SUCCESS, Answer, PhoneStub, closes, error, http, nothing, sends

LOOPBACK = PhoneNetworks.parse("127.0.0.0/8")
IP = "127.0.0.1"
TIMEOUT = 0.3


def web(stub: PhoneStub, **changes: Any) -> PhoneWeb:
    values = {"port": stub.port, "timeout": TIMEOUT, "total": 0.6} | changes
    return PhoneWeb(PhoneWebSettings(**values), LOOPBACK)


@pytest.fixture
async def stub() -> AsyncIterator[PhoneStub]:
    async with PhoneStub() as made:
        yield made


@pytest.fixture
async def canary() -> AsyncIterator[PhoneStub]:
    """A server that nobody may call."""
    async with PhoneStub() as made:
        yield made
        assert made.connections == 0


# What is sent


async def test_the_request_is_a_form_with_one_field(stub: PhoneStub) -> None:
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


async def test_a_login_is_sent_when_there_is_a_user(stub: PhoneStub) -> None:
    await web(stub, user="admin", password="pässword:1").execute(IP, CLEAR_SERVICES)

    (request,) = stub.requests
    scheme, login = request.headers["authorization"].split()
    assert scheme == "Basic"
    assert base64.b64decode(login).decode() == "admin:pässword:1"


async def test_every_command_has_a_connection_that_is_closed_after_it(stub: PhoneStub) -> None:
    await web(stub).execute(IP, [KeyPress("a"), KeyPress("b"), KeyPress("c")])

    assert stub.connections == 3
    assert stub.most_at_once == 1
    await until_idle(stub)


async def test_calls_at_once_to_one_phone_are_one_in_flight(stub: PhoneStub) -> None:
    stub.answers = [sends(http(), each=len(http()) // 2, pause=0.01)]
    phone = web(stub, total=2.0)

    await asyncio.gather(
        *(phone.execute(ip, CLEAR_SERVICES) for ip in (IP, "::ffff:127.0.0.1", IP, IP))
    )

    assert len(stub.requests) == 4
    assert stub.most_at_once == 1


async def test_other_phones_need_not_wait(stub: PhoneStub) -> None:
    done = asyncio.Event()

    async def answers_late(writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.write(http())

    stub.answers = [answers_late]
    phone = web(stub, timeout=2.0, total=2.0)
    slow = asyncio.create_task(phone.execute(IP, CLEAR_SERVICES))
    await stub.asked.wait()

    # Nobody listens at the other phone's address, so that it refuses at once.
    with pytest.raises(Refused):
        await asyncio.wait_for(phone.execute("127.0.0.2", CLEAR_SERVICES), 1.0)

    done.set()
    await slow


async def test_a_call_that_waits_for_its_turn_keeps_its_deadline(stub: PhoneStub) -> None:
    stub.answers = [nothing]
    phone = web(stub, total=0.2, timeout=5.0)

    begun = time.monotonic()
    results = await asyncio.gather(
        *(phone.execute(IP, CLEAR_SERVICES) for _ in range(3)), return_exceptions=True
    )

    assert [type(result) for result in results] == [TimedOut] * 3
    assert time.monotonic() - begun < 0.4


# What is answered


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 6, 7])
async def test_each_error_number_is_refused_and_kept(stub: PhoneStub, number: int) -> None:
    stub.answers = [error(number)]

    with pytest.raises(Refused, match=rf"\berror {number}\b"):
        await web(stub).execute(IP, CLEAR_SERVICES)


@pytest.mark.parametrize("status", [401, 403, 404, 500, 503])
async def test_a_status_other_than_200_is_refused_and_named(stub: PhoneStub, status: int) -> None:
    stub.answers = [sends(http(status))]

    with pytest.raises(Refused, match=f"HTTP {status}"):
        await web(stub).execute(IP, CLEAR_SERVICES)

    assert len(stub.requests) == 1


async def test_a_status_other_than_200_is_known_before_its_body(stub: PhoneStub) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 401 No\r\nContent-Length: 1000\r\n\r\n")
        await nothing(writer)

    stub.answers = [answer]

    with pytest.raises(Refused, match="HTTP 401"):
        await web(stub, user="admin", password="wrong-one").execute(IP, CLEAR_SERVICES)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(stub: PhoneStub, canary: PhoneStub, status: int) -> None:
    place = f"http://127.0.0.1:{canary.port}/CGI/Execute"
    stub.answers = [sends(http(status, Location=place))]

    with pytest.raises(Refused, match=f"HTTP {status}"):
        await web(stub, user="admin", password="secret-word").execute(IP, CLEAR_SERVICES)

    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    "place", ["", "http://[", "//", "http://\xff\xfe/", "x" * 9000, "http://a:999999/", "\t", "%"]
)
async def test_a_redirect_to_nowhere_is_refused_as_well(stub: PhoneStub, place: str) -> None:
    stub.answers = [sends(http(302, Location=place))]

    with pytest.raises(Refused):
        await web(stub).execute(IP, CLEAR_SERVICES)


async def test_an_answer_in_small_pieces_is_an_answer(stub: PhoneStub) -> None:
    stub.answers = [sends(http(), each=1)]

    await web(stub).execute(IP, CLEAR_SERVICES)


async def test_an_answer_without_a_length_ends_with_the_connection(stub: PhoneStub) -> None:
    stub.answers = [sends(b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n" + SUCCESS.encode())]

    await web(stub).execute(IP, CLEAR_SERVICES)


@pytest.mark.parametrize(
    "answer",
    [
        nothing,
        sends(http(), each=1, pause=0.01),
        sends(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, each=25, pause=0.01),
        sends(http() + b"\r\n", each=len(http()) - 1, pause=9),
    ],
    ids=["mute", "byte-by-byte", "endless-continue", "last-byte-missing"],
)
async def test_a_slow_answer_ends_with_the_deadline_of_the_request(
    stub: PhoneStub, answer: Answer
) -> None:
    stub.answers = [answer]

    begun = time.monotonic()
    with pytest.raises(TimedOut, match="in time"):
        await web(stub).execute(IP, CLEAR_SERVICES)

    assert TIMEOUT * 0.9 <= time.monotonic() - begun < TIMEOUT + 0.2
    await until_idle(stub)


async def test_the_whole_call_has_a_deadline_with_its_pauses(stub: PhoneStub) -> None:
    begun = time.monotonic()
    with pytest.raises(TimedOut):
        await web(stub, total=0.3).execute(IP, [KeyPress("a", 0.2)] * 5)

    assert time.monotonic() - begun < 0.5
    assert stub.uris == ["a", "a"]


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1000\r\n" + b"<" * 0x1000 + b"\r\n")
        await writer.drain()


async def endless_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"x" * 1000 + b"\r\n")
        await writer.drain()


async def resets(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n<Cisco")
    await writer.drain()
    writer.transport.abort()


async def closes_early(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + SUCCESS.encode())


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaa'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(9)
)
BOMB += "]><CiscoIPPhoneResponse><ResponseItem Status='0' Data='&j;'/></CiscoIPPhoneResponse>"


@pytest.mark.parametrize(
    "answer",
    [
        endless,
        endless_headers,
        sends(http(body=SUCCESS + " " * REPLY_LIMIT + "<!-- -->")),
        resets,
        closes,
        closes_early,
        sends(b"220 ready\r\n"),
        sends(b"\0" * 100),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: nine\r\n\r\n"),
        sends(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        sends(http(204, b"")),
        sends(http(body="garbage<")),
        sends(http(body=b"\xff\xfe\0\xd8")),
        sends(http(body="<html>Welcome</html>")),
        sends(http(body=BOMB)),
        sends(http(body=gzip.compress(SUCCESS.encode()), Content_Encoding="gzip")),
    ],
    ids=[
        "endless", "endless-headers", "huge", "reset", "close", "close-early", "ftp", "zeros",
        "bad-length", "switching", "no-content", "garbage", "bytes", "html", "entities", "gzip",
    ],
)  # fmt: skip
async def test_nonsense_is_refused_in_our_own_words(stub: PhoneStub, answer: Answer) -> None:
    stub.answers = [answer]

    begun = time.monotonic()
    with pytest.raises(Refused) as caught:
        await web(stub, timeout=5.0, total=5.0).execute(IP, CLEAR_SERVICES)

    assert time.monotonic() - begun < 1.0
    message = caught.value.message
    assert message.startswith("The phone's ")
    for foreign in ("Welcome", "garbage", "220", "x" * 10, "Switching"):
        assert foreign not in message
    await until_idle(stub)


async def test_a_caller_that_goes_away_leaves_the_phone_free(stub: PhoneStub) -> None:
    stub.answers = [nothing, sends(http())]
    phone = web(stub, timeout=5.0, total=5.0)
    call = asyncio.create_task(phone.execute(IP, CLEAR_SERVICES))
    await stub.asked.wait()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    await until_idle(stub)
    await phone.execute(IP, CLEAR_SERVICES)


# Where it goes


async def test_proxies_and_logins_of_the_environment_are_not_used(
    stub: PhoneStub, canary: PhoneStub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login foreign password foreign\n")
    monkeypatch.setenv("NETRC", str(netrc))

    await web(stub).execute(IP, CLEAR_SERVICES)

    (request,) = stub.requests
    assert request.line == "POST /CGI/Execute HTTP/1.1"
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",  # noqa: S104 - nothing is bound
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1%lo",
        "169.254.169.254",
        "224.0.0.1",
        "localhost",
        "10.0.0.1@127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1\n",
    ],
)
@pytest.mark.parametrize("named", [PRIVATE_RANGES, "0.0.0.0/0,::/0"], ids=["default", "all"])
async def test_no_address_leads_to_this_very_host(
    canary: PhoneStub, named: str, address: str
) -> None:
    settings = PhoneWebSettings(port=canary.port, timeout=TIMEOUT, total=TIMEOUT)
    phone = PhoneWeb(settings, PhoneNetworks.parse(named))

    with pytest.raises(Conflict) as caught:
        await phone.execute(address, CLEAR_SERVICES)

    assert caught.value.code == "address_not_allowed"


async def test_an_ipv6_phone_is_called() -> None:
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += b"Host: [::1]:" in await reader.readuntil(b"\r\n\r\n")
        writer.write(http())
        writer.close()

    try:
        server = await asyncio.start_server(serve, "::1", 0)
    except OSError:
        pytest.skip("this host has no IPv6")
    async with server:
        settings = PhoneWebSettings(port=server.sockets[0].getsockname()[1])
        await PhoneWeb(settings, PhoneNetworks.parse("::1")).execute("::1", CLEAR_SERVICES)
    assert requests == 1


# HTTPS


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("SEP001BD4123456").configure_cert(context)
    return context


async def test_a_certificate_that_nobody_signed_will_do() -> None:
    async with PhoneStub(tls=server_tls()) as stub:
        await web(stub, scheme="https").execute(IP, CLEAR_SERVICES)

    assert stub.uris == ["Init:Services"]


async def test_a_phone_that_only_knows_old_tls_is_called() -> None:
    context = server_tls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")

    async with PhoneStub(tls=context) as stub:
        await web(stub, scheme="https").execute(IP, CLEAR_SERVICES)

    assert stub.uris == ["Init:Services"]


async def test_a_phone_without_tls_is_not_called_in_clear(stub: PhoneStub) -> None:
    stub.answers = [sends(http())]

    with pytest.raises((Refused, TimedOut)):
        await web(stub, scheme="https", user="a", password="b").execute(IP, CLEAR_SERVICES)

    assert stub.requests == []


async def test_tls_that_turns_to_garbage_is_refused() -> None:
    async def garbles(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        await writer.drain()
        socket = writer.get_extra_info("socket")
        socket._sock.send(b"\x17\x03\x03\x00\x20" + b"\0" * 32)
        await nothing(writer)

    async with PhoneStub(garbles, tls=server_tls()) as stub:
        with pytest.raises(Refused):
            await web(stub, scheme="https").execute(IP, CLEAR_SERVICES)


# Settings


def test_the_password_is_in_no_representation() -> None:
    settings = PhoneWebSettings(user="admin", password="secret-word")

    assert "secret-word" not in repr(settings)
    assert "secret-word" not in f"{settings!s} {PhoneWeb(settings, LOOPBACK)!r}"
    assert "admin" in repr(settings)


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
def test_a_value_that_cannot_be_used_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="phones must"):
        PhoneWebSettings(**values)


async def until_idle(stub: PhoneStub) -> None:
    """Waits until the adapter has closed what it opened."""
    async with asyncio.timeout(1.0):
        await stub.idle.wait()
