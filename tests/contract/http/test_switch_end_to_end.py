"""The switch over FTP and HTTP to a simulated phone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.simulator.phone import CommandReceived, SimulatedPhone
from phoneprov_adapters.simulator.web import PhoneWebServer
from phoneprov_http.main.commands.simulate import reaching
from support import ami_stub, api as support
from support.ami_stub import AmiStub, event
from support.api import Caller, error_of, opened_api
from support.desk import press_without_pauses
from support.phone_simulated import arrived
from support.switch_rig import FILE, STARS, a_desk_phone, a_profile_of, switch

data_of = partial(support.data_of, metadata=False)

PASSWORD = "secret enough"


@asynccontextmanager
async def office(
    folder: Path, password: str = PASSWORD, **environment: str
) -> AsyncIterator[tuple[SimulatedPhone, Caller]]:
    """A simulated phone of the inventory, and the caller that switches it."""
    async with SimulatedPhone(ftp_password=PASSWORD) as phone:
        settings = {**reaching(phone, "phoneprov", password), **environment}
        async with opened_api(folder, database_kind="memory", overrides=None, **settings) as api:
            admin = await api.account("admin", level=0)
            await a_desk_phone(admin, phone_ip=phone.host)
            yield phone, admin
            await api.container.tasks().drain(0)


@pytest.mark.parametrize("size", [30 * 1024, 500 * 1024])
async def test_switch_end_to_end_delivers_exact_bytes_and_restarts(
    tmp_path: Path, size: int
) -> None:
    piece = "<line name='\u00c5sa \u6f22\u5b57 \U0001f4de'>e\u0301\r\n</line>"
    xml = f"<device>{piece * (size // len(piece.encode()))}</device>"
    content = xml.encode()
    async with office(tmp_path) as (phone, admin):
        (phone.folder / FILE).write_bytes(b"<old/>")

        reply = await switch(admin, await a_profile_of(admin, cnf_xml=xml))

        assert data_of(reply, 200, "Profile switched")["restart"] == "ok"
        assert size - 200 < len(content) <= size
        assert (phone.folder / FILE).read_bytes() == content
        assert [path.name for path in phone.folder.iterdir()] == [FILE]
        assert phone.events == [
            arrived(FILE, content),
            CommandReceived("Init:Services"),
            *(CommandReceived(uri) for uri in STARS),
        ]
        assert phone.restarted


async def test_switch_ftp_refusal_keeps_the_file_and_restarts_nothing(
    tmp_path: Path,
) -> None:
    async with office(tmp_path, "another password") as (phone, admin):
        (phone.folder / FILE).write_bytes(b"<old/>")

        reply = await switch(admin, await a_profile_of(admin))

        assert error_of(reply, 502, "refused") == {}
        assert "another password" not in reply.text
        assert (phone.folder / FILE).read_bytes() == b"<old/>"
        assert [path.name for path in phone.folder.iterdir()] == [FILE]
        assert phone.events == []
        assert not phone.restarted


async def test_phone_without_web_server_is_reported(tmp_path: Path) -> None:
    async with office(tmp_path, PHONEPROV_PHONE_HTTP_PORT="9") as (phone, admin):
        reply = await switch(admin, await a_profile_of(admin))

        restart = data_of(reply, 200, "Profile switched")["restart"]
        assert restart.startswith("The phone")
        assert (phone.folder / FILE).exists()
        assert not phone.restarted


# Confirmation


async def confirmed(admin: Caller) -> Any:
    """Wait for the confirmation of the last deployment; the deployment."""
    async with asyncio.timeout(60):
        while True:
            row = (await admin.get("/deployments")).json()["data"][-1]
            if row["confirmation"] != "pending":
                return row
            await asyncio.sleep(0.05)


async def test_switch_restarted_phone_is_confirmed_over_its_web_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_without_pauses(monkeypatch)
    async with office(tmp_path) as (phone, admin):
        data_of(await switch(admin, await a_profile_of(admin)))
        assert phone.restarted
        pending = (await admin.get("/deployments")).json()["data"][-1]

        row = await confirmed(admin)

    assert pending["confirmation"] == "pending"
    assert row["confirmation"] == "confirmed"
    assert "answers again" in row["confirmation_message"]
    assert row["confirmation_at"] <= row["confirmation_by"]


async def test_switch_phone_without_restart_is_not_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The restart is ok although the phone ignored it: the missing confirmation shows it."""
    press_without_pauses(monkeypatch)
    monkeypatch.setattr(PhoneWebServer, "go_away", lambda self, seconds: None)
    async with office(tmp_path, PHONEPROV_CONFIRM_TIMEOUT="1") as (_, admin):
        assert data_of(await switch(admin, await a_profile_of(admin)))["restart"] == "ok"

        row = await confirmed(admin)

    assert (row["restart"], row["confirmation"]) == ("ok", "not_confirmed")
    assert "did not restart" in row["confirmation_message"]


@pytest.mark.parametrize("registers", [True, False])
async def test_switch_asterisk_phone_is_confirmed_when_it_registers_again(
    tmp_path: Path, registers: bool
) -> None:
    async with AmiStub() as asterisk:
        settings = {
            "PHONEPROV_AMI_HOST": "127.0.0.1",
            "PHONEPROV_AMI_PORT": str(asterisk.port),
            "PHONEPROV_AMI_USER": ami_stub.USER,
            "PHONEPROV_AMI_SECRET": ami_stub.SECRET,
            "PHONEPROV_CONFIRM_TIMEOUT": "20" if registers else "1",
        }
        async with office(tmp_path, **settings) as (_, admin):
            data_of(await switch(admin, await a_profile_of(admin, software_type="SCCP")))
            assert [fields[0][1] for fields in asterisk.performed] == ["SCCPDeviceRestart"]
            for status in ("UNREGISTERED", "PREREGISTERED", "REGISTERED")[: 3 if registers else 1]:
                status_event = {"DeviceStatus": status, "SCCPDevice": FILE.partition(".")[0]}
                await asterisk.tell(event("DeviceStatus", ChannelType="SCCP", **status_event))

            row = await confirmed(admin)

    assert row["confirmation"] == ("confirmed" if registers else "not_confirmed")
    assert "unregistered" in row["confirmation_message"]
