"""``phoneprov demo``: a switch over HTTP, with a simulated phone."""

import asyncio
import os
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack

import click
import httpx

from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_http.main.commands.demo.history import fill_office
from phoneprov_http.main.commands.demo.office import PHONES, simulated_office
from phoneprov_http.main.commands.demo.steps import (
    LOAD,
    PASSWORD,
    USERNAME,
    DemoFailed,
    answers,
    log_in_at_desk,
    run,
    served,
    switch_over_http,
    switch_without_ftp,
)
from phoneprov_http.main.commands.simulate import reaching
from phoneprov_http.main.server.sockets import run_until_stopped


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
