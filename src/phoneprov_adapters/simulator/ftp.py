"""The FTP server of a simulated phone."""

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
from msgspec import Struct

CLOSE_SECONDS = 5.0


class FileArrived(Struct, frozen=True):
    """A complete file under its final name: its size in bytes, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str


OnFile = Callable[[FileArrived], None]


def ftp_server(folder: Path, user: str, password: str, on_file: OnFile) -> aioftp.Server:
    """A server for one user whose root is ``folder``; ``on_file`` is called with every complete
    file under its final name, before the client gets its reply."""
    # A function in place of a class: aioftp only calls it.
    files = functools.partial(_WatchedFiles, on_file=on_file)
    server = _Server(
        [aioftp.User(user, password, base_path=folder)],
        path_io_factory=cast("type[_WatchedFiles]", files),
        socket_timeout=30,
        idle_timeout=300,
        path_timeout=30,
        maximum_connections=50,
    )
    # Like common servers: a rename replaces an existing file, and SIZE is supported.
    server.commands_mapping["rnto"] = functools.partial(_rename_onto, server)
    server.commands_mapping["size"] = functools.partial(_answer_size, server)
    return server


class _Server(aioftp.Server):
    """Ignores clients that disconnect.

    aioftp fails the task that waits for their next command; if the connection ends otherwise at
    that moment, the error is never retrieved. Before Python 3.12 a task that waits with a deadline
    may miss its cancellation: then the session and its server never end.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sessions: set[asyncio.Task[Any]] = set()
        self._parts: set[asyncio.Task[Any]] = set()

    async def dispatcher(self, *args: Any, **options: Any) -> None:
        _track(self._sessions)
        # Only asyncio's streams await it, and they fail if it was cancelled.
        with contextlib.suppress(asyncio.CancelledError):
            await super().dispatcher(*args, **options)

    async def response_writer(self, *args: Any, **options: Any) -> None:
        _track(self._parts)
        await super().response_writer(*args, **options)

    async def parse_command(self, *args: Any, **options: Any) -> tuple[str, str]:
        _track(self._parts)
        return await super().parse_command(*args, **options)

    async def _start_passive_server(self, connection: Connection, handler: Any) -> asyncio.Server:
        """As in aioftp, which does not close a data connection whose transfer ends before its file
        is open: each is closed with its session."""

        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            session = connection._dispatcher  # noqa: SLF001 - aioftp has no other name for it
            session.add_done_callback(lambda _: writer.close())
            await handler(reader, writer)

        return await super()._start_passive_server(connection, accepted)

    async def close(self) -> None:
        """Close, and cancel the waiting tasks of sessions until they have ended."""
        closing = asyncio.ensure_future(super().close())
        async with asyncio.timeout(CLOSE_SECONDS):
            while self._sessions or self._parts or not closing.done():
                for task in self._parts:
                    task.cancel()
                await asyncio.wait({closing, *self._sessions, *self._parts}, timeout=0.01)


def _track(tasks: set[asyncio.Task[Any]]) -> None:
    """Keep the task that runs this in ``tasks`` while it runs."""
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
async def _answer_size(
    server: aioftp.Server, connection: Connection, rest: str | PurePosixPath
) -> bool:
    path, _ = server.get_paths(connection, rest)
    found = await connection.path_io.stat(path)
    connection.response("213", str(found.st_size))
    return True


class _WatchedFiles(aioftp.AsyncPathIO):
    """Files in a folder, accessed in threads; reports complete files."""

    def __init__(self, *args: Any, on_file: OnFile, **options: Any) -> None:
        super().__init__(*args, **options)
        self._on_file = on_file

    async def rename(self, source: Path, destination: Path) -> Path:
        renamed: Path = await super().rename(source, destination)
        await self._report(destination)
        return renamed

    async def close(self, file: io.BytesIO) -> None:
        # A transfer also closes its file after a failure; only a transfer that was sent to its end
        # is complete.
        whole = sys.exception() is None
        await super().close(file)
        if whole and file.mode != "rb":
            await self._report(Path(file.name))

    async def _report(self, path: Path) -> None:
        if path.name.startswith("."):
            return  # The temporary name of a running upload.
        if arrived := await asyncio.to_thread(_arrived, path):
            self._on_file(arrived)


def _arrived(path: Path) -> FileArrived | None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return FileArrived(path.name, file.tell(), digest)
    except OSError:
        return None
