"""Server processes: pinned to processors, with a bounded duration. Their processor time and memory
are read from /proc."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

START_SECONDS = 30.0
STOP_SECONDS = 10.0
IDLE_SECONDS = 30.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server process and all its children."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.name = name
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._process = process
        self._log = log

    def cpu_seconds(self) -> float:
        """Processor time of the server and its children."""
        return sum(cpu_seconds(pid) for pid in self._pids())

    def memory_mib(self) -> float:
        """Resident memory of the largest of its processes."""
        return max(resident_mib(pid) for pid in self._pids())

    def peak_mib(self) -> float:
        """Maximum resident memory of its largest process so far."""
        return max(_status_kib(pid, "VmHWM") for pid in self._pids()) / 1024

    def _pids(self) -> list[int]:
        return [self._process.pid, *descendants(self._process.pid)]

    def wait_for(self, path: str) -> None:
        """Wait until the server responds with 200; raises RuntimeError with its log."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with urllib.request.urlopen(self.url + path, timeout=2) as reply:
                    reply.read()
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.002)
        raise RuntimeError(f"{self.name} does not answer: {self.log_text()}")

    def wait_until_idle(self) -> None:
        """Wait until the server is idle; raises RuntimeError after a deadline."""
        deadline, before = time.monotonic() + IDLE_SECONDS, -1.0
        while (now := self.cpu_seconds()) != before:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} does not come to rest: {self.log_text()}")
            before = now
            time.sleep(0.2)

    def log_text(self) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-1500:]

    def stop(self) -> None:
        """End the server and all its children."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        # The process group has no other process.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)


@contextlib.contextmanager
def server(
    name: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    processors: set[int],
    folder: Path,
    ready: str,
) -> Iterator[Server]:
    """Run a server until it responds at ``ready``. ``{port}`` in the command is replaced by a free
    port. It runs on ``processors`` alone, and its output goes to a file in ``folder``."""
    port = free_port()
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [part.format(port=port) for part in command],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    os.sched_setaffinity(process.pid, processors)
    started = Server(name, process, port, log)
    try:
        started.wait_for(ready)
        yield started
    finally:
        started.stop()


@contextlib.contextmanager
def pinned(processors: set[int]) -> Iterator[None]:
    """Pin this thread to these processors during the block."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and their descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in map(int, children) for one in (child, *descendants(child))]


def resident_mib(pid: int) -> float:
    """Resident memory of a process, in mebibytes; 0 if it has ended."""
    return _status_kib(pid, "VmRSS") / 1024


def cpu_seconds(pid: int) -> float:
    """Processor time of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _status_kib(pid: int, name: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    return 0
