"""``phoneprov demo``: a switch over HTTP, with a simulated phone."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import click
import httpx

from phoneprov_adapters.simulator.events import CommandReceived, FileArrived
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_adapters.simulator.screen import Screen, ScreenPage
from phoneprov_core.devices.commands import CLEAR_SERVICES, restart_keys
from phoneprov_http.main.commands.demo_office import PHONES, furnish, simulated_office
from phoneprov_http.main.commands.demo_served import switch_without_ftp
from phoneprov_http.main.commands.options import free_port
from phoneprov_http.main.commands.simulate import reaching

USERNAME, PASSWORD, PIN = "ada", "analytical engine 1843", "24681357"
LOBBY = "<device><deviceProtocol>SCCP</deviceProtocol></device>"
CONFIGURATION = """<?xml version="1.0" encoding="UTF-8"?>
<device>
  <deviceProtocol>SCCP</deviceProtocol>
  <phonePersonalization>Ada à l'accueil</phonePersonalization>
  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>
  <vendorConfig><webAccess>0</webAccess></vendorConfig>
</device>
"""


class DemoFailed(click.ClickException):
    """A step of the demo failed."""

    exit_code = 1


@click.command()
@click.option(
    "--keep",
    is_flag=True,
    help="Keep serving afterwards, with 200 phones and a year of deployments to look at.",
)
def demo(*, keep: bool) -> None:
    """Switch a simulated phone to a profile, and show each step.

    Serves on a temporary database with a simulated phone on loopback, switches the phone
    through the HTTP interface, and checks what reached the phone. Exits with 0 when every step
    succeeded.
    """
    try:
        asyncio.run(_demo(keep=keep))
    except KeyboardInterrupt:
        click.echo("Stopped.")


async def _demo(*, keep: bool) -> None:
    password = secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory(prefix="phoneprov-demo-") as folder:
        async with AsyncExitStack() as running, SimulatedPhone(ftp_password=password) as phone:
            environment = {
                **{k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")},
                "PHONEPROV_DATA_DIR": folder,
                **reaching(phone, "phoneprov", password),
            }
            await _create_admin(environment)
            if keep:
                await running.enter_async_context(simulated_office(phone, password))
                environment["PHONEPROV_PHONE_NETWORKS"] = "127.0.0.0/16"
                await furnish(environment)
                _say(f"An office of {PHONES} phones was added, with a year of deployments.")
            async with _served(environment, folder) as base:
                async with httpx.AsyncClient(base_url=base, timeout=40, trust_env=False) as client:
                    await _the_job(client, phone)
                    await _until_back(phone)
                    await switch_without_ftp(client, environment, phone, CONFIGURATION.encode())
                    await _until_back(phone)
                    await _at_the_desk(client, base, phone)
                    _say("Every step succeeded.")
                if keep:
                    _say(f"The console is at {base}/console/")
                    _say(f"Username: {USERNAME}")
                    _say(f"Password: {PASSWORD}")
                    _say("It stays until Ctrl-C.")
                    await asyncio.Event().wait()


async def _the_job(client: httpx.AsyncClient, phone: SimulatedPhone) -> None:
    session = await _ask(
        client, "POST", "/auth/login", {"username": USERNAME, "password": PASSWORD}
    )
    client.headers["Authorization"] = f"Bearer {session['accessToken']}"
    me = await _ask(client, "GET", "/me")
    _say(
        f"{me['username']} logged in, level {me['permission']['level']} "
        f"({me['permission']['perm_name']})."
    )

    recorded = await _ask(
        client,
        "POST",
        "/phones",
        {"mac": phone.mac, "model": phone.model, "phone_ip": phone.host, "software_type": "SCCP"},
    )
    _say(f"The phone {recorded['mac']} ({recorded['model']}) was recorded.")

    profile = await _ask(
        client,
        "POST",
        "/phone-profiles",
        {
            "user_uuid": me["uuid"],
            "name": "Ada at the front desk",
            "cnf_xml": CONFIGURATION,
            "compatible_models": ["7945"],
            "software_type": "SCCP",
        },
    )
    _say(f"The profile {profile['name']!r} was saved.")

    switched = await _ask(
        client,
        "POST",
        "/phone-profiles/switch",
        {"profile_uuid": profile["uuid"], "mac": phone.mac},
    )
    name, mac = switched["profile"], switched["mac"]
    _say(f"{name!r} was deployed to {mac}; restart: {switched['restart']}.")
    _show_what_arrived(phone, switched)


async def _until_back(phone: SimulatedPhone) -> None:
    """Wait until the phone answers after its restart."""
    url = f"http://{phone.host}:{phone.http_port}/DeviceInformationX"
    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        for _ in range(200):
            try:
                if (await client.get(url)).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
    raise DemoFailed("The phone did not restart in time.")


async def _until_confirmed(client: httpx.AsyncClient, mac: str) -> None:
    """Wait until the watch of the phone's last restart has ended."""
    for _ in range(300):
        current: Any = await _ask(client, "GET", f"/phones/{mac}/deployments?current=true")
        if current[0]["confirmation"] != "pending":
            return
        await asyncio.sleep(0.1)
    raise DemoFailed("It is not known whether the phone came back.")


