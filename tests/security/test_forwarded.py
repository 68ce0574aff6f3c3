"""The address of a client: that of the connection, or the one that a trusted proxy names."""

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from security.asking import answer
from support.api import PASSWORD, Api, opened_api

PROXIES = "10.0.0.0/8,fd00::/8"


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, PHONEPROV_TRUSTED_PROXIES=PROXIES) as opened:
        yield opened


async def seen(api: Api, client: str, *forwarded: str) -> str:
    """The recorded address of a login from ``client``."""
    if not hasattr(api, "root"):
        api.root = await api.account("root", level=0)  # type: ignore[attr-defined]
    body = json.dumps({"username": "root", "password": PASSWORD}).encode()
    headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded]
    response = await answer(api, "POST", "/api/v1/auth/login", body, headers=headers, client=client)
    assert response.status == 200, response.body
    address: str = response.envelope["data"]["user"]["last_login_ip"]
    return address


async def test_forwarded_header_of_untrusted_client_is_ignored(api: Api) -> None:
    assert await seen(api, "192.0.2.7", "203.0.113.9") == "192.0.2.7"
    assert await seen(api, "11.0.0.1", "203.0.113.9") == "11.0.0.1"
    assert await seen(api, "10.0.0.1", "203.0.113.9") == "203.0.113.9"
    assert await seen(api, "::ffff:10.0.0.1", "203.0.113.9") == "203.0.113.9"
    assert await seen(api, "fd00::1", "203.0.113.9") == "203.0.113.9"


async def test_forwarded_header_without_trusted_proxies_is_ignored(tmp_path: Path) -> None:
    async with opened_api(tmp_path) as api:
        for client in ("127.0.0.1", "10.0.0.1", "::1"):
            assert await seen(api, client, "203.0.113.9") == client


CHAINS = [
    # Fields of the client itself are to the left of those that proxies add.
    (("6.6.6.6, 203.0.113.9",), "203.0.113.9"),
    (("6.6.6.6", "203.0.113.9"), "203.0.113.9"),
    (("6.6.6.6, 203.0.113.9, 10.0.0.2",), "203.0.113.9"),
    (("6.6.6.6, 203.0.113.9", "10.0.0.3 , 10.0.0.2"), "203.0.113.9"),
    (("10.0.0.9, 10.0.0.2",), "10.0.0.9"),
    (("2001:db8::7",), "2001:db8::7"),
    (("2001:0DB8:0::0007",), "2001:db8::7"),
    (("::ffff:203.0.113.9",), "203.0.113.9"),
    # The format of some proxies.
    (("203.0.113.9:52044",), "203.0.113.9"),
    (("[2001:db8::7]",), "2001:db8::7"),
    (("[2001:db8::7]:52044",), "2001:db8::7"),
    (("6.6.6.6, 203.0.113.9:1, [fd00::2]:2",), "203.0.113.9"),
    # A text that is no address ends the chain: the last trusted proxy counts as the client.
    (("",), "10.0.0.1"),
    ((",,,",), "10.0.0.1"),
    (("6.6.6.6,",), "10.0.0.1"),
    (("6.6.6.6, unknown",), "10.0.0.1"),
    (("6.6.6.6, unknown, 10.0.0.2",), "10.0.0.2"),
    (("203.0.113.9:x",), "10.0.0.1"),
    (("203.0.113.9:123456",), "10.0.0.1"),
    (("[203.0.113.9",), "10.0.0.1"),
    (("203.0.113.9]:1",), "10.0.0.1"),
    (("2130706433",), "10.0.0.1"),
    (("0x7f000001",), "10.0.0.1"),
    (("127.1",), "10.0.0.1"),
    (("203.0.113.009",), "10.0.0.1"),
    (("\xb2.0.0.1",), "10.0.0.1"),
    (("for=203.0.113.9",), "10.0.0.1"),
    (("203.0.113.9\n",), "203.0.113.9"),
    (("a" * 5000,), "10.0.0.1"),
    (("<script>",), "10.0.0.1"),
    # A zone can be any text.
    (("fe80::1%eth0",), "fe80::1"),
    (("fe80::1%" + "x" * 5000,), "fe80::1"),
    (("fe80::1%\x07\n",), "fe80::1"),
]


async def test_forwarded_chain_is_followed_through_trusted_proxies(api: Api) -> None:
    for forwarded, address in CHAINS:
        assert await seen(api, "10.0.0.1", *forwarded) == address, forwarded


async def test_forwarded_chain_over_the_limit_is_not_read(api: Api) -> None:
    assert await seen(api, "10.0.0.1", "203.0.113.9, " + "10.0.0.2, " * 4000 + "10.0.0.3") == (
        "10.0.0.2"
    )


async def test_scope_id_of_a_client_is_not_recorded(api: Api) -> None:
    assert await seen(api, "fe80::aaaa:bbbb:cccc:dddd%a-very-long-link") == (
        "fe80::aaaa:bbbb:cccc:dddd"
    )
    assert await seen(api, "") == "127.0.0.1"
    assert await seen(api, "/run/a.socket") == "127.0.0.1"


async def test_request_values_cannot_forge_log_lines(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    forged = '\r\n{"event":"forged"}'
    with caplog.at_level(logging.DEBUG):
        for target in (f"/api/v1/users/{forged}", f"/{forged}", f"/api/v1/users?limit={forged}"):
            for header in (b"x-request-id", b"user-agent", b"authorization", b"x-forwarded-for"):
                await answer(api, "GET", target, headers=[(header, forged.encode())])

    lines = [record for record in caplog.records if record.name == "phoneprov.requests"]
    assert len(lines) == 12
    for record in lines:
        assert "forged" not in repr(vars(record))
