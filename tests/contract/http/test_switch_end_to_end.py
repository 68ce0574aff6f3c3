"""The switch as it really is: over FTP and HTTP to a simulated phone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from phoneprov_adapters.simulator.events import CommandReceived
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_http.main.simulate import reaching
from support import api as support
from support.api import Caller, error_of, opened_api
from support.phone_simulated import arrived
from support.switch_rig import FILE, STARS, a_desk_phone, a_profile_of, switch

data_of = partial(support.data_of, metadata=False)

PASSWORD = "secret enough"


@asynccontextmanager
async def office(
    folder: Path, password: str = PASSWORD
) -> AsyncIterator[tuple[SimulatedPhone, Caller]]:
    """A simulated phone that stands in the inventory, and somebody to switch it."""
    async with SimulatedPhone(ftp_password=PASSWORD) as phone:
        settings = reaching(phone, "phoneprov", password)
        async with opened_api(folder, database_kind="memory", overrides=None, **settings) as api:
            admin = await api.account("admin", level=0)
            await a_desk_phone(admin, phone_ip=phone.host)
            yield phone, admin


@pytest.mark.parametrize("size", [30 * 1024, 500 * 1024])
async def test_the_phone_holds_the_very_bytes_and_is_restarted(tmp_path: Path, size: int) -> None:
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


async def test_an_ftp_server_that_refuses_keeps_its_file_and_nothing_is_restarted(
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


async def test_a_phone_whose_web_server_is_gone_is_told_of(tmp_path: Path) -> None:
    async with SimulatedPhone(ftp_password=PASSWORD) as phone:
        settings = reaching(phone, "phoneprov", PASSWORD)
        settings["PHONEPROV_PHONE_HTTP_PORT"] = "9"
        async with opened_api(tmp_path, database_kind="memory", overrides=None, **settings) as api:
            admin = await api.account("admin", level=0)
            await a_desk_phone(admin, phone_ip=phone.host)

            reply = await switch(admin, await a_profile_of(admin))

            restart = data_of(reply, 200, "Profile switched")["restart"]
            assert restart != "ok"
            assert restart.startswith("The phone")
            assert (phone.folder / FILE).exists()
            assert not phone.restarted
