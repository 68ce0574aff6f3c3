"""Phones fetch their configurations by HTTP, beside a read over the API: python -m
bench.questions.phone_fetches.

``phoneprov provision`` and ``phoneprov serve`` share a database and a processor, and take load in
turn: fetches of 500 configurations of 4 KB, and ``GET /phones/{mac}``, over connections that are
kept, and with a new connection for each request. Exits with 1 if fetches do not reach 60 % of the
rate of the read.
"""

import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import click

from bench.load import Load, plain
from bench.process import Server, server
from bench.questions.phone_files import PASSWORD, PHONES, fill, mac_of
from bench.questions.phone_office import DATABASES, SERVING, database_for
from bench.questions.phone_pages import ASKING, READ_GOAL, median_rates
from phoneprov_adapters.sql.maintenance import migrate

COMMAND = [sys.executable, "-m", "phoneprov_http.main"]
CLIENT = "127.0.0.1"


def token_of(started: Server) -> str:
    """The access token of the account that ``fill`` made."""
    sent = json.dumps({"username": "ada", "password": PASSWORD}).encode()
    request = urllib.request.Request(f"{started.url}/api/v1/auth/login", sent)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as reply:
        token: str = json.load(reply)["data"]["accessToken"]
        return token


def fetches(folder: Path, environment: Mapping[str, str], seconds: float, rounds: int) -> bool:
    """Rates of both on one database."""
    if url := environment.get("PHONEPROV_DATABASE_URL"):
        asyncio.run(migrate.upgrade(url))
    asyncio.run(fill(environment, lambda _number: CLIENT))
    with (
        server(
            "serve",
            [*COMMAND, "serve", "--port", "{port}"],
            environment,
            processors=SERVING,
            folder=folder,
            ready="/health/ready",
        ) as api,
        server(
            "provision",
            [*COMMAND, "provision", "--host", CLIENT, "--http-port", "{port}", "--tftp-port", "0"],
            environment,
            processors=SERVING,
            folder=folder,
            ready="/dialplan.xml",
        ) as files,
    ):
        token, numbers = token_of(api), range(1, PHONES + 1)
        lines = {
            "read": (api, [plain("GET", f"/api/v1/phones/{mac_of(n)}", token) for n in numbers]),
            "fetch": (files, [plain("GET", f"/SEP{mac_of(n)}.cnf.xml") for n in numbers]),
        }
        good = True
        for kind, each in (("plain", "connections kept"), ("closing", "a new connection each")):
            loads = {name: (to, Load(sent, kind)) for name, (to, sent) in lines.items()}
            found = median_rates(loads, seconds, rounds)
            part = found["fetch"] / found["read"]
            good &= part >= READ_GOAL
            click.echo(
                f"  {each:22} {found['fetch']:6.0f} fetches, {found['read']:6.0f} reads, {part:.0%}"
            )
        return good


@click.command()
@click.option("--database", type=click.Choice(DATABASES), multiple=True)
@click.option("--seconds", default=3.0, show_default=True, help="Duration of a round.")
@click.option("--rounds", default=3, show_default=True)
def phone_fetches(database: tuple[str, ...], seconds: float, rounds: int) -> None:
    """Measure fetches by HTTP."""
    good = True
    os.sched_setaffinity(0, ASKING)
    for kind in database or DATABASES:
        with (
            tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as name,
            database_for(kind) as at,
        ):
            files = Path(name) / "files"
            files.mkdir()
            (files / "dialplan.xml").write_bytes(b"d" * 900)
            environment = {
                "PHONEPROV_DATA_DIR": str(Path(name) / "data"),
                "PHONEPROV_UPLOADER": "served",
                "PHONEPROV_FILES_DIR": str(files),
                "PHONEPROV_RESTART": "none",
                "PHONEPROV_CONFIRM_TIMEOUT": "0",
                "PHONEPROV_PHONE_HTTP_PORT": "1",
                "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
                **at,
            }
            click.echo(f"{kind}, requests a second:")
            good &= fetches(Path(name), environment, seconds, rounds)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    phone_fetches()
