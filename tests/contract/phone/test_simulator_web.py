"""The web server of the simulated phone: accepted and refused requests."""

import asyncio
from contextlib import suppress
from urllib.parse import urlencode

import httpx
import pytest

from phoneprov_adapters.simulator.phone import CommandReceived, SimulatedPhone
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES, restart_keys
from phoneprov_core.switching.devices.ports import KeyPress
from support.phone_simulated import FTP_PASSWORD, web
from support.phone_web import IP


async def test_commands_are_executed_and_recorded(phone: SimulatedPhone) -> None:
    await web(phone).execute(IP, [*CLEAR_SERVICES, KeyPress('https://x/?a=1&b="2"')])

    assert phone.events == [
        CommandReceived("Init:Services"),
        CommandReceived('https://x/?a=1&b="2"'),
    ]
    assert not phone.restarted


async def test_three_items_in_one_request_are_three_commands(phone: SimulatedPhone) -> None:
    items = "".join(f'<ExecuteItem Priority="0" URL="Key:Soft{n}"/>' for n in (1, 2, 3))

    reply = await post(phone, f"<CiscoIPPhoneExecute>{items}</CiscoIPPhoneExecute>")

    assert reply.status_code == 200
    assert reply.text.count('Status="0"') == 3
    assert phone.events == [CommandReceived(f"Key:Soft{n}") for n in (1, 2, 3)]


@pytest.mark.parametrize("model", ["CP-7945G", "CP-8841", "CP-9971"])
async def test_restart_keys_of_the_model_restart_the_phone(model: str) -> None:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, model=model) as phone:
        *keys, last = [KeyPress(key.uri) for key in restart_keys(model)]
        await web(phone).execute(IP, [*CLEAR_SERVICES, keys[0], *keys])
        assert not phone.restarted
        await web(phone).execute(IP, [last])
        assert phone.restarted


async def test_missing_or_additional_key_restarts_nothing(phone: SimulatedPhone) -> None:
    keys = [KeyPress(key.uri) for key in restart_keys(phone.model)]

    await web(phone).execute(IP, [*keys[:3], *keys[4:]])
    await web(phone).execute(IP, [*keys[:4], KeyPress("Key:Soft1"), *keys[4:]])

    assert not phone.restarted


async def test_commands_require_the_configured_login() -> None:
    async with SimulatedPhone(
        ftp_password=FTP_PASSWORD, http_user="admin", http_password="pässword"
    ) as phone:
        for user, password in (("", ""), ("admin", "wrong"), ("other", "pässword")):
            with pytest.raises(Refused, match="HTTP 401"):
                await web(phone, user, password).execute(IP, CLEAR_SERVICES)
        assert phone.events == []

        await web(phone, "admin", "pässword").execute(IP, CLEAR_SERVICES)
        assert phone.events == [CommandReceived("Init:Services")]


GOOD = '<CiscoIPPhoneExecute><ExecuteItem URL="Init:Services"/></CiscoIPPhoneExecute>'


async def post(phone: SimulatedPhone, xml: str, **headers: str) -> httpx.Response:
    return await send(phone, "POST", "/CGI/Execute", urlencode({"XML": xml}), **headers)


async def send(
    phone: SimulatedPhone, method: str, path: str, content: str = "", **headers: str
) -> httpx.Response:
    address = f"http://{phone.host}:{phone.http_port}{path}"
    async with httpx.AsyncClient(trust_env=False, timeout=60.0) as client:
        return await client.request(method, address, content=content, headers=headers)


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "nonsense",
        "<CiscoIPPhoneExecute/>",
        GOOD[:-1],
        GOOD.replace("Init:Services", ""),
        GOOD.replace("Init:Services", "x" * 257),
        GOOD.replace("ExecuteItem", "Other"),
        GOOD.replace("CiscoIPPhoneExecute", "CiscoIPPhoneText"),
        GOOD.replace("<ExecuteItem", " " * 500 + "<ExecuteItem"),
        "<CiscoIPPhoneExecute>" + '<ExecuteItem URL="a"/>' * 4 + "</CiscoIPPhoneExecute>",
        f"<!DOCTYPE x [<!ENTITY a 'Init:Services'>]>{GOOD}",
    ],
)
async def test_unparsable_command_is_error_1(phone: SimulatedPhone, xml: str) -> None:
    reply = await post(phone, xml)

    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/xml")
    assert reply.text == '<CiscoIPPhoneError Number="1"/>'
    assert phone.events == []


@pytest.mark.parametrize("form", ["", "XML", "xml=" + GOOD, "XML=a&XML=b", "&", "%ff=%ff", "ü"])
async def test_form_without_its_field_is_error_1(phone: SimulatedPhone, form: str) -> None:
    reply = await send(phone, "POST", "/CGI/Execute", form)

    assert reply.text == '<CiscoIPPhoneError Number="1"/>'


async def test_expect_continue_gets_error_6(phone: SimulatedPhone) -> None:
    reply = await post(phone, GOOD, Expect="100-continue")

    assert reply.text == '<CiscoIPPhoneError Number="6"/>'
    assert phone.events == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/CGI/execute"),
        ("POST", "/CGI/Execute/"),
        ("POST", "/cgi/execute"),
        ("POST", "/"),
        ("GET", "/CGI/Execute"),
        ("POST", "/DeviceInformationX"),
    ],
)
async def test_unknown_path_is_not_found(phone: SimulatedPhone, method: str, path: str) -> None:
    assert (await send(phone, method, path)).status_code == 404


async def test_device_information_contains_the_device_name() -> None:
    async with SimulatedPhone(
        ftp_password=FTP_PASSWORD, mac="00:1B:D4:AB:CD:EF", model="CP-<8841>"
    ) as phone:
        reply = await send(phone, "GET", "/DeviceInformationX")

    assert reply.status_code == 200
    for element in (
        "<MACAddress>001BD4ABCDEF</MACAddress>",
        "<HostName>SEP001BD4ABCDEF</HostName>",
        "<modelNumber>CP-&lt;8841&gt;</modelNumber>",
    ):
        assert element in reply.text


@pytest.mark.parametrize(
    "content",
    [
        b"\x16\x03\x01",
        b"GARBAGE\r\n\r\n",
        b"POST /CGI/Execute HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",
        b"POST /CGI/Execute HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"
        + b"x" * 100_000,
        b"",
    ],
)
async def test_request_that_is_not_http_changes_nothing(
    phone: SimulatedPhone, content: bytes
) -> None:
    reader, writer = await asyncio.open_connection(phone.host, phone.http_port)
    writer.write(content)
    writer.write_eof()
    with suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), 60.0) == b""
    writer.close()

    await web(phone).execute(IP, CLEAR_SERVICES)
    assert phone.events == [CommandReceived("Init:Services")]


async def test_phone_is_absent_during_a_restart() -> None:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, away_seconds=0.3) as phone:
        await web(phone).execute(IP, [KeyPress(key.uri) for key in restart_keys(phone.model)])

        with pytest.raises(Refused):
            await web(phone).read(IP, 5.0)
        await asyncio.sleep(0.3)

        assert (await web(phone).read(IP, 5.0)).mac == phone.mac
