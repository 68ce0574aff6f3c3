"""The processes of the demo: commands of phoneprov, as a user starts them."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import httpx

from phoneprov_http.main.commands.options import free_port

_READY_SECONDS = 30


class DemoFailed(click.ClickException):
    """A step of the demo failed."""

    exit_code = 1


async def run(environment: Mapping[str, str], *arguments: str, stdin: str = "") -> str:
    """The output of a command. Raises ``DemoFailed`` if the command fails."""
    process = await _started(environment, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    output, errors = await process.communicate(stdin.encode())
    if process.returncode:
        raise DemoFailed(f"phoneprov {arguments[0]} failed. {errors.decode().strip()}")
    return output.decode().strip()


@asynccontextmanager
async def served(environment: Mapping[str, str], folder: str) -> AsyncIterator[str]:
    """The service; its base URL."""
    port = free_port()
    log = Path(folder) / "server.log"
    with log.open("wb") as output:
        server = await _started(
            environment, "serve", "--port", str(port), stdout=output, stderr=output
        )
    async with _ending(server):
        base = f"http://127.0.0.1:{port}"
        if not await answers(f"{base}/health/ready", server):
            lines = (await asyncio.to_thread(log.read_text, "utf-8", "replace")).splitlines()
            raise DemoFailed(f"The service did not start. {lines[-1] if lines else ''}")
        click.echo(f"phoneprov serves on {base}.")
        yield base


@asynccontextmanager
async def provisioning(
    environment: Mapping[str, str], http_port: int, tftp_port: int
) -> AsyncIterator[None]:
    """``phoneprov provision``, which serves files to phones."""
    ports = ("--http-port", str(http_port), "--tftp-port", str(tftp_port))
    process = await _started(
        environment, "provision", "--host", "127.0.0.1", *ports, stdout=DEVNULL, stderr=PIPE
    )
    async with _ending(process):
        assert process.stderr is not None
        async with asyncio.timeout(_READY_SECONDS):
            while b"serves on" not in (line := await process.stderr.readline()):
                if not line:
                    raise DemoFailed("phoneprov provision did not start.")
        yield


async def answers(url: str, server: Process | None = None) -> bool:
    """Wait until a URL answers with 200. False if it does not in time, or ``server`` ends."""
    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        for _ in range(_READY_SECONDS * 10):
            if server is not None and server.returncode is not None:
                return False
            try:
                if (await client.get(url)).status_code == 200:
                    return True
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
    return False


async def ask(
    client: httpx.AsyncClient, method: str, path: str, body: Mapping[str, Any] | None = None
) -> Any:
    """The ``data`` of a response. Raises ``DemoFailed`` for a failure."""
    reply = await client.request(method, f"/api/v1{path}", json=body)
    envelope = reply.json()
    if not envelope["success"]:
        raise DemoFailed(f"{method} {path} answered {reply.status_code}: {envelope['message']}")
    return envelope["data"]


async def _started(environment: Mapping[str, str], *arguments: str, **streams: Any) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "phoneprov_http.main", *arguments, env=environment, **streams
    )


@asynccontextmanager
async def _ending(process: Process) -> AsyncIterator[None]:
    try:
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()
