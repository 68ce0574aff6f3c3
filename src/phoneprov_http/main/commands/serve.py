"""``phoneprov serve``: the HTTP service in one or more worker processes."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable

import click
import uvicorn

from phoneprov_adapters.composition.factories import require_own_database
from phoneprov_adapters.composition.lifecycle import opened, prepare, require_keys
from phoneprov_adapters.composition.settings import HASH_THREADS, Settings
from phoneprov_adapters.sql.engines.choice import is_embedded
from phoneprov_adapters.sql.maintenance.schema import bring_up_to_date
from phoneprov_http.main.commands.options import PORT
from phoneprov_http.main.commands.settings import settings_of_environment
from phoneprov_http.main.serving.listener import bound
from phoneprov_http.main.serving.server import Server
from phoneprov_http.main.serving.workers import Workers


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=PORT,
    default=8000,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many processes serve side by side.",
)
@click.option(
    "--migrate",
    "migrate_shared",
    is_flag=True,
    help="Bring a shared database up to date first; the embedded one always is.",
)
def serve(host: str, port: int, workers: int, *, migrate_shared: bool) -> None:
    """Serve the HTTP interface until told to stop (SIGTERM or Ctrl-C).

    Requests that were accepted are finished; a switch under way is ended first.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    settings = settings_of_environment()
    asyncio.run(_make_ready(settings, migrate_shared=migrate_shared))
    listener = bound(host, port)
    address = f"[{host}]" if ":" in host else host
    url = f"http://{address}:{listener.getsockname()[1]}"
    click.echo(f"phoneprov serves on {url} (stop with Ctrl-C)", err=True)
    # Together they check as many passwords at a time as one process would, in no more memory.
    os.environ[HASH_THREADS] = str(max(1, settings.hash_threads // workers))
    if workers == 1:
        Server(_config(), listener).run()
    elif not Workers(_serve_beside_others, workers, listener).run():
        sys.exit(1)


def _leave(*_: object) -> None:
    """Told to stop before anything was served."""
    sys.exit(0)


def _serve_beside_others(listener: socket.socket, on_started: Callable[[], None]) -> None:
    Server(_config(), listener, alone=False, on_started=on_started).run()


def _config() -> uvicorn.Config:
    return uvicorn.Config(
        "phoneprov_http.main.serving.asgi:make_app",
        factory=True,
        http="phoneprov_http.main.serving.protocol:BoundedProtocol",
        ws="none",
        lifespan="on",
        # Only addresses that PHONEPROV_TRUSTED_PROXIES names are believed, by the application.
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        log_level="warning",
    )


async def _make_ready(settings: Settings, *, migrate_shared: bool) -> None:
    """Make the key and the schema before the workers start, so that none races another; and
    see that the keys are the right ones, which is told once here instead of by each worker."""
    container = prepare(settings)
    if migrate_shared:
        require_own_database(settings)
    container.use_cases()  # an adapter that cannot be made is told here, once
    if migrate_shared or is_embedded(settings.database_url):
        await bring_up_to_date(settings.database_url)
    async with opened(container):
        await require_keys(container)
