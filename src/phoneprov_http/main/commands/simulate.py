"""``phoneprov simulate-phone``: a simulated phone for trials."""

import asyncio
import secrets
import sys
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click
import httpx

from phoneprov_adapters.simulator.ftp import FileArrived
from phoneprov_adapters.simulator.phone import Event, Screen, ScreenPage, SimulatedPhone
from phoneprov_core.kernel.errors import Refused
from phoneprov_http.main.commands.terminal import MAC, PORT, printable
from phoneprov_http.main.server.sockets import run_until_stopped


@click.command("simulate-phone")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--ftp-port", type=PORT, default=0, help="Port of its FTP server; 0 for a free port.")
@click.option(
    "--http-port", type=PORT, default=0, help="Port of its web server; 0 for a free port."
)
@click.option(
    "--mac",
    default="00:1B:D4:12:34:56",
    show_default=True,
    type=MAC,
    help="MAC of the phone.",
)
@click.option("--model", default="CP-7945G", show_default=True, help="Model of the phone.")
@click.option(
    "--ftp-user", default="phoneprov", show_default=True, help="Username of its FTP server."
)
@click.option(
    "--ftp-password",
    default=lambda: secrets.token_urlsafe(12),
    help="Password of its FTP server; by default a random password, which is printed.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for uploaded files; by default a temporary folder that is removed at the end.",
)
@click.option(
    "--screen",
    metavar="URL",
    help="Show the pages of the service at this address, such as http://127.0.0.1:8000.",
)
def simulate_phone(screen: str | None, **phone: Any) -> None:
    """Run a simulated phone.

    The simulated phone has an FTP server, which stores files, and the web server of a phone, which
    accepts commands (POST /CGI/Execute) and answers GET /DeviceInformationX. Prints received files
    and commands until Ctrl-C.
    """
    simulated = SimulatedPhone(**phone, on_event=lambda event: click.echo(event_line(event)))
    try:
        run_until_stopped(_run(simulated, phone["ftp_user"], phone["ftp_password"], screen))
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
            await _show_screen(screen, phone.mac, phone.model)
        else:
            await asyncio.Event().wait()


def reaching(phone: SimulatedPhone, ftp_user: str, ftp_password: str) -> dict[str, str]:
    """The settings with which phoneprov reaches the simulated phone on its loopback address."""
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


async def _show_screen(base: str, mac: str, model: str) -> None:
    """Show the screen of the phone, and take keys until the input ends."""
    click.echo("Keys: a number chooses a line, a name presses a soft key, s is Services, q ends.")
    async with Screen(base, mac, model) as screen:
        page = await _fetched(screen.services())
        while True:
            if page is not None:
                for line in page.lines():
                    click.echo(f"  | {printable(line)}")
            try:
                page = await _next(screen, page)
            except (EOFError, click.Abort):
                return


async def _next(screen: Screen, page: ScreenPage | None) -> ScreenPage | None:
    """Read a key or the fields of a form; returns the next page. Raises ``EOFError`` at the end."""
    if page is not None and page.fields:
        values = [await _typed(name, hidden="PIN" in name.upper()) for name, _ in page.fields]
        return await _fetched(screen.submit(page, *values))
    key = (await _typed("key")).strip()
    if key == "q":
        raise EOFError
    if key == "s" or page is None:
        return await _fetched(screen.services())
    if key.isascii() and key.isdigit() and 0 < int(key) <= len(page.items):
        return await _fetched(screen.open(page.items[int(key) - 1][1]))
    pressed = [url for name, url in page.keys if key and name.casefold() == key.casefold()]
    if not pressed:
        return page
    if not pressed[0].startswith("SoftKey:"):
        return await _fetched(screen.open(pressed[0]))
    if pressed[0] == "SoftKey:Exit":
        return await _fetched(screen.services())
    click.echo(f"  | ({pressed[0]})")
    return page


async def _typed(label: str, *, hidden: bool = False) -> str:
    # A prompt can hide typed text only on a terminal.
    hidden = hidden and sys.stdin.isatty()

    def prompt() -> str:
        return str(click.prompt(label, default="", show_default=False, hide_input=hidden))

    return await asyncio.to_thread(prompt)


async def _fetched(fetching: Awaitable[ScreenPage]) -> ScreenPage | None:
    """The page; prints the message of the phone and returns None if the page cannot be shown."""
    try:
        page = await fetching
    except httpx.HTTPError as error:
        click.echo(f"  | Host Not Found ({type(error).__name__})")
    except (ValueError, LookupError) as error:
        click.echo(f"  | {error}")
    else:
        return page
    return None
