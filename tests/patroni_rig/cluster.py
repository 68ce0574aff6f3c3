"""Two PostgreSQL servers under Patroni, with etcd and HAProxy: all from Debian."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import yaml

from support.postgres import ask
from support.postgres_binaries import as_server_user, make_folder

SCOPE = "phoneprov"
PASSWORD = "a password of the tests"
_SECONDS = 120.0
BINARIES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/lib/postgresql"))

HAPROXY = """
global
    maxconn 200
defaults
    mode tcp
    timeout connect 2s
    timeout client 30m
    timeout server 30m
    timeout check 1s
listen phoneprov
    bind 127.0.0.1:{port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Node:
    """One host: Patroni and its server."""

    def __init__(self, folder: Path, name: str, etcd: int) -> None:
        self.name = name
        self.port, self.rest = _port(), _port()
        self._folder = folder / name
        self._folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._folder, "nobody")
        self.data = self._folder / "data"
        self.file = self._folder / "patroni.yml"
        self._process: subprocess.Popen[bytes] | None = None
        self.file.write_text(yaml.safe_dump(self._settings(etcd)))

    def _settings(self, etcd: int) -> dict[str, object]:
        dcs = {
            "ttl": 20,
            "loop_wait": 2,
            "retry_timeout": 3,
            "synchronous_mode": True,
            "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 60}},
        }
        login = {"username": "postgres", "password": PASSWORD}
        return {
            "scope": SCOPE,
            "name": self.name,
            "restapi": {
                "listen": f"127.0.0.1:{self.rest}",
                "connect_address": f"127.0.0.1:{self.rest}",
            },
            "etcd3": {"hosts": [f"127.0.0.1:{etcd}"]},
            "bootstrap": {"dcs": dcs, "initdb": [{"encoding": "UTF8"}, "data-checksums"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.data),
                "bin_dir": str(BINARIES),
                "pgpass": str(self._folder / "pgpass"),
                "authentication": {"superuser": login, "replication": login},
                "parameters": {"unix_socket_directories": str(self._folder)},
                "pg_hba": [
                    "host all all 127.0.0.1/32 md5",
                    "host replication all 127.0.0.1/32 md5",
                ],
            },
        }

    def url(self, database: str = "postgres") -> str:
        return address(self.port, database)

    def start(self) -> None:
        """Start Patroni."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["/usr/bin/patroni", str(self.file)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                **as_server_user(self._folder),
            )

    def signal_patroni(self, number: signal.Signals) -> None:
        """Send a signal to Patroni alone."""
        assert self._process is not None
        self._process.send_signal(number)
        if number == signal.SIGKILL:
            self._process.wait()

    def signal_host(self, number: signal.Signals) -> None:
        """Send a signal to every process of the host."""
        assert self._process is not None
        pids = [self._process.pid]
        with suppress(OSError, ValueError, IndexError):
            pids.append(int((self.data / "postmaster.pid").read_text().split()[0]))
        # A process that is stopped starts no other.
        for pid in [*pids, *_children(pids)]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGKILL:
            self._process.wait()

    def close(self) -> None:
        if self._process is not None:
            self.signal_host(signal.SIGCONT)
            self.signal_host(signal.SIGKILL)


class Cluster:
    """Two nodes, and ``url`` of the database through HAProxy."""

    def __init__(self) -> None:
        self.folder = make_folder("patroni-")
        self._etcd_port, self._proxy_port = _port(), _port()
        self._others: list[subprocess.Popen[bytes]] = []
        self.nodes = [Node(self.folder, name, self._etcd_port) for name in ("db-1", "db-2")]

    def url(self, database: str) -> str:
        return address(self._proxy_port, database)

    async def start(self) -> None:
        """Start everything; returns when the standby is synchronous."""
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, _port()))
        self._run(
            "/usr/bin/etcd",
            *("--data-dir", str(self.folder / "etcd"), "--name", "one"),
            *("--listen-client-urls", client, "--advertise-client-urls", client),
            *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
            *("--initial-cluster", f"one={peer}"),
        )
        self.nodes[0].start()
        await self.leader()
        self.nodes[1].start()
        await self.synchronous()
        servers = "\n".join(
            f"    server {node.name} 127.0.0.1:{node.port} check port {node.rest}"
            for node in self.nodes
        )
        file = self.folder / "haproxy.cfg"
        file.write_text(HAPROXY.format(port=self._proxy_port, servers=servers))
        self._run("/usr/sbin/haproxy", "-db", "-f", str(file))

    def _run(self, *command: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self._others.append(
                subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            )

    async def leader(self) -> Node:
        """Wait for a node that states that it is the primary."""
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            for node in self.nodes:
                if await asyncio.to_thread(_is, "primary", node.rest):
                    return node
            await asyncio.sleep(0.1)
        raise TimeoutError("no node became the primary")

    def other(self, node: Node) -> Node:
        return next(one for one in self.nodes if one is not node)

    async def promoted(self, node: Node) -> None:
        """Wait until the server of the node accepts changes."""
        await _until(node.url(), "SELECT 1 WHERE NOT pg_is_in_recovery()")

    async def synchronous(self) -> None:
        """Wait until Patroni knows the synchronous standby: before, it promotes none."""
        standby = self.other(await self.leader())
        deadline = time.monotonic() + _SECONDS
        while not await asyncio.to_thread(_is, "synchronous", standby.rest):
            assert time.monotonic() < deadline, "the standby is not synchronous"
            await asyncio.sleep(0.1)

    def switchover(self, leader: Node) -> None:
        """Ask Patroni to make the other node the primary."""
        command = ["/usr/bin/patronictl", "-c", str(leader.file), "switchover", SCOPE]
        names = ["--master", leader.name, "--candidate", self.other(leader).name, "--force"]
        subprocess.run([*command, *names], check=True, capture_output=True, timeout=60)

    def close(self) -> None:
        for node in self.nodes:
            node.close()
        for process in self._others:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def address(port: int, database: str) -> str:
    password = PASSWORD.replace(" ", "%20")
    return f"postgresql+asyncpg://postgres:{password}@127.0.0.1:{port}/{database}"


def _is(role: str, rest: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{rest}/{role}", timeout=2) as reply:
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False


async def _until(url: str, sql: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        with suppress(Exception):  # the server may be unavailable meanwhile
            if await asyncio.wait_for(ask(url, sql), 2):
                return
        await asyncio.sleep(0.05)
    raise TimeoutError(sql)


def _children(pids: list[int]) -> list[int]:
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
    found = list(pids)
    for known in found:
        found += [pid for pid, parent in parents.items() if parent == known and pid not in found]
    return found[len(pids) :]
