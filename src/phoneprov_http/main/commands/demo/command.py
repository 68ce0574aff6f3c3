"""``phoneprov demo``: a switch over HTTP, one without an FTP server, and a login at the phone."""

import asyncio
import hashlib
import os
import secrets
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import click
import httpx

from phoneprov_adapters.simulator.ftp import FileArrived
from phoneprov_adapters.simulator.phone import CommandReceived, Screen, ScreenPage, SimulatedPhone
from phoneprov_adapters.simulator.web import fetch_by_tftp
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES, restart_keys
from phoneprov_http.main.commands.demo.history import fill_office
from phoneprov_http.main.commands.demo.office import PHONES, simulated_office
from phoneprov_http.main.commands.simulate import reaching
from phoneprov_http.main.commands.terminal import free_port
from phoneprov_http.main.server.sockets import run_until_stopped

_READY_SECONDS = 30


class DemoFailed(click.ClickException):
    """A step of the demo failed."""

    exit_code = 1


async def run(environment: Mapping[str, str], *arguments: str, stdin: str = "") -> str:
    """The output of a command. Raises ``DemoFailed`` if the command fails."""
    process = await _started(environment, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    output, errors = await process.communicate(stdin.encode())
    if process.returncode:
        raise DemoFailed(f"phoneprov {arguments[0]} failed. {errors.decode().strip()}")
    return output.decode().strip()


@asynccontextmanager
async def served(environment: Mapping[str, str], folder: str) -> AsyncIterator[str]:
    """The service; its base URL."""
    port = free_port()
    log = Path(folder) / "server.log"
    with log.open("wb") as output:
        server = await _started(
            environment, "serve", "--port", str(port), stdout=output, stderr=output
        )
    async with _ending(server):
        base = f"http://127.0.0.1:{port}"
        if not await answers(f"{base}/health/ready", server):
            lines = (await asyncio.to_thread(log.read_text, "utf-8", "replace")).splitlines()
            raise DemoFailed(f"The service did not start. {lines[-1] if lines else ''}")
        click.echo(f"phoneprov serves on {base}.")
        yield base


@asynccontextmanager
async def provisioning(
    environment: Mapping[str, str], http_port: int, tftp_port: int
) -> AsyncIterator[None]:
    """``phoneprov provision``, which serves files to phones."""
    ports = ("--http-port", str(http_port), "--tftp-port", str(tftp_port))
    process = await _started(
        environment, "provision", "--host", "127.0.0.1", *ports, stdout=DEVNULL, stderr=PIPE
    )
    async with _ending(process):
        assert process.stderr is not None
        async with asyncio.timeout(_READY_SECONDS):
            while b"serves on" not in (line := await process.stderr.readline()):
                if not line:
                    raise DemoFailed("phoneprov provision did not start.")
        yield


async def answers(url: str, server: Process | None = None) -> bool:
    """Wait until a URL answers with 200. False if it does not in time, or ``server`` ends."""
    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        for _ in range(_READY_SECONDS * 10):
            if server is not None and server.returncode is not None:
                return False
            try:
                if (await client.get(url)).status_code == 200:
                    return True
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
    return False


async def ask(
    client: httpx.AsyncClient, method: str, path: str, body: Mapping[str, Any] | None = None
) -> Any:
    """The ``data`` of a response. Raises ``DemoFailed`` for a failure."""
    reply = await client.request(method, f"/api/v1{path}", json=body)
    envelope = reply.json()
    if not envelope["success"]:
        raise DemoFailed(f"{method} {path} answered {reply.status_code}: {envelope['message']}")
    return envelope["data"]


async def _started(environment: Mapping[str, str], *arguments: str, **streams: Any) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "phoneprov_http.main", *arguments, env=environment, **streams
    )


@asynccontextmanager
async def _ending(process: Process) -> AsyncIterator[None]:
    try:
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


USERNAME, PASSWORD = "ada", "analytical engine 1843"
PROFILE = "Ada at the front desk"
LOAD = "SCCP45.9-4-2SR3-1S"
CONFIGURATION = f"""<?xml version="1.0" encoding="UTF-8"?>
<device>
  <deviceProtocol>SCCP</deviceProtocol>
  <phonePersonalization>Ada à l'accueil</phonePersonalization>
  <loadInformation>{LOAD}</loadInformation>
  <vendorConfig><webAccess>0</webAccess></vendorConfig>
</device>
"""
PIN = "24681357"
LOBBY = "<device><deviceProtocol>SCCP</deviceProtocol></device>"


