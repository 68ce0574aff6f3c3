"""Every log line that belongs to a request has its id, its trace and the address of its client."""

from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.inventory.phones.use_cases import Phones
from support.api import Caller, data_of, opened_api
from support.hotdesk import IP, PIN, hotdesk
from support.log_lines import lines_of
from support.polling import until
from support.switch_rig import MAC, World, a_desk_phone, a_profile_of

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
HEADERS = {"X-Request-ID": "of-the-test", "traceparent": TRACEPARENT}


def belongs(line: dict[str, Any], client_ip: str) -> bool:
    found = (line.get("request_id"), line.get("traceparent"), line.get("client_ip"))
    return found == ("of-the-test", TRACEPARENT, client_ip)


async def audited(root: Caller) -> set[str]:
    """The actions of the request."""
    entries = data_of(await root.get("/audit"))
    return {one["action"] for one in entries if one["request_id"] == "of-the-test"}


async def test_log_lines_of_switch_and_watch_have_the_request_id(tmp_path: Path) -> None:
    world = World()
    async with opened_api(tmp_path, overrides=world.adapters()) as api:
        root = await api.account("root", level=0)
        await a_desk_phone(root, mac=MAC, phone_ip=IP)
        wanted = {"profile_uuid": await a_profile_of(root), "mac": MAC}
        with lines_of("phoneprov") as lines:
            await root.ask("POST", "/phone-profiles/switch", json=wanted, headers=HEADERS)
            await until(lambda: any(line["event"] == "deployment" for line in lines))
        assert {line["event"] for line in lines} >= {"request", "deployment"}
        assert [line for line in lines if not belongs(line, "127.0.0.1")] == []
        assert await audited(root) == {"deployment.created", "phone.switched"}
        await api.container.tasks().drain(30)


async def test_log_lines_of_unexpected_error_have_the_request_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    async with opened_api(tmp_path, overrides=world.adapters()) as api:
        root = await api.account("root", level=0)

        async def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(Phones, "create", broken)
        with lines_of("phoneprov") as lines:
            await root.ask("POST", "/phones", json={"mac": MAC}, headers=HEADERS)
        assert {line["event"] for line in lines} >= {"request", "unexpected ZeroDivisionError"}
        assert [line for line in lines if not belongs(line, "127.0.0.1")] == []


async def test_log_lines_of_login_at_a_phone_have_the_request_id(tmp_path: Path) -> None:
    async with hotdesk(tmp_path) as office:
        with lines_of("phoneprov") as lines:
            await office.phone(**HEADERS).log_in("ada", PIN)
            await office.settled()

            async def is_written() -> bool:
                return any(line["event"] == "deployment" for line in lines)

            await until(is_written)
        assert {line["event"] for line in lines} >= {"phone request", "deployment"}
        assert [line for line in lines if not belongs(line, IP)] == []
        assert {"deployment.created", "desk.login"} <= await audited(office.admin)
