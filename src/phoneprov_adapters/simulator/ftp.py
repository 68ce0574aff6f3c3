"""The FTP server of a simulated phone."""

from __future__ import annotations

import asyncio
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

OnFile = Callable[[FileArrived], None]


def ftp_server(folder: Path, user: str, password: str, on_file: OnFile) -> aioftp.Server:
    """A server for one user whose root is ``folder``; ``on_file`` learns of every file that
    stands whole under its final name, before the client does."""
    # Called like a class, which is all that aioftp does with it.
    files = functools.partial(_WatchedFiles, on_file=on_file)
    server = aioftp.Server(
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