async def _at_the_desk(client: httpx.AsyncClient, base: str, phone: SimulatedPhone) -> None:
    """Log out, log in at the phone with a PIN, and search the company directory there."""
    me = await _ask(client, "GET", "/me")
    body = {"user_uuid": me["uuid"], "name": "Lobby", "cnf_xml": LOBBY}
    lobby = await _ask(client, "POST", "/phone-profiles", body)
    desk = f"/phones/{phone.mac}/desk"
    await _ask(client, "PUT", desk, {"default_profile_uuid": lobby["uuid"]})
    await _ask(client, "PUT", f"/vendor-users/{me['uuid']}", {"pin_code": PIN})
    contact = {"name": "Charles Babbage", "work": "1001", "mobile": "0170 1001"}
    await _ask(client, "POST", "/company-directory", contact)
    await _ask(client, "POST", f"{desk}/logout")
    await _until_confirmed(client, phone.mac)
    _say("The phone has its default profile 'Lobby'; no user is logged in.")
    async with Screen(base, phone.mac, phone.model) as screen:
        form = await screen.choose(_shown(await screen.services()), "Log in")
        choice = _shown(await screen.submit(_shown(form), USERNAME, PIN))
        page = _shown(await screen.choose(choice, "Ada"))
        if page.title != "Logged in":
            raise DemoFailed(f"The login at the phone failed: {page.text}")
        at = await _ask(client, "GET", desk)
        _say(f"{at['username']} is logged in at {at['mac']}.")
        menu = await screen.choose(_shown(await screen.services()), "Directories")
        form = await screen.choose(_shown(menu), "Company")
        found = _shown(await screen.submit(_shown(form), "bab", ""))
        if [number for _, number in found.entries] != ["1001", "01701001"]:
            raise DemoFailed("The search at the phone did not find the contact.")


def _shown(page: ScreenPage) -> ScreenPage:
    for line in page.lines():
        _say(f"    | {line}")
    return page


def _show_what_arrived(phone: SimulatedPhone, switched: Mapping[str, Any]) -> None:
    content = CONFIGURATION.encode()
    files = [event for event in phone.events if isinstance(event, FileArrived)]
    commands = [event.uri for event in phone.events if isinstance(event, CommandReceived)]
    for file in files:
        _say(f"On the phone: {file.name}, {file.size} bytes, SHA-256 {file.sha256}.")
    _say(f"The phone received these commands: {', '.join(commands) or 'nothing'}.")
    name = f"SEP{phone.mac.replace(':', '')}.cnf.xml"
    expected = FileArrived(name, len(content), hashlib.sha256(content).hexdigest())
    if files != [expected] or (phone.folder / name).read_bytes() != content:
        raise DemoFailed("The file on the phone is not the profile's configuration.")
    orders = [key.uri for key in (*CLEAR_SERVICES, *restart_keys(phone.model))]
    if commands != orders or not isinstance(phone.events[0], FileArrived):
        raise DemoFailed("The phone did not receive the commands to clear and to restart.")
    if switched["restart"] != "ok" or not phone.restarted:
        raise DemoFailed("The phone was not restarted.")


async def _ask(
    client: httpx.AsyncClient, method: str, path: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    reply = await client.request(method, f"/api/v1{path}", json=body)
    envelope: dict[str, Any] = reply.json()
    if not envelope["success"]:
        raise DemoFailed(f"{method} {path} answered {reply.status_code}: {envelope['message']}")
    data: dict[str, Any] = envelope["data"]
    return data


@asynccontextmanager
async def _served(environment: Mapping[str, str], folder: str) -> AsyncIterator[str]:
    """The service itself, in a process of its own, as a user starts it."""
    port = free_port()
    log = Path(folder) / "server.log"
    with log.open("wb") as output:
        server = await asyncio.create_subprocess_exec(
            *_phoneprov("serve", "--port", str(port)),
            env=environment,
            stdout=output,
            stderr=output,
        )
        try:
            base = f"http://127.0.0.1:{port}"
            await _until_ready(base, server, log)
            _say(f"phoneprov serves on {base}.")
            yield base
        finally:
            if server.returncode is None:
                server.terminate()
            await server.wait()


async def _create_admin(environment: Mapping[str, str]) -> None:
    arguments = ("create-admin", "--username", USERNAME, "--email", "ada@example.com")
    process = await asyncio.create_subprocess_exec(
        *_phoneprov(*arguments, "--password-stdin"),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = await process.communicate(f"{PASSWORD}\n".encode())
    if process.returncode:
        raise DemoFailed(f"The account could not be created. {complained.decode().strip()}")
    _say(said.decode().strip())


async def _until_ready(base: str, server: asyncio.subprocess.Process, log: Path) -> None:
    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        for _ in range(300):
            if server.returncode is not None:
                break
            try:
                if (await client.get(f"{base}/health/ready")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
    said = (await asyncio.to_thread(log.read_text, "utf-8", "replace")).strip().splitlines()
    raise DemoFailed(f"The service did not start. {said[-1] if said else ''}")


def _phoneprov(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "phoneprov_http.main", *arguments)


def _say(text: str) -> None:
    click.echo(text)
