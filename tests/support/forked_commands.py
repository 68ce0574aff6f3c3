"""The command ``phoneprov`` in processes of their own, without the time of its imports.

A server imports the commands once and forks for each call. Arguments, folder, environment, streams
and signals are those of a program; a service can be killed, with its process group.
"""

import atexit
import gc
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, NoReturn, Self

IMPORTED = (
    *("installation", "serve", "demo.command", "people"),
    *("features.serving", "features.transfer"),
)

CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), [], False]).encode()
    socket.send_fds(server, [len(call).to_bytes(8)], [0, 1, 2])
    server.sendall(call)
    code = int(server.makefile().read().split()[1])
    sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def forked_commands() -> Iterator[str]:
    """Start a server; the folder of its ``phoneprov``, for PATH."""
    with TemporaryDirectory(prefix="phoneprov-") as folder:
        address = f"{folder}/server"
        client, program = Path(folder) / "client.py", Path(folder) / "phoneprov"
        client.write_text(CLIENT.format(address=address))
        start = shlex.join([sys.executable, "-ISs", str(client)])
        program.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        program.chmod(0o700)
        # The standard input ends with this process, and the server with it.
        with subprocess.Popen(
            [sys.executable, "-P", __file__, address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            try:
                yield folder
            finally:
                server.kill()


@cache
def _server_of_this_process() -> str:
    """The address of a server that ends with this process."""
    started = forked_commands()
    atexit.register(started.__exit__, None, None, None)
    return f"{started.__enter__()}/server"


class Forked:
    """A running command, with the methods of ``subprocess.Popen`` that the tests use.

    ``stdout`` and ``stderr`` are files, or those of this process; ``pass_fds`` keep their numbers.
    Without ``stderr``, its lines are read from the attribute. A block kills the command at its end.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None = None,
        stdin: IO[bytes] | None = None,
        stdout: int | IO[str] | IO[bytes] | None = None,
        stderr: IO[str] | IO[bytes] | None = None,
        start_new_session: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> None:
        call = json.dumps(
            [list(arguments), str(cwd or Path.cwd()), dict(env), pass_fds, start_new_session]
        ).encode()
        self.returncode: int | None = None
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(_server_of_this_process())
        with ExitStack() as sent:
            if stdin is None:
                stdin = sent.enter_context(Path(os.devnull).open("rb"))
            if stderr is None:
                reading, writing = os.pipe()
                self.stderr = os.fdopen(reading)
                stderr = sent.enter_context(os.fdopen(writing, "wb"))
            output = 1 if stdout is None else stdout if isinstance(stdout, int) else stdout.fileno()
            descriptors = [stdin.fileno(), output, stderr.fileno(), *pass_fds]
            socket.send_fds(self._server, [len(call).to_bytes(8)], descriptors)
            self._server.sendall(call)
        self._answers = self._server.makefile()
        self.pid = int(self._answers.readline())

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; negative for a signal."""
        if self.returncode is None:
            if not select.select([self._server], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("phoneprov", timeout or 0)
            self.returncode = int(self._answers.readline())
            self._answers.close()
            self._server.close()
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        if hasattr(self, "stderr"):
            self.stderr.close()


def run_forked(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: str = "",
    stdout: int | IO[str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """The result of a command that ends by itself; its standard output may go elsewhere."""
    with TemporaryFile() as given, TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        given.write(stdin.encode())
        given.seek(0)
        where = output if stdout is None else stdout
        process = Forked(arguments, env=env, stdin=given, stdout=where, stderr=errors)
        code = process.wait(120)
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


def serve(address: str) -> None:
    """Serve calls until the standard input ends."""
    command = import_module("phoneprov_http.main.cli").main
    for name in IMPORTED:
        import_module(f"phoneprov_http.main.commands.{name}")
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(1, b"ready\n")
        while 0 not in select.select([listener.fileno(), 0], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    execute(command, connection)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass


def execute(command: Callable[..., NoReturn], connection: socket.socket) -> NoReturn:
    """Execute one call in a child process, and send its process id and its exit code."""
    head, given, _, _ = socket.recv_fds(connection, 8, 10)
    call = connection.makefile("rb").read(int.from_bytes(head))
    child = os.fork()
    if child == 0:
        connection.close()
        arguments, folder, environment, numbers, is_leader = json.loads(call)
        # Above all numbers that they get, so that none is overwritten before it is copied.
        given = [os.dup2(number, 200 + number) for number in given]
        for descriptor, number in zip(given, [0, 1, 2, *numbers], strict=True):
            os.dup2(descriptor, number)
        os.closerange(max([2, *numbers]) + 1, 300)
        if is_leader:
            os.setsid()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        command(arguments, prog_name="phoneprov")
    for descriptor in given:
        os.close(descriptor)
    connection.sendall(f"{child}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(BrokenPipeError):  # a test that did not wait for the end
        connection.sendall(f"{code}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
