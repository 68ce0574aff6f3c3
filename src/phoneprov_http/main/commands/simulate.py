"""``phoneprov simulate-phone``: a simulated phone for trials."""

import asyncio
import secrets
from contextlib import AsyncExitStack
from pathlib import Path

import click

from phoneprov_adapters.simulator.events import Event, FileArrived
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_core.kernel.errors import Refused
from phoneprov_http.main.commands.options import PORT, mac_of
from phoneprov_http.main.commands.screen import show_screen


@click.command("simulate-phone")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--ftp-port", type=PORT, default=0, help="Port of its FTP server; 0 takes a free one."
)
@click.option(
    "--http-port", type=PORT, default=0, help="Port of its web server; 0 takes a free one."
)
@click.option(
    "--mac",
    default="00:1B:D4:12:34:56",
    show_default=True,
    callback=mac_of,
    help="MAC of the phone.",
)
@click.option("--model", default="CP-7945G", show_default=True, help="Model of the phone.")
@click.option(
    "--ftp-user", default="phoneprov", show_default=True, help="Username of its FTP server."
)
@click.option(
    "--ftp-password",
    default=lambda: secrets.token_urlsafe(12),
    help="Password of its FTP server; by default a random one, which is printed.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for uploaded files; by default a temporary one that is removed at the end.",
)
@click.option(
    "--screen",
    metavar="URL",
    help="Show the pages of the service at this address, such as http://127.0.0.1:8000.",
)
def simulate_phone(
    host: str,
    ftp_port: int,
    http_port: int,
    mac: str,
    model: str,
    ftp_user: str,
    ftp_password: str,
    folder: Path | None,
    screen: str | None,
) -> None:
    """Run a simulated phone until Ctrl-C, and print the files and commands it receives.

    It has an FTP server, which stores files, and the web server of a phone, which accepts
    commands (POST /CGI/Execute) and answers GET /DeviceInformationX.
    """
    phone = SimulatedPhone(
        host=host,
        ftp_port=ftp_port,
        http_port=http_port,
        mac=mac,
        model=model,
        ftp_user=ftp_user,
        ftp_password=ftp_password,
        folder=folder,
        on_event=lambda event: click.echo(event_line(event)),
    )
    try:
        asyncio.run(_run(phone, ftp_user, ftp_password, screen))
    except KeyboardInterrupt:
        click.echo("Stopped.")


async def _run(phone: SimulatedPhone, ftp_user: str, ftp_password: str, screen: str | None) -> None:
    async with AsyncExitStack() as running:
        try:
            await running.enter_async_context(phone)
        except OSError as error:
            raise Refused(
                f"The simulated phone cannot start on {phone.host}: {error.strerror}."
            ) from None
        click.echo(f"A {phone.model} with the MAC {phone.mac} listens on {phone.host}.")
        click.echo("To reach it, start phoneprov with these settings and give the phone")
        click.echo(f"the phone_ip {phone.host}:")
        for name, value in reaching(phone, ftp_user, ftp_password).items():
            click.echo(f"  export {name}={value}")
        if screen is not None:
            await show_screen(screen, phone.mac, phone.model)
        else:
            await asyncio.Event().wait()


def reaching(phone: SimulatedPhone, ftp_user: str, ftp_password: str) -> dict[str, str]:
    """The settings by which phoneprov reaches a simulated phone on its loopback address."""
    return {
        "PHONEPROV_FTP_PORT": str(phone.ftp_port),
        "PHONEPROV_FTP_USER": ftp_user,
        "PHONEPROV_FTP_PASSWORD": ftp_password,
        "PHONEPROV_PHONE_HTTP_PORT": str(phone.http_port),
        "PHONEPROV_PHONE_NETWORKS": f"{phone.host}/32",
    }


def event_line(event: Event) -> str:
    """An event as text."""
    if isinstance(event, FileArrived):
        return f"The file {event.name} arrived: {event.size} bytes, SHA-256 {event.sha256}"
    return f"The phone received the command {event.uri}"
