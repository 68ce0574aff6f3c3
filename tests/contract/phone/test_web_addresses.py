"""The HTTP adapter calls only the address of the phone."""

import asyncio
from pathlib import Path

import pytest

from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES
from support.phone_stub import PhoneStub, http, sends
from support.phone_web import IP, web


async def test_proxies_and_logins_of_the_environment_are_ignored(
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


async def test_ipv6_phone_is_called() -> None:
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


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_not_followed(stub: PhoneStub, canary: PhoneStub, status: int) -> None:
    place = f"http://127.0.0.1:{canary.port}/CGI/Execute"
    stub.answers = [sends(http(status, Location=place))]

    with pytest.raises(Refused, match=f"HTTP {status}"):
        await web(stub, user="admin", password="secret-word").execute(IP, CLEAR_SERVICES)

    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirect_to_https_names_the_setting(stub: PhoneStub, status: int) -> None:
    stub.answers = [sends(http(status, Location=f"HTTPS://{IP}/CGI/Execute"))]

    with pytest.raises(Refused, match="PHONEPROV_PHONE_SCHEME=https"):
        await web(stub).execute(IP, CLEAR_SERVICES)
    with pytest.raises(Refused, match="PHONEPROV_PHONE_SCHEME=https"):
        await web(stub).read(IP, 5.0)


@pytest.mark.parametrize(
    "place", ["", "http://[", "//", "http://\xff\xfe/", "x" * 9000, "http://a:999999/", "\t", "%"]
)
async def test_redirect_without_followable_location_is_refused(stub: PhoneStub, place: str) -> None:
    stub.answers = [sends(http(302, Location=place))]

    with pytest.raises(Refused):
        await web(stub).execute(IP, CLEAR_SERVICES)
