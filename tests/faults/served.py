"""``phoneprov serve``, killed, stopped, and started again on the same port."""

import asyncio
import os
import random
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from phoneprov_adapters.runtime.tasks import random_id
from phoneprov_http.main.server.sockets import bound
from races.direct import PASSWORD
from races.harness import START_SECONDS, Service
from races.wire import Line
from races.workers import workers_of
from support.command_line import PROGRAM, without_settings
from support.forked_commands import Forked
from support.polling import wait_for

SERVE = (*PROGRAM, "serve", "--migrate")
_ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Starts a program as systemd does with socket activation: python -c _ACTIVATE fd program..."""


class Served(Service):
    """A service in a process group of its own, always on the same port.

    With ``holds_socket`` the test binds the port and passes the socket on, as ``--fd`` or as
    systemd does; ``close`` closes it.
    """

    def __init__(
        self,
        folder: Path,
        database_url: str | None = None,
        workers: int = 1,
        *,
        command: Sequence[str] = SERVE,
        holds_socket: Literal["", "fd", "systemd"] = "",
        **environment: str,
    ) -> None:
        environment = {"PHONEPROV_ACCESS_TTL": "86400", **environment}
        super().__init__(folder, database_url, workers, **environment)
        self.port = free_port()
        self.workers = workers
        self._command = command
        self._held = bound("127.0.0.1", self.port) if holds_socket else None
        self._is_activated = holds_socket == "systemd"
        if self._held is not None:
            self._held.listen()

    @property
    def pid(self) -> int:
        """The started process: it serves, or supervises the workers."""
        assert self._process is not None
        return self._process.pid

    def spawn(self) -> None:
        """Start the service without waiting."""
        command = [*self._command, "--workers", str(self._workers)]
        if self._held is None:
            command += ["--port", str(self.port)]
        elif self._is_activated:
            command = [sys.executable, "-c", _ACTIVATE, str(self._held.fileno()), *command]
        else:
            command += ["--fd", str(self._held.fileno())]
        self._starts += 1
        with (self.folder / "log").open("ab") as log:
            options: dict[str, Any] = {
                "env": without_settings(**self.environment),
                "stderr": log,
                "start_new_session": True,
                "pass_fds": () if self._held is None else (self._held.fileno(),),
            }
            if command[: len(SERVE)] == [*SERVE]:
                self._process = Forked(command[len(PROGRAM) :], **options)
            else:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)

    def start(self) -> None:
        """Start the service, and wait until it is ready."""
        self.spawn()
        is_ready = self._serves if self._held else self.listens
        wait_for(is_ready, self._process, log=self.log_text, seconds=START_SECONDS)

    def _serves(self) -> bool:
        content = (self.folder / "log").read_bytes()
        return content.count(b"phoneprov serves on") >= self._starts

    def listens(self) -> bool:
        """Whether the port accepts connections."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kill every process of the service, and wait until all of them have ended."""
        process, self._process = self._process, None
        if process is None:
            return
        with ExitStack() as stack:
            workers = []
            with suppress(FileNotFoundError, ProcessLookupError):  # it ended by itself
                for pid in workers_of(process.pid):
                    workers.append(os.pidfd_open(pid))
                    stack.callback(os.close, workers[-1])
            with suppress(ProcessLookupError):  # it ended by itself
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for worker in workers:
                ends = (
                    select.poll()
                )  # A test of thousands of phones has more files than select() takes.
                ends.register(worker, select.POLLIN)
                ends.poll()

    def close(self) -> None:
        """Kill the service, and close the socket that was held for it."""
        self.kill()
        if self._held is not None:
            self._held.close()

    def limit_files(self, size: int) -> None:
        """Limit the size of files that the service writes, as a full disk would; -1 removes the
        limit."""
        for pid in {self.pid, *self.pids}:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to the started process."""
        os.kill(self.pid, number)

    async def ended(self, seconds: float) -> tuple[int, float]:
        """Wait for the end of the process: its exit code, and the seconds of the wait."""
        process, began = self._process, time.monotonic()
        assert process is not None
        while (code := process.poll()) is None:
            assert time.monotonic() - began < seconds, f"it did not end: {self.log_text()}"
            await asyncio.sleep(0.005)
        self._process = None
        return code, time.monotonic() - began

    async def token(self) -> str:
        """Create a superadmin at the running service; the access token."""
        name = f"root-{random_id()}"
        async with self.direct() as direct:
            await direct.account(level=0, username=name)
        async with self.line() as line:
            login = {"username": name, "password": PASSWORD}
            return str((await line.ask("POST", "/auth/login", login)).data["accessToken"])

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        """A connection to the service."""
        line = await Line.open(self.port)
        try:
            yield line
        finally:
            await line.close()


def free_port() -> int:
    """A free port outside of the ephemeral range, so that it is still free after a restart of the
    service."""
    chance = random.SystemRandom()
    while True:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", chance.randrange(10_000, 30_000)))
            return int(probe.getsockname()[1])
