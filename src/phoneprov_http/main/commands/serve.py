"""``phoneprov serve``, the HTTP service in one or more worker processes, and ``phoneprov openapi``,
its OpenAPI document."""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable, Sequence

import click
import msgspec
from click.core import ParameterSource

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import bring_up_to_date, opened, prepare, require_keys
from phoneprov_adapters.composition.settings import Settings, read_settings
from phoneprov_adapters.composition.table import HASH_THREADS
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.address import is_embedded
from phoneprov_adapters.sql.engines.revisions import UnfitSchema
from phoneprov_http.app import HttpSettings, litestar_app
from phoneprov_http.main.cli import fail
from phoneprov_http.main.commands.settings import settings_of_environment
from phoneprov_http.main.commands.terminal import PORT
from phoneprov_http.main.server.asgi import Workers, languages_of
from phoneprov_http.main.server.bounds import LEAST_FILES, raise_file_limit
from phoneprov_http.main.server.logs import set_up_logs
from phoneprov_http.main.server.metrics import counts_of, metrics_listeners
from phoneprov_http.main.server.server import Server
from phoneprov_http.main.server.sockets import (
    activated,
    address_text,
    bound,
    handling_stops,
    inherited,
)
from phoneprov_http.openapi.document import document

log = logging.getLogger("phoneprov.database")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=PORT,
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--fd",
    type=click.IntRange(0),
    help="File descriptor of an inherited socket to listen on, which stays open over a restart.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of worker processes.",
)
@click.option(
    "--migrate",
    "migrate_shared",
    is_flag=True,
    help="Upgrade the schema of a shared database first; an embedded database is always upgraded.",
)
def serve(host: str, port: int, fd: int | None, workers: int, *, migrate_shared: bool) -> None:
    """Serve the HTTP interface until SIGTERM, SIGHUP or Ctrl-C.

    When it stops, it still answers accepted requests and finishes running switches. With a socket
    of systemd (LISTEN_FDS) or --fd, new connections wait for the next start.
    """
    with handling_stops(_leave):
        _serve(host, port, fd, workers, migrate_shared=migrate_shared)


def _serve(host: str, port: int, fd: int | None, workers: int, *, migrate_shared: bool) -> None:
    listeners = _inherited(fd)
    settings = settings_of_environment()
    if (files := raise_file_limit()) < LEAST_FILES:
        raise SettingsError(
            f"The service may open {files} files and needs at least {LEAST_FILES}: raise the limit "
            "(ulimit -n, or LimitNOFILE of systemd)."
        )
    set_up_logs()
    asyncio.run(_make_ready(settings, migrate_shared=migrate_shared))
    listeners = listeners or [bound(host, port)]
    every = [*listeners, *metrics_listeners(settings)]
    # The workers share the limit: together they hash as many passwords at a time as one process.
    os.environ[HASH_THREADS] = str(max(1, settings.hash_threads // workers))
    urls = " and ".join(map(address_text, listeners))

    def on_started() -> None:
        click.echo(f"phoneprov serves on {urls} (stop with Ctrl-C)", err=True)

    with counts_of(workers, settings):
        if workers == 1:
            _server(every, settings, on_started).run()
            return
        supervisor = Workers(_serve_beside_others, workers, every, on_started)
        if not supervisor.run():
            if supervisor.refusal is not None:
                fail(supervisor.refusal, 1)
            sys.exit(1)


def _inherited(fd: int | None) -> list[socket.socket]:
    """The inherited sockets of this process; empty if it has to bind its own socket."""
    listeners = activated(os.environ) if fd is None else [inherited(fd)]
    source = click.get_current_context().get_parameter_source
    if listeners and ParameterSource.COMMANDLINE in (source("host"), source("port")):
        for listener in listeners:
            listener.close()
        given = "socket activation (LISTEN_FDS)" if fd is None else "--fd"
        raise click.UsageError(f"--host and --port are not allowed with {given}.")
    return listeners


def _leave(*_: object) -> None:
    """Stop before anything is served."""
    sys.exit(0)


def _serve_beside_others(
    listeners: Sequence[socket.socket], on_started: Callable[[], None]
) -> None:
    _server(listeners, settings_of_environment(), on_started).run()


def _server(
    listeners: Sequence[socket.socket], settings: Settings, on_started: Callable[[], None]
) -> Server:
    return Server(
        listeners, settings.speakers, keep_alive=settings.keep_alive, on_started=on_started
    )


async def _make_ready(settings: Settings, *, migrate_shared: bool) -> None:
    """Create the key and the schema, and check the keys, before any worker starts: so workers do
    not create them concurrently, and a failure is reported only once."""
    languages_of(settings)
    container = prepare(settings)
    container.use_cases()  # reports an adapter that cannot be created, once for all workers
    embedded = is_embedded(settings.database_url)
    if migrate_shared or embedded:
        await bring_up_to_date(settings.database_url, log.warning)
    try:
        async with opened(container):
            await require_keys(container)
    except UnfitSchema as error:
        if embedded:
            raise
        # Another host may upgrade the schema later, or may still need the older schema.
        log.warning("Requests are answered 503. %s", error.message)


@click.command()
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(describe()), indent=2))


def describe() -> dict[str, object]:
    """The OpenAPI document; needs no database and no settings."""
    container = Container(
        settings=read_settings({}), keys=SecretKeys.parse("only used to describe the routes")
    )

    async def ready() -> str | None:
        return None

    return document(litestar_app(container.use_cases(), HttpSettings(), ready=ready))
