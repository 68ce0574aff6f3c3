"""``phoneprov load check`` and ``phoneprov provision``: the files for phones."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator

import click

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.metrics import count_unrecorded
from phoneprov_adapters.serving.contents import FetchRecords, TftpFiles
from phoneprov_adapters.tftp.server import Limits, TftpServer
from phoneprov_core.features.serving.bootstrap import LOCALES, CheckLoad
from phoneprov_core.inventory.configuration.findings import ending_of
from phoneprov_core.switching.devices.names import plain_name
from phoneprov_http.main.commands.settings import settings_of_environment, settings_of_installation
from phoneprov_http.main.commands.terminal import PORT
from phoneprov_http.main.server.logs import set_up_logs
from phoneprov_http.main.server.metrics import metrics_listeners, with_metrics
from phoneprov_http.main.server.server import Server
from phoneprov_http.main.server.sockets import activated, address_text, bound, stop_signals
from phoneprov_http.phone.app import PhoneFiles


@click.group()
def load() -> None:
    """Check firmware loads in PHONEPROV_FILES_DIR."""


@load.command()
@click.argument("name")
@click.option(
    "--locale",
    "locales",
    multiple=True,
    help="Name of a userLocale whose file is required, too; can be repeated.",
)
def check(name: str, locales: tuple[str, ...]) -> None:
    """Check that all files of a load exist. Exit with 1 if a file is missing.

    NAME is the name of the load, such as SCCP45.9-4-2SR3-1S. A file name extension is ignored.

    The language files of the load are listed, too. A phone without the file of its language shows
    English menus. So a missing language file is an error only for a --locale.
    """
    settings = settings_of_installation()
    if settings.files_dir is None:
        raise SettingsError("PHONEPROV_FILES_DIR is not set: there are no files to check.")
    name = name.removesuffix(ending_of(name) or "")
    if any(plain_name(one) is None for one in (name, *locales)):
        raise click.UsageError("NAME and --locale must be plain names.")
    checking = CheckLoad(prepare(settings).shared_files())
    files = asyncio.run(checking(name))
    if files.is_damaged:
        raise click.UsageError(str(files.fault))
    if not files.present:
        click.echo(f"{name}: missing, no file has the name {files.wanted}.")
        sys.exit(1)
    for one in files.present:
        click.echo(f"{one}: present")
    for one in files.missing:
        click.echo(f"{one}: missing")
    texts = asyncio.run(checking.locales(name, locales or LOCALES))
    for one, is_present in texts.items():
        click.echo(f"{one}: {'present' if is_present else 'missing'}")
    if locales and not texts:
        click.echo(f"The files of locales are not known for {name}.")
    if not files.missing:
        click.echo(f"All {len(files.present)} file(s) of {name} are present.")
    if files.missing or (locales and not (texts and all(texts.values()))):
        sys.exit(1)


@click.command()
@click.option("--host", default="0.0.0.0", show_default=True, help="Address to listen on.")  # noqa: S104  # nosec B104
@click.option(
    "--http-port", type=PORT, default=6970, show_default=True, help="Port for HTTP; 0 for none."
)
@click.option(
    "--tftp-port", type=PORT, default=69, show_default=True, help="Port for TFTP; 0 for none."
)
@click.option(
    "--transfer-ports",
    metavar="FIRST-LAST",
    help="Ports for TFTP transfers, for a firewall; any free ports by default.",
)
def provision(host: str, http_port: int, tftp_port: int, transfer_ports: str | None) -> None:
    """Serve configurations and other files to phones.

    Runs until SIGTERM or Ctrl-C. Configurations come from the database
    (PHONEPROV_UPLOADER=served), all other files from PHONEPROV_FILES_DIR. Ports below 1024 need the
    capability CAP_NET_BIND_SERVICE or sockets of systemd (LISTEN_FDS: a stream socket for HTTP, a
    datagram socket for TFTP).
    """
    ports = _range(transfer_ports)
    given = activated(os.environ, datagrams=True)
    streams = [each for each in given if each.type == socket.SOCK_STREAM]
    datagrams = [each for each in given if each.type == socket.SOCK_DGRAM]
    if not given:
        streams = [bound(host, http_port)] if http_port else []
        datagrams = [bound(host, tftp_port, kind=socket.SOCK_DGRAM)] if tftp_port else []
    if not streams and not datagrams:
        raise click.UsageError("--http-port and --tftp-port are both 0: nothing to serve.")
    settings = settings_of_environment()
    set_up_logs()
    container = prepare(settings)
    metrics = metrics_listeners(settings)
    asyncio.run(_serve(container, streams, datagrams, ports, metrics))


async def _serve(
    container: Container,
    streams: list[socket.socket],
    datagrams: list[socket.socket],
    ports: range | None,
    metrics: list[socket.socket],
) -> None:
    await create_database(container.settings())
    async with running(container, may_be_offline=True):
        provide = container.provide_file()
        async with contextlib.AsyncExitStack() as stack:
            records = await stack.enter_async_context(FetchRecords(provide, count_unrecorded))
            open_file = TftpFiles(provide, records.add)
            for sock in datagrams:
                await stack.enter_async_context(_tftp(open_file, sock, ports))

            def on_started() -> None:
                places = " and ".join(map(address_text, [*streams, *datagrams]))
                click.echo(f"phoneprov provision serves on {places}", err=True)

            if every := [*streams, *metrics]:
                app = with_metrics(PhoneFiles(provide, records.add), container, apart_only=True)
                await Server(every, on_started=on_started, app=app).serve()
            else:
                on_started()
                await _stopped()


@contextlib.asynccontextmanager
async def _tftp(
    open_file: TftpFiles, sock: socket.socket, ports: range | None
) -> AsyncIterator[TftpServer]:
    server = TftpServer(open_file, Limits(ports=ports))
    await asyncio.get_running_loop().create_datagram_endpoint(lambda: server, sock=sock)
    try:
        yield server
    finally:
        await server.close()


async def _stopped() -> None:
    """Wait for a signal that stops the server."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers: list[signal.Signals] = stop_signals()
    for number in numbers:
        loop.add_signal_handler(number, stopped.set)
    try:
        await stopped.wait()
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _range(text: str | None) -> range | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last) < 65536):
        raise click.BadParameter(
            "must be two ports such as 50000-50999.", param_hint="--transfer-ports"
        )
    return range(int(first), int(last) + 1)
