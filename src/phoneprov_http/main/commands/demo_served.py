"""The second half of the demo: a switch without an FTP server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import click
import httpx

from phoneprov_adapters.simulator.fetching import fetch_by_tftp
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_http.main.commands.options import free_port


class NotServed(click.ClickException):
    """A step failed."""

    exit_code = 1


async def switch_without_ftp(
    client: httpx.AsyncClient, environment: Mapping[str, str], phone: SimulatedPhone, content: bytes
) -> None:
    """Switch the phone with ``PHONEPROV_UPLOADER=served``; the phone fetches its file by TFTP and
    by HTTP, which confirms the switch."""
    served = {**environment, "PHONEPROV_UPLOADER": "served", "PHONEPROV_CONFIRM_TIMEOUT": "0"}
    tftp_port, http_port = free_port(datagrams=True), free_port()
    name = f"SEP{phone.mac.replace(':', '')}.cnf.xml"
    async with _provision(served, http_port, tftp_port):
        await _run(served, "switch", "Ada at the front desk", phone.mac, "--no-wait")
        click.echo("Switched once more, without an FTP server: phoneprov provision has the file.")
        by_tftp = await fetch_by_tftp(phone.host, tftp_port, name)
        async with httpx.AsyncClient(timeout=10, trust_env=False) as web:
            by_http = (await web.get(f"http://{phone.host}:{http_port}/{name}")).content
        if by_tftp != content or by_http != content:
            raise NotServed("The file that the phone fetched is not the profile's configuration.")
        click.echo(f"The phone fetched {name}: {len(by_tftp)} bytes by TFTP, and by HTTP.")
    path = f"/api/v1/phones/{phone.mac}/deployments"
    newest = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    reply = await client.get(path, params={"before": newest, "limit": 1})
    [deployment] = reply.json()["data"]
    if deployment["confirmation"] != "confirmed":
        raise NotServed("The fetch did not confirm the switch.")
    click.echo(f"The switch is confirmed: {deployment['confirmation_message']}")


@asynccontextmanager
async def _provision(
    environment: Mapping[str, str], http_port: int, tftp_port: int
) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *_phoneprov("provision", "--host", "127.0.0.1"),
        *("--http-port", str(http_port), "--tftp-port", str(tftp_port)),
        env=environment,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(30):
            while b"serves on" not in (line := await process.stderr.readline()):
                if not line:
                    raise NotServed("phoneprov provision did not start.")
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def _run(environment: Mapping[str, str], *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *_phoneprov(*arguments),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode:
        raise NotServed(output.decode().strip())


def _phoneprov(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "phoneprov_http.main", *arguments)
