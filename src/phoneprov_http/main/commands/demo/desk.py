"""The last part of the demo: a login at the phone by PIN, and a directory search there."""

import asyncio

import click
import httpx

from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_adapters.simulator.screen import Screen, ScreenPage
from phoneprov_http.main.commands.demo.service import DemoFailed, ask
from phoneprov_http.main.commands.demo.switch import USERNAME

PIN = "24681357"
LOBBY = "<device><deviceProtocol>SCCP</deviceProtocol></device>"


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


async def _until_confirmed(client: httpx.AsyncClient, mac: str) -> None:
    """Wait until the watch of the phone's last restart has ended."""
    for _ in range(300):
        current = await ask(client, "GET", f"/phones/{mac}/deployments?current=true")
        if current[0]["confirmation"] != "pending":
            return
        await asyncio.sleep(0.1)
    raise DemoFailed("It is not known whether the phone came back.")


def _shown(page: ScreenPage) -> ScreenPage:
    for line in page.lines():
        click.echo(f"    | {line}")
    return page
