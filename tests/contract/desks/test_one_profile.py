"""Hot-desking from a 7945 with SCCP to an 8851 with SIP, with one profile: a served API, an FTP
server, and both simulated phones with their pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import uvicorn

from phoneprov_adapters.simulator.ftp import FileArrived
from phoneprov_adapters.simulator.phone import CommandReceived, SimulatedPhone
from phoneprov_core.switching.devices import commands as restart
from phoneprov_core.switching.devices.ports import KeyPress
from phoneprov_http.main.commands.simulate import reaching
from phoneprov_http.main.server.sockets import bound
from support.api import Api, Caller, data_of, opened_api
from support.desk import press_without_pauses
from support.hotdesk import PIN
from support.phone_browser import PhoneBrowser
from support.polling import until

TEMPLATES = Path(__file__).parents[3] / "examples/templates"
OLD, NEW = "00:1B:D4:00:00:45", "00:1B:D4:00:00:51"
OLD_IP, NEW_IP = "127.0.0.1", "127.0.0.2"


@asynccontextmanager
async def served(api: Api) -> AsyncIterator[tuple[str, Caller]]:
    """The address of the API over HTTP, and a superadmin who uses it."""
    app: Any = api.client._transport.app  # type: ignore[attr-defined]
    listener = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
    task = asyncio.ensure_future(server.serve([listener]))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    await until(lambda: server.started)
    admin = await api.account("admin", level=0)
    async with httpx.AsyncClient(base_url=url) as client:
        yield url, Caller(client, admin.uuid, admin.token)
    server.should_exit = True
    await task
    listener.close()


async def fill(admin: Caller) -> str:
    """Two phones, ada with a PIN, two lines and one profile, and an expansion module; her uuid."""
    for mac, ip, model, family in (
        (OLD, OLD_IP, "CP-7945G", "SCCP"), (NEW, NEW_IP, "CP-8851", "SIP"),
    ):  # fmt: skip
        phone = {"mac": mac, "phone_ip": ip, "model": model, "software_type": family}
        data_of(await admin.post("/phones", phone), 201)
    data_of(await admin.post("/vendor-kem", {"model": "BEKEM", "connected_phone": NEW}), 201)
    for name, model in (("7945-sccp", "7945"), ("8851-sip", "8851")):
        body = (TEMPLATES / f"{name}.cnf.xml").read_text("utf-8")
        variant = {"name": "office", "model": model, "body": body}
        data_of(await admin.post("/configuration-templates", variant), 201)
    user = {"username": "ada", "first_name": "Ada", "last_name": "Lovelace", "lang": "de-CH",
            "email": "ada@example.com", "password": "an engine of brass"}  # fmt: skip
    ada: str = data_of(await admin.post("/users", user), 201)["uuid"]
    data_of(await admin.put(f"/vendor-users/{ada}", {"pin_code": PIN}))
    for number, kind in (("1001", "chan_sccp"), ("2001", "chan_pjsip")):
        line = {"extension": number, "type": kind, "name": f"Ada {number}", "password": "secret 9"}
        extension = data_of(await admin.post("/extensions", line), 201)["uuid"]
        link = {"user_uuid": ada, "extension_uuid": extension}
        data_of(await admin.post("/user-extensions", link), 201)
    profile = {"user_uuid": ada, "name": "Ada", "template": "office",
               "values": {"call_manager": "10.0.0.9"}}  # fmt: skip
    data_of(await admin.post("/phone-profiles", profile), 201, metadata=False)
    lobby = {"user_uuid": admin.uuid, "name": "Lobby", "cnf_xml": "<device><lobby/></device>"}
    lobby = data_of(await admin.post("/phone-profiles", lobby), 201, metadata=False)
    for mac in (OLD, NEW):
        desk = {"default_profile_uuid": lobby["uuid"]}
        data_of(await admin.put(f"/phones/{mac}/desk", desk))
    return ada


@asynccontextmanager
async def at_phone(url: str, mac: str, ip: str) -> AsyncIterator[PhoneBrowser]:
    """The screen of a phone, which calls from its own address."""
    screen = PhoneBrowser(None, mac, ip)
    transport = httpx.AsyncHTTPTransport(local_address=ip)
    async with httpx.AsyncClient(base_url=url, transport=transport) as screen.client:
        yield screen


async def test_one_profile_moves_from_a_7945_to_an_8851(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_without_pauses(monkeypatch)
    at_once = tuple(KeyPress(key.uri) for key in restart.restart_keys("8851"))
    monkeypatch.setattr(restart, "_BY_FAMILY", {"88": at_once})
    more: dict[str, Any] = {"ftp_password": "enough", "away_seconds": 1.5}
    async with (
        SimulatedPhone(mac=OLD, host=OLD_IP, model="CP-7945G", **more) as old,
        SimulatedPhone(mac=NEW, host=NEW_IP, model="CP-8851", http_port=old.http_port, **more)
        as new,
    ):  # fmt: skip
        # Both phones read their files from the FTP server of the first.
        environment: dict[str, Any] = {
            **reaching(old, "phoneprov", "enough"), "PHONEPROV_FTP_HOST": OLD_IP,
            "PHONEPROV_PHONE_NETWORKS": f"{OLD_IP}/32,{NEW_IP}/32",
        }  # fmt: skip
        async with (
            opened_api(tmp_path, database_kind="sqlite", **environment) as api,
            served(api) as (url, admin),
            at_phone(url, OLD, OLD_IP) as at_old,
            at_phone(url, NEW, NEW_IP) as at_new,
        ):
            ada = await fill(admin)

            def file(mac: str) -> ElementTree.Element:
                name = f"SEP{mac.replace(':', '')}.cnf.xml"
                return ElementTree.fromstring((old.folder / name).read_bytes())  # noqa: S314

            async def confirmed(mac: str, count: int) -> bool:
                rows = data_of(await admin.get(f"/phones/{mac}/deployments"))
                return [one["confirmation"] for one in rows] == ["confirmed"] * count

            async def desk_of(mac: str) -> Any:
                return data_of(await admin.get(f"/phones/{mac}/desk"))["user_uuid"]

            assert (await at_old.log_in("ada", PIN)).title == "Angemeldet"
            await until(lambda: confirmed(OLD, 1))
            first = file(OLD)
            assert await desk_of(OLD) == ada
            assert (await at_new.log_in("ada", PIN)).title == "Angemeldet"
            await until(lambda: confirmed(NEW, 1))
            await api.container.keep_desks()()
            await until(lambda: confirmed(OLD, 2))

            assert first.findtext("deviceProtocol") == "SCCP"
            assert first.findtext("userLocale/name") == "German_Germany"
            assert first.findtext("userLocale/langCode") == "de"
            assert first.findtext(".//processNodeName") == "10.0.0.9"
            second = file(NEW)
            assert second.findtext("deviceProtocol") == "SIP"
            lines = second.findall("sipProfile/sipLines/line")
            assert [
                (one.get("button"), one.findtext("name"), one.findtext("authPassword"))
                for one in lines
            ] == [("1", "1001", "secret 9"), ("2", "2001", "secret 9")]
            module = second.find("addOnModules/addOnModule")
            assert module is not None
            assert (module.get("idx"), module.findtext("deviceType")) == ("1", "BEKEM")
            assert [one.tag for one in file(OLD)] == ["lobby"]
            assert (await desk_of(OLD), await desk_of(NEW)) == (None, ada)
            assert old.restarted
            assert new.restarted
            assert CommandReceived("Init:Services") in new.events
            arrived = [one.name for one in old.events if isinstance(one, FileArrived)]
            assert [name[-8 - 2 : -8] for name in arrived] == ["45", "51", "45"]
            assert "Ada Lovelace abmelden" in (await at_new.first()).items
            assert "Log in" in (await at_old.first()).items
            await api.container.tasks().drain(10)
