"""The command ``phoneprov`` for scripts of tests, without the time of its imports.

A server imports the commands once and forks for each call. Arguments, folder, environment and the
three standard streams are those of the caller. Only for commands that end by themselves.
"""

import gc
import json
import os
import select
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(8)], [0, 1, 2])
    server.sendall(call)
    sys.exit(int(server.recv(8) or 1))
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
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            try:
                yield folder
            finally:
                server.kill()


def serve(address: str) -> None:
    """Serve calls until the standard input ends."""
    command = import_module("phoneprov_http.main.cli").main
    for name in ("admin", "exporting", "importing", "keys"):
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
                    execute(command, connection)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass


def execute(command: Callable[..., NoReturn], connection: socket.socket) -> NoReturn:
    """Execute one call in a child process, and send its exit code."""
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    call = connection.makefile("rb").read(int.from_bytes(head))
    child = os.fork()
    if child == 0:
        arguments, folder, environment = json.loads(call)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        command(arguments, prog_name="phoneprov")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
