"""The memory of the service during the response of a long list.

``python -m bench.questions.list_memory``.

Serves a SQLite database with ROWS company contacts from a process of its own, requests the list
several times, and prints the growth of that process's resident memory. Exits with 1 if it grew by
more than LIMIT mebibytes.
"""

import asyncio
import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import httpx

from bench.process import server
from phoneprov_adapters.composition.lifecycle import open_phoneprov, prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.people.directory.model import CompanyContact

PROGRAM = [sys.executable, "-m", "phoneprov_http.main"]


@click.command()
@click.option("--rows", default=100_000, show_default=True)
@click.option("--times", default=3, show_default=True)
@click.option("--limit", default=64, show_default=True, help="Mebibytes of growth that are fine.")
def list_memory(rows: int, times: int, limit: int) -> None:
    """Print how the memory of the service grows over a list of ROWS records."""
    password = secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PHONEPROV_DATA_DIR": folder}
        account = ("--username", "ada", "--email", "ada@example.com", "--password-stdin")
        subprocess.run(
            [*PROGRAM, "create-admin", *account],
            input=password, text=True, env=environment, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        asyncio.run(_fill(Path(folder), rows))
        with (
            server(
                "phoneprov",
                [*PROGRAM, "serve", "--port", "{port}"],
                environment,
                processors=os.sched_getaffinity(0),
                folder=Path(folder),
                ready="/health/ready",
            ) as service,
            httpx.Client(base_url=f"{service.url}/api/v1", timeout=600) as http,
        ):
            credentials = {"username": "ada", "password": password}
            token = http.post("/auth/login", json=credentials).json()["data"]["accessToken"]
            http.headers["Authorization"] = f"Bearer {token}"
            http.get("/company-directory", params={"limit": 1000})
            before = service.memory_mib()
            for _ in range(times):
                began = time.monotonic()
                size = _read(http)
                grown = service.memory_mib() - before
                click.echo(
                    f"{rows} rows, {size / 2**20:.1f} MiB in {time.monotonic() - began:.1f} s: "
                    f"resident memory {before:.1f} MiB, grown by {grown:.1f} MiB"
                )
    if grown > limit:
        sys.exit(1)


async def _fill(folder: Path, rows: int) -> None:
    settings = read_settings({"PHONEPROV_DATA_DIR": str(folder)})
    async with open_phoneprov(settings):
        pass
    database = prepare(settings).database()
    await database.open()
    for begin in range(0, rows, 2000):
        async with database.write() as tx:
            for number in range(begin, min(begin + 2000, rows)):
                await tx.company_contacts.add(_contact(number))
    await database.close()


def _contact(number: int) -> CompanyContact:
    return CompanyContact(
        f"00000000-0000-4000-8000-{number:012x}",
        f"Contact number {number}",
        "+44 20 7946 0018", None, None, "ada@example.com", None, "Engines", None, None, None,
        is_active=True,
        created_at="2026-01-31T08:15:30.250Z",
    )  # fmt: skip


def _read(http: httpx.Client) -> int:
    with http.stream("GET", "/company-directory") as reply:
        return sum(len(piece) for piece in reply.iter_bytes())


if __name__ == "__main__":
    list_memory()
