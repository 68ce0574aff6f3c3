"""Phones over HTTPS."""

import asyncio
import ssl
import warnings

import pytest
import trustme

from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES
from support.phone_stub import PhoneStub, http, nothing, sends
from support.phone_web import IP, TIMEOUT, until_idle, web


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("SEP001BD4123456").configure_cert(context)
    return context


async def test_self_signed_certificate_is_accepted() -> None:
    async with PhoneStub(tls=server_tls()) as stub:
        await web(stub, scheme="https").execute(IP, CLEAR_SERVICES)

    assert stub.uris == ["Init:Services"]


async def test_phone_with_old_tls_version_is_called() -> None:
    context = server_tls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")

    async with PhoneStub(tls=context) as stub:
        await web(stub, scheme="https").execute(IP, CLEAR_SERVICES)

    assert stub.uris == ["Init:Services"]


async def test_phone_without_tls_gets_nothing_in_clear(stub: PhoneStub) -> None:
    stub.answers = [sends(http())]

    with pytest.raises((Refused, TimedOut)):
        await web(stub, scheme="https", user="a", password="b", timeout=TIMEOUT).execute(
            IP, CLEAR_SERVICES
        )

    assert stub.requests == []


async def test_invalid_tls_records_are_refused() -> None:
    async def send_invalid_records(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        await writer.drain()
        socket = writer.get_extra_info("socket")
        socket._sock.send(b"\x17\x03\x03\x00\x20" + b"\0" * 32)
        await nothing(writer)

    async with PhoneStub(send_invalid_records, tls=server_tls()) as stub:
        with pytest.raises(Refused):
            await web(stub, scheme="https").execute(IP, CLEAR_SERVICES)


@pytest.mark.parametrize("ended_by", [TimedOut, asyncio.CancelledError])
async def test_interrupted_handshake_leaves_no_socket_open(
    stub: PhoneStub, ended_by: type[BaseException]
) -> None:
    phone = web(stub, scheme="https", timeout=TIMEOUT)
    call = asyncio.create_task(phone.execute(IP, CLEAR_SERVICES))
    await stub.connected.wait()
    await asyncio.sleep(0.02)
    if ended_by is asyncio.CancelledError:
        call.cancel()

    with pytest.raises(ended_by):
        await call

    await until_idle(stub)