async def switch_over_http(client: httpx.AsyncClient, phone: SimulatedPhone) -> None:
    """Record the phone, save a profile, and switch the phone to it."""
    session = await ask(client, "POST", "/auth/login", {"username": USERNAME, "password": PASSWORD})
    client.headers["Authorization"] = f"Bearer {session['accessToken']}"
    me = await ask(client, "GET", "/me")
    click.echo(
        f"{me['username']} logged in, level {me['permission']['level']} "
        f"({me['permission']['perm_name']})."
    )

    new = {"mac": phone.mac, "model": phone.model, "phone_ip": phone.host, "software_type": "SCCP"}
    recorded = await ask(client, "POST", "/phones", new)
    click.echo(f"The phone {recorded['mac']} ({recorded['model']}) was recorded.")

    draft = {
        "user_uuid": me["uuid"],
        "name": PROFILE,
        "cnf_xml": CONFIGURATION,
        "compatible_models": ["7945"],
        "software_type": "SCCP",
    }
    profile = await ask(client, "POST", "/phone-profiles", draft)
    click.echo(f"The profile {profile['name']!r} was saved.")

    body = {"profile_uuid": profile["uuid"], "mac": phone.mac}
    switched = await ask(client, "POST", "/phone-profiles/switch", body)
    name, mac = switched["profile"], switched["mac"]
    click.echo(f"{name!r} was deployed to {mac}; restart: {switched['restart']}.")
    _check_arrived(phone, switched)


def _check_arrived(phone: SimulatedPhone, switched: Mapping[str, Any]) -> None:
    content = CONFIGURATION.encode()
    files = [event for event in phone.events if isinstance(event, FileArrived)]
    commands = [event.uri for event in phone.events if isinstance(event, CommandReceived)]
    for file in files:
        click.echo(f"On the phone: {file.name}, {file.size} bytes, SHA-256 {file.sha256}.")
    click.echo(f"The phone received these commands: {', '.join(commands) or 'nothing'}.")
    name = f"SEP{phone.mac.replace(':', '')}.cnf.xml"
    expected = FileArrived(name, len(content), hashlib.sha256(content).hexdigest())
    if files != [expected] or (phone.folder / name).read_bytes() != content:
        raise DemoFailed("The file on the phone is not the profile's configuration.")
    orders = [key.uri for key in (*CLEAR_SERVICES, *restart_keys(phone.model))]
    if commands != orders or not isinstance(phone.events[0], FileArrived):
        raise DemoFailed("The phone did not receive the commands to clear and to restart.")
    if switched["restart"] != "ok" or not phone.restarted:
        raise DemoFailed("The phone was not restarted.")


async def switch_without_ftp(
    client: httpx.AsyncClient, environment: Mapping[str, str], phone: SimulatedPhone
) -> None:
    """Switch the phone with ``PHONEPROV_UPLOADER=served``; the phone fetches its file by TFTP and
    by HTTP, which confirms the switch."""
    served = {**environment, "PHONEPROV_UPLOADER": "served", "PHONEPROV_CONFIRM_TIMEOUT": "0"}
    tftp_port, http_port = free_port(datagrams=True), free_port()
    name = f"SEP{phone.mac.replace(':', '')}.cnf.xml"
    async with provisioning(served, http_port, tftp_port):
        await run(served, "switch", PROFILE, phone.mac, "--no-wait")
        click.echo("Switched once more, without an FTP server: phoneprov provision has the file.")
        by_tftp = await fetch_by_tftp(phone.host, tftp_port, name)
        async with httpx.AsyncClient(timeout=10, trust_env=False) as web:
            by_http = (await web.get(f"http://{phone.host}:{http_port}/{name}")).content
        if by_tftp != CONFIGURATION.encode() or by_http != by_tftp:
            raise DemoFailed("The file that the phone fetched is not the profile's configuration.")
        click.echo(f"The phone fetched {name}: {len(by_tftp)} bytes by TFTP, and by HTTP.")
        # The process that served the file asks the phone for its load.
        current = await _confirmed(client, phone.mac)
    if current["confirmation"] != "confirmed":
        raise DemoFailed("The fetch did not confirm the switch.")
    click.echo(f"The switch is confirmed: {current['confirmation_message']}")


