"""The HTTP adapter reads or refuses any response of a phone."""

import asyncio
import gzip
import time
from contextlib import suppress

import pytest
from msgspec import structs

from phoneprov_core.inventory.configuration.well_formed import REPLY_LIMIT
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES, restart_keys
from phoneprov_core.switching.devices.ports import KeyPress
from phoneprov_core.switching.errors import REPLY_LOST
from support.ftp_faults import reset
from support.phone_stub import SUCCESS, Answer, PhoneStub, closes, error, http, nothing, sends
from support.phone_web import IP, SLACK, TIMEOUT, until_idle, web


async def test_status_other_than_200_is_reported_before_its_body(stub: PhoneStub) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 401 No\r\nContent-Length: 1000\r\n\r\n")
        await nothing(writer)

    stub.answers = [answer]

    with pytest.raises(Refused, match="HTTP 401"):
        await web(stub, user="admin", password="wrong-one").execute(IP, CLEAR_SERVICES)


async def test_response_without_length_or_in_fragments_is_parsed(stub: PhoneStub) -> None:
    without_length = b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n" + SUCCESS.encode()
    for answer in (sends(without_length), sends(http(), each=1)):
        stub.answers = [answer]
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
async def test_slow_response_times_out_at_the_request_deadline(
    stub: PhoneStub, answer: Answer
) -> None:
    stub.answers = [answer]

    begun = time.monotonic()
    with pytest.raises(TimedOut, match="in time"):
        await web(stub, timeout=TIMEOUT).execute(IP, CLEAR_SERVICES)

    assert TIMEOUT * 0.9 <= time.monotonic() - begun < TIMEOUT + SLACK
    await until_idle(stub)


async def test_call_deadline_includes_its_pauses(stub: PhoneStub) -> None:
    begun = time.monotonic()
    with pytest.raises(TimedOut):
        await web(stub, total=TIMEOUT).execute(IP, [KeyPress("a", 0.2)] * 9)

    assert time.monotonic() - begun < TIMEOUT + SLACK
    assert len(stub.uris) <= 2


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
        sends(http(body=gzip.compress(SUCCESS.encode()), Content_Encoding="gzip")),
    ],
    ids=[
        "endless", "endless-headers", "huge", "reset", "close", "close-early", "ftp", "zeros",
        "bad-length", "switching", "no-content", "garbage", "bytes", "html", "gzip",
    ],
)  # fmt: skip
async def test_unparsable_reply_is_refused_and_not_quoted(stub: PhoneStub, answer: Answer) -> None:
    stub.answers = [answer]

    begun = time.monotonic()
    with pytest.raises(Refused) as caught:
        await web(stub).execute(IP, CLEAR_SERVICES)

    assert time.monotonic() - begun < 5.0
    message = caught.value.message
    assert message.startswith("The phone's ")
    for foreign in ("Welcome", "garbage", "220", "x" * 10, "Switching"):
        assert foreign not in message
    await until_idle(stub)


async def test_cancelled_caller_releases_the_phone(stub: PhoneStub) -> None:
    stub.answers = [nothing, sends(http())]
    phone = web(stub)
    call = asyncio.create_task(phone.execute(IP, CLEAR_SERVICES))
    await stub.asked.wait()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    await until_idle(stub)
    await phone.execute(IP, CLEAR_SERVICES)


