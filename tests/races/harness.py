"""``phoneprov serve`` with real worker processes and its own database, and connections to each
process."""

import asyncio
import re
import signal
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from phoneprov_adapters.composition.lifecycle import prepare
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.sql.engines.address import is_embedded
from races.direct import KEY, Direct, password_hash
from races.wire import Line
from races.workers import memory, owner_of, workers_of
from support.command_line import without_settings
from support.forked_commands import Forked
from support.planted import OF_ALL_TESTS, Search
from support.polling import wait_for
from support.scale import rounds

WORKERS = rounds(2, 4)
"""Number of worker processes: two race like four, and start in half the time."""

START_SECONDS = 150
"""Maximum seconds of a start on a busy machine; a quiet one takes two."""

_SECRETS = Search(OF_ALL_TESTS)
_ADDRESS = re.compile(r"serves on http://127\.0\.0\.1:(\d+)")


class Service:
    """A running service and its records."""

    def __init__(
        self, folder: Path, database_url: str | None, workers: int, **environment: str
    ) -> None:
        self.folder = folder
        self.environment = {
            "PHONEPROV_DATA_DIR": str(folder),
            "PHONEPROV_SECRET_KEYS": KEY,
            **({"PHONEPROV_DATABASE_URL": database_url} if database_url else {}),
            **environment,
        }
        self.settings = read_settings(self.environment)
        self.port = 0
        self.at_rest = 0
        """The memory of the worker processes after their first responses."""
        self.database_url = self.settings.database_url
        self.name = "SQLite" if is_embedded(self.database_url) else "PostgreSQL"
        self._workers = workers
        self._starts = 0
        self._process: Forked | subprocess.Popen[bytes] | None = None
        password_hash()

    @property
    def pids(self) -> list[int]:
        """The worker processes."""
        assert self._process is not None
        return workers_of(self._process.pid)

    def start(self) -> None:
        """Start the service, and wait until it is ready."""
        self._starts += 1
        self.at_rest = 0
        with self._log.open("ab") as log:
            self._process = Forked(
                ["serve", "--migrate", "--port", "0", "--workers", str(self._workers)],
                env=without_settings(**self.environment),
                stderr=log,
            )
        try:
            wait_for(self._answers, self._process, log=self.log_text, seconds=START_SECONDS)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def stop(self) -> None:
        """Stop the service with SIGTERM; its log must have no unexpected line."""
        process, self._process = self._process, None
        assert process is not None
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()
        assert "Traceback" not in self.log_text(), self.log_text()

    def log_text(self) -> str:
        """The log of the service, which must hold no secret of the tests."""
        content = self._log.read_text(encoding="utf-8")
        assert _SECRETS.in_text(content) == []
        return content

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _answers(self) -> bool:
        addresses = _ADDRESS.findall(self.log_text())
        if len(addresses) < self._starts:
            return False
        self.port = int(addresses[-1])
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5):
                return True
        except OSError:
            return False

    @asynccontextmanager
    async def lines(self, each: int) -> AsyncIterator[list[Line]]:
        """``each`` connections to every worker process, in turns: the first is to one worker, the
        second to another. Surplus connections stay open."""
        opened: list[Line] = []
        of_worker: dict[int, list[Line]] = {}
        try:
            async with asyncio.timeout(START_SECONDS):
                while not _enough(of_worker, self._workers, each):
                    fresh = await asyncio.gather(*(Line.open(self.port) for _ in range(each)))
                    opened += fresh
                    # A worker has certainly accepted a connection when it has responded on it.
                    await asyncio.gather(*(line.ask("GET", "/nothing") for line in fresh))
                    for line in fresh:
                        owner = await owner_of(line, self.pids, self.port)
                        if owner is not None:
                            of_worker.setdefault(owner, []).append(line)
            self.at_rest = self.at_rest or sum(map(memory, self.pids))
            turns = zip(*(lines[:each] for lines in of_worker.values()), strict=True)
            yield [line for turn in turns for line in turn]
        finally:
            await asyncio.gather(*(line.close() for line in opened))

    @asynccontextmanager
    async def direct(self) -> AsyncIterator[Direct]:
        """The database of the service, opened in this process too."""
        container = prepare(self.settings)
        database = container.database()
        await database.open()
        try:
            yield Direct(container)
        finally:
            await database.close()
            container.hasher.shutdown()


@contextmanager
def running(
    folder: Path, database_url: str | None, workers: int, **environment: str
) -> Iterator[Service]:
    """Start a service, and stop it after the block."""
    service = Service(folder, database_url, workers, **environment)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def _enough(of_worker: dict[int, list[Line]], workers: int, each: int) -> bool:
    return len(of_worker) == workers and min(map(len, of_worker.values())) >= each