async def log_in_at_desk(client: httpx.AsyncClient, base: str, phone: SimulatedPhone) -> None:
    """Log out, log in at the phone with a PIN, and search the company directory there."""
    me = await ask(client, "GET", "/me")
    body = {"user_uuid": me["uuid"], "name": "Lobby", "cnf_xml": LOBBY}
    lobby = await ask(client, "POST", "/phone-profiles", body)
    desk = f"/phones/{phone.mac}/desk"
    await ask(client, "PUT", desk, {"default_profile_uuid": lobby["uuid"]})
    await ask(client, "PUT", f"/vendor-users/{me['uuid']}", {"pin_code": PIN})
    contact = {"name": "Charles Babbage", "work": "1001", "mobile": "0170 1001"}
    await ask(client, "POST", "/company-directory", contact)
    await ask(client, "POST", f"{desk}/logout")
    await _until_confirmed(client, phone.mac)
    click.echo("The phone has its default profile 'Lobby'; no user is logged in.")
    async with Screen(base, phone.mac, phone.model) as screen:
        form = await screen.choose(_shown(await screen.services()), "Log in")
        choice = _shown(await screen.submit(_shown(form), USERNAME, PIN))
        page = _shown(await screen.choose(choice, "Ada"))
        if page.title != "Logged in":
            raise DemoFailed(f"The login at the phone failed: {page.text}")
        at = await ask(client, "GET", desk)
        click.echo(f"{at['username']} is logged in at {at['mac']}.")
        menu = await screen.choose(_shown(await screen.services()), "Directories")
        form = await screen.choose(_shown(menu), "Company")
        found = _shown(await screen.submit(_shown(form), "bab", ""))
        if [number for _, number in found.entries] != ["1001", "01701001"]:
            raise DemoFailed("The search at the phone did not find the contact.")


async def _confirmed(client: httpx.AsyncClient, mac: str) -> dict[str, Any]:
    """The current deployment, when it is confirmed or 30 seconds are over."""
    current: dict[str, Any]
    for _ in range(300):
        [current] = await ask(client, "GET", f"/phones/{mac}/deployments?current=true")
        if current["confirmation"] == "confirmed":
            break
        await asyncio.sleep(0.1)
    return current


async def _until_confirmed(client: httpx.AsyncClient, mac: str) -> None:
    """Wait until the watch of the phone's last restart has ended."""
    for _ in range(300):
        [current] = await ask(client, "GET", f"/phones/{mac}/deployments?current=true")
        if current["confirmation"] != "pending":
            return
        await asyncio.sleep(0.1)
    raise DemoFailed("It is not known whether the phone registered again.")


def _shown(page: ScreenPage) -> ScreenPage:
    for line in page.lines():
        click.echo(f"    | {line}")
    return page


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
        run_until_stopped(_demo(keep=keep))
    except KeyboardInterrupt:
        click.echo("Stopped.")


async def _demo(*, keep: bool) -> None:
    password = secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory(prefix="phoneprov-demo-") as folder:
        async with (
            AsyncExitStack() as running,
            SimulatedPhone(ftp_password=password, load=LOAD) as phone,
        ):
            environment = {
                **{k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")},
                "PHONEPROV_DATA_DIR": folder,
                **reaching(phone, "phoneprov", password),
            }
            await _create_admin(environment)
            if keep:
                folders = await running.enter_async_context(simulated_office(phone, password))
                environment["PHONEPROV_PHONE_NETWORKS"] = "127.0.0.0/16"
                await fill_office(environment, folders)
                click.echo(f"An office of {PHONES} phones was added, with a year of deployments.")
            async with served(environment, folder) as base:
                async with httpx.AsyncClient(base_url=base, timeout=40, trust_env=False) as client:
                    await switch_over_http(client, phone)
                    await _await_restart(phone)
                    await switch_without_ftp(client, environment, phone)
                    await _await_restart(phone)
                    await log_in_at_desk(client, base, phone)
                    click.echo("Every step succeeded.")
                if keep:
                    click.echo(f"The console is at {base}/console/")
                    click.echo(f"Username: {USERNAME}")
                    click.echo(f"Password: {PASSWORD}")
                    click.echo("Ctrl-C stops the service.")
                    await asyncio.Event().wait()


async def _create_admin(environment: Mapping[str, str]) -> None:
    account = ("--username", USERNAME, "--email", "ada@example.com", "--password-stdin")
    click.echo(await run(environment, "create-admin", *account, stdin=f"{PASSWORD}\n"))


async def _await_restart(phone: SimulatedPhone) -> None:
    if not await answers(f"http://{phone.host}:{phone.http_port}/DeviceInformationX"):
        raise DemoFailed("The phone did not restart in time.")