def flood(head: bytes, piece: bytes) -> Answer:
    """A response without end: ``head``, then ``piece`` repeatedly."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write(head)
            while True:
                writer.write(piece * (1 + 4096 // len(piece)))
                await writer.drain()

    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
        flood(CHUNKED, b"1;" + b"x" * 8000 + b"\r\na\r\n"),
        flood(CHUNKED, b"1\r\na\r\n"),
        flood(CHUNKED + b"0\r\n", b"Trailer: x\r\n"),
        flood(b"HTTP/1.1 200 OK\r\n", b"a:\r\n"),
        flood(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x"),
    ],
    ids=["continue", "hints", "extensions", "chunks", "trailers", "headers", "body"],
)
async def test_reply_without_end_is_cut_at_64_kib(stub: PhoneStub, answer: Answer) -> None:
    read = 0

    async def counted(self: asyncio.StreamReader, size: int = -1) -> bytes:
        nonlocal read
        data = await original(self, size)
        read += len(data)
        return data

    original = asyncio.StreamReader.read
    stub.answers = [answer]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.StreamReader, "read", counted)
        with pytest.raises(Refused):
            await web(stub).execute(IP, CLEAR_SERVICES)

    assert 0 < read <= REPLY_LIMIT + 4096  # the stub reads too
    await until_idle(stub)


async def test_flood_of_informational_replies_lets_other_tasks_run(stub: PhoneStub) -> None:
    stub.answers = [flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n")]
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    with pytest.raises(Refused):
        await web(stub).execute(IP, CLEAR_SERVICES)
    task.cancel()

    # 512 parts are 12 KiB here: three pieces, with other tasks between them.
    assert turns >= 3
    await until_idle(stub)


async def resets_at_once(writer: asyncio.StreamWriter) -> None:
    reset(writer)


LOST = {
    "close": closes,
    "reset": resets_at_once,
    "amid": resets,
    "silence": nothing,
    "no HTTP": sends(b"220 ready\r\n"),
    "no XML": sends(http(body="garbage<")),
}
"""Ends of an exchange after which the phone may still carry out the command."""


@pytest.mark.parametrize("end", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("model", ["7945", "8841", "8945"])
async def test_lost_reply_to_the_last_key_is_unknown_and_to_another_key_a_failure(
    stub: PhoneStub, model: str, end: Answer
) -> None:
    keys = [structs.replace(key, pause=0.0) for key in restart_keys(model)]

    for number in (0, len(keys) - 2, len(keys) - 1):
        stub.requests.clear()
        stub.answers = [sends(http())] * number + [end]
        with pytest.raises((Refused, TimedOut)) as lost:
            await web(stub, timeout=0.5, total=8.0).execute(IP, keys)

        is_last = number == len(keys) - 1
        assert (lost.value.code == REPLY_LOST) == is_last
        assert ("may still carry it out" in lost.value.message) == is_last
        assert stub.uris == [key.uri for key in keys[: number + 1]]


@pytest.mark.parametrize("answer", [error(4), sends(http(401)), sends(http(500))])
async def test_refusal_of_the_last_key_is_a_failure(stub: PhoneStub, answer: Answer) -> None:
    stub.answers = [answer]

    with pytest.raises(Refused) as refused:
        await web(stub).execute(IP, CLEAR_SERVICES)

    assert refused.value.code == Refused.code


async def test_command_that_is_never_sent_is_a_failure(stub: PhoneStub) -> None:
    """The request for the MAC has no answer; the command is not sent."""
    stub.answers = [nothing]

    with pytest.raises(TimedOut) as late:
        await web(stub, timeout=TIMEOUT).execute(IP, CLEAR_SERVICES, "00:1B:D4:12:34:56")

    assert late.value.code == TimedOut.code
    assert stub.uris == []


async def test_deadline_in_the_pause_after_the_last_reply_is_no_failure(stub: PhoneStub) -> None:
    await web(stub, timeout=TIMEOUT).execute(IP, [KeyPress("Init:Services", pause=9.0)])


async def test_other_phone_at_the_address_gets_no_key(stub: PhoneStub) -> None:
    other = "00:1B:D4:99:99:99"
    stub.answers = [sends(http(body=f"<a><MACAddress>{other}</MACAddress></a>"))]

    with pytest.raises(Refused) as caught:
        await web(stub).execute(IP, CLEAR_SERVICES, "00:1B:D4:12:34:56")

    assert stub.uris == []
    assert other in caught.value.message
    assert "00:1B:D4:12:34:56" in caught.value.message


@pytest.mark.parametrize(
    "answer",
    [
        sends(http(404, b"")),
        sends(http(401, b"")),
        sends(http(body="<a/>")),
        sends(http(body="<a><MACAddress>001BD4123456</MACAddress></a>")),
        closes,
    ],
    ids=["missing", "login", "silent", "same", "closes"],
)
async def test_phone_without_another_mac_gets_the_commands(stub: PhoneStub, answer: Answer) -> None:
    stub.answers = [answer, sends(http())]

    await web(stub).execute(IP, CLEAR_SERVICES, "00:1B:D4:12:34:56")

    assert stub.uris == ["Init:Services"]


async def test_empty_response_succeeds_only_where_allowed(stub: PhoneStub) -> None:
    stub.answers = [sends(http(body=""))]

    await web(stub).execute(IP, [KeyPress("Init:CallHistory", may_be_empty=True)])
    with pytest.raises(Refused):
        await web(stub).execute(IP, [KeyPress("Init:CallHistory")])
