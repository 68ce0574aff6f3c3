"""The first part of the demo: log in, record a phone, save a profile, switch the phone to it."""

import hashlib
from collections.abc import Mapping
from typing import Any

import click
import httpx

from phoneprov_adapters.simulator.events import CommandReceived, FileArrived
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.devices.commands import CLEAR_SERVICES, restart_keys
from phoneprov_http.main.commands.demo.service import DemoFailed, ask

USERNAME, PASSWORD = "ada", "analytical engine 1843"
PROFILE = "Ada at the front desk"
CONFIGURATION = """<?xml version="1.0" encoding="UTF-8"?>
<device>
  <deviceProtocol>SCCP</deviceProtocol>
  <phonePersonalization>Ada à l'accueil</phonePersonalization>
  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>
  <vendorConfig><webAccess>0</webAccess></vendorConfig>
</device>
"""


async def switch_over_http(client: httpx.AsyncClient, phone: SimulatedPhone) -> None:
    """Record the phone, save a profile, and switch the phone to it."""
    session = await ask(client, "POST", "/auth/login", {"username": USERNAME, "password": PASSWORD})
    client.headers["Authorization"] = f"Bearer {session['accessToken']}"
    me = await ask(client, "GET", "/me")
    click.echo(
        f"{me['username']} logged in, level {me['permission']['level']} "
        f"({me['permission']['perm_name']})."
    )

    recorded = await ask(
        client,
        "POST",
        "/phones",
        {"mac": phone.mac, "model": phone.model, "phone_ip": phone.host, "software_type": "SCCP"},
    )
    click.echo(f"The phone {recorded['mac']} ({recorded['model']}) was recorded.")

    profile = await ask(
        client,
        "POST",
        "/phone-profiles",
        {
            "user_uuid": me["uuid"],
            "name": PROFILE,
            "cnf_xml": CONFIGURATION,
            "compatible_models": ["7945"],
            "software_type": "SCCP",
        },
    )
    click.echo(f"The profile {profile['name']!r} was saved.")

    switched = await ask(
        client,
        "POST",
        "/phone-profiles/switch",
        {"profile_uuid": profile["uuid"], "mac": phone.mac},
    )
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
