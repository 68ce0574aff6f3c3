"""``phoneprov serve``: the HTTP service in one or more worker processes."""

from __future__ import annotations

import asyncio

import click
import uvicorn

from phoneprov_adapters.settings import Settings
from phoneprov_adapters.sql import migrate
from phoneprov_adapters.sql.choice import is_embedded
from phoneprov_adapters.wiring import DRAIN_SECONDS, prepare
from phoneprov_http.main.settings import settings_of_environment


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, help="The port to listen on.")
@click.option(
    "--workers", default=1, show_default=True, help="How many processes serve side by side."
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
    settings = settings_of_environment()
    asyncio.run(_make_ready(settings, migrate_shared=migrate_shared))
    click.echo(f"phoneprov serves on http://{host}:{port} (stop with Ctrl-C)", err=True)
    uvicorn.run(
        "phoneprov_http.main.asgi:make_app",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        http="phoneprov_http.main.protocol:BoundedProtocol",
        ws="none",
        lifespan="on",
        # Only addresses that PHONEPROV_TRUSTED_PROXIES names are believed, by the application.
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        log_level="warning",
        timeout_graceful_shutdown=int(DRAIN_SECONDS) + 3,
    )


async def _make_ready(settings: Settings, *, migrate_shared: bool) -> None:
    """Make the key and the schema before the workers start, so that none races another."""
    prepare(settings)
    if migrate_shared or is_embedded(settings.database_url):
        await migrate.upgrade(settings.database_url)
