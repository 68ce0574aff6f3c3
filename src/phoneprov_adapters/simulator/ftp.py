"""The FTP server of a simulated phone."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import io
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, cast

import aioftp
from aioftp.common import Connection
from aioftp.server import ConnectionConditions, PathConditions, PathPermissions

from phoneprov_adapters.simulator.events import FileArrived

CLOSE_SECONDS = 5.0

OnFile = Callable[[FileArrived], None]


def ftp_server(folder: Path, user: str, password: str, on_file: OnFile) -> aioftp.Server:
    """A server for one user whose root is ``folder``; ``on_file`` learns of every file that
    stands whole under its final name, before the client does."""
    # Called like a class, which is all that aioftp does with it.
    files = functools.partial(_WatchedFiles, on_file=on_file)
    server = _Server(
        [aioftp.User(user, password, base_path=folder)],
        path_io_factory=cast("type[_WatchedFiles]", files),
        socket_timeout=30,
        idle_timeout=300,
        path_timeout=30,
        maximum_connections=50,
    )
    # Like the servers met in the field: a rename replaces what stands there, SIZE answers.
    server.commands_mapping["rnto"] = functools.partial(_rename_onto, server)
    server.commands_mapping["size"] = functools.partial(_tell_size, server)
    return server


class _Server(aioftp.Server):
    """Clients that hang up are nothing to tell of.

    aioftp fails the task that waits for their next command, and when the connection ends
    otherwise at that moment, nobody asks why. And before Python 3.12 a task that waits with a
    deadline can overlook that it was cancelled: a session then never ends, nor does its server.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sessions: set[asyncio.Task[Any]] = set()
        self._parts: set[asyncio.Task[Any]] = set()

    async def dispatcher(self, *args: Any, **options: Any) -> None:
        _keep(self._sessions)
        # Nobody waits for it but asyncio's streams, which take it ill when it was cancelled.
        with contextlib.suppress(asyncio.CancelledError):
            await super().dispatcher(*args, **options)

    async def response_writer(self, *args: Any, **options: Any) -> None:
        _keep(self._parts)
        await super().response_writer(*args, **options)

    async def parse_command(self, *args: Any, **options: Any) -> tuple[str, str]:
        _keep(self._parts)
        return await super().parse_command(*args, **options)

    async def close(self) -> None:
        """Close, and cancel what sessions still wait for until they are gone."""
        closing = asyncio.ensure_future(super().close())
        async with asyncio.timeout(CLOSE_SECONDS):
            while self._sessions or self._parts or not closing.done():
                for task in self._parts:
                    task.cancel()
                await asyncio.wait({closing, *self._sessions, *self._parts}, timeout=0.01)


def _keep(tasks: set[asyncio.Task[Any]]) -> None:
    """Keep the task that runs this among ``tasks`` for as long as it runs."""
    task = asyncio.current_task()
    assert task is not None
    tasks.add(task)

    def ended(task: asyncio.Task[Any]) -> None:
        tasks.discard(task)
        if not task.cancelled():
            task.exception()

    task.add_done_callback(ended)


@ConnectionConditions(
    ConnectionConditions.login_required, ConnectionConditions.rename_from_required
)
@PathPermissions(PathPermissions.writable)
async def _rename_onto(
    server: aioftp.Server, connection: Connection, rest: str | PurePosixPath
) -> bool:
    final, _ = server.get_paths(connection, rest)
    temporary = connection.rename_from
    del connection.rename_from
    await connection.path_io.rename(temporary, final)
    connection.response("250", "renamed")
    return True


@ConnectionConditions(ConnectionConditions.login_required)
@PathConditions(PathConditions.path_must_exists, PathConditions.path_must_be_file)
@PathPermissions(PathPermissions.readable)
async def _tell_size(
    server: aioftp.Server, connection: Connection, rest: str | PurePosixPath
) -> bool:
    path, _ = server.get_paths(connection, rest)
    found = await connection.path_io.stat(path)
    connection.response("213", str(found.st_size))
    return True


class _WatchedFiles(aioftp.AsyncPathIO):
    """Files in a folder, worked on in threads; tells which have arrived."""

    def __init__(self, *args: Any, on_file: OnFile, **options: Any) -> None:
        super().__init__(*args, **options)
        self._on_file = on_file

    async def rename(self, source: Path, destination: Path) -> Path:
        renamed: Path = await super().rename(source, destination)
        await self._tell(destination)
        return renamed

    async def close(self, file: io.BytesIO) -> None:
        # A transfer closes its file also on the way out of a failure; only what was sent to
        # its end has arrived.
        whole = sys.exception() is None
        await super().close(file)
        if whole and file.mode != "rb":
            await self._tell(Path(file.name))

    async def _tell(self, path: Path) -> None:
        if path.name.startswith("."):
            return  # the temporary name of an upload that is not finished
        if arrived := await asyncio.to_thread(_arrived, path):
            self._on_file(arrived)


def _arrived(path: Path) -> FileArrived | None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return FileArrived(path.name, file.tell(), digest)
    except OSError:
        return None
