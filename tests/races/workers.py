"""Worker processes in /proc: their ids, connections and memory."""

import asyncio
from pathlib import Path

from races.wire import SECONDS, Line

_PROC = Path("/proc")
MIB = 1024 * 1024


def workers_of(pid: int) -> list[int]:
    """The worker processes of the server ``pid``: its children, or itself if it has none."""
    children = (_PROC / str(pid) / "task" / str(pid) / "children").read_text().split()
    spawned = [int(child) for child in children if b"spawn_main" in _command(int(child))]
    return spawned or [pid]


def _command(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return b""


def owners(pids: list[int], server_port: int) -> dict[int, int]:
    """The worker of each connection, by the client's port."""
    inodes = _accepted(server_port)
    found: dict[int, int] = {}
    for pid in pids:
        for link in _links(pid):
            try:
                target = str(link.readlink())
            except (FileNotFoundError, ProcessLookupError):  # closed meanwhile
                continue
            if (port := inodes.get(target)) is not None:
                found[port] = pid
    return found


def _links(pid: int) -> list[Path]:
    try:
        return list((_PROC / str(pid) / "fd").iterdir())
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return []


async def owner_of(line: Line, pids: list[int], server_port: int) -> int | None:
    """The worker that has accepted a connection, None if the connection was closed.

    Linux omits some connections from its list while others change, so it is read until it has this
    one.
    """
    async with asyncio.timeout(SECONDS):
        while (pid := owners(pids, server_port).get(line.port)) is None:
            if line.is_closed:
                return None
            await asyncio.sleep(0.01)
    return pid


def _accepted(server_port: int) -> dict[str, int]:
    """The clients' ports, by the names of the servers' ends in a process's folder."""
    rows = (line.split() for line in (_PROC / "net" / "tcp").read_text().splitlines()[1:])
    return {
        f"socket:[{row[9]}]": int(row[2].rpartition(":")[2], 16)
        for row in rows
        if int(row[1].rpartition(":")[2], 16) == server_port
    }


def memory(pid: int) -> int:
    """The bytes of main memory of a process."""
    return _status(pid, "VmRSS")


def most_memory(pid: int) -> int:
    """The largest number of bytes since ``forget_most_memory``."""
    return _status(pid, "VmHWM")


def reset_peak_memory(pid: int) -> None:
    (_PROC / str(pid) / "clear_refs").write_text("5")


def _status(pid: int, name: str) -> int:
    for line in (_PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"Linux does not tell {name}")
