"""``phoneprov serve`` with real worker processes over a database of its own, what lies behind
it, and connections to each of its processes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from sqlalchemy import NullPool, func, select
from sqlalchemy.ext.asyncio import create_async_engine

from phoneprov_adapters.container import Container
from phoneprov_adapters.security.argon2 import Argon2Hasher
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.settings import read_settings
from phoneprov_adapters.sql.choice import is_embedded
from phoneprov_adapters.sql.tables import assignments
from phoneprov_adapters.system import random_id, system_clock
from phoneprov_adapters.wiring import prepare
from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.auth.model import Lifetimes, TokenPair
from phoneprov_core.auth.sessions import new_session, token_pair
from phoneprov_core.kernel.times import shown
from phoneprov_core.users.model import User
from races.wire import Line
from races.workers import memory, owners, workers_of
from support.stores import a_user

KEY = "the key of all the races of the tests"
PASSWORD = "correct horse battery"

START_SECONDS = 150
"""On a machine that does much else at the same time; else it takes two."""

_ADDRESS = re.compile(r"serves on http://127\.0\.0\.1:(\d+)")


@cache
def _password_hash() -> str:
    """The hash of ``PASSWORD``, made once with the parameters of the service."""
    hasher = Argon2Hasher(SecretKeys.parse(KEY), workers=1)
    try:
        return asyncio.run(hasher.hash(PASSWORD))
    finally:
        hasher.close()


class Service:
    """The service as its operator runs it, and the records behind it."""

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
        """The memory of the worker processes when each had answered its first requests."""
        self.database_url = self.settings.database_url
        self.name = "SQLite" if is_embedded(self.database_url) else "PostgreSQL"
        self._workers = workers
        self._starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        _password_hash()

    @property
    def pids(self) -> list[int]:
        """The worker processes."""
        assert self._process is not None
        return workers_of(self._process.pid)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("PHONEPROV_")}
        self._starts += 1
        self.at_rest = 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "phoneprov_http.main", "serve", "--migrate"),
                    *("--port", "0", "--workers", str(self._workers)),
                ],
                env={**inherited, **self.environment},
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        try:
            while not self._answers():
                assert self._process.poll() is None, self.said()
                assert time.monotonic() < deadline, self.said()
                time.sleep(0.05)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def stop(self) -> None:
        """Stop it, as an operator does; it must have met with nothing unexpected."""
        process, self._process = self._process, None
        assert process is not None
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()
        assert "Traceback" not in self.said(), self.said()

    def said(self) -> str:
        """What it wrote to its log."""
        return self._log.read_text(encoding="utf-8")

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _answers(self) -> bool:
        addresses = _ADDRESS.findall(self.said())
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
        """So many connections to every worker process, taking turns: the first is one
        worker's, the second another's."""
        opened: list[Line] = []
        of_worker: dict[int, list[Line]] = {}
        try:
            async with asyncio.timeout(START_SECONDS):
                while not _enough(of_worker, self._workers, each):
                    fresh = await asyncio.gather(*(Line.open(self.port) for _ in range(each)))
                    opened += fresh
                    # Only a connection that was answered on is known to be a worker's.
                    for line in fresh:
                        await line.ask("GET", "/nothing")
                    owner = owners(self.pids, self.port)
                    for line in fresh:
                        of_worker.setdefault(owner[line.port], []).append(line)
            self.at_rest = self.at_rest or sum(map(memory, self.pids))
            turns = zip(*(lines[:each] for lines in of_worker.values()), strict=True)
            yield [line for turn in turns for line in turn]
        finally:
            await asyncio.gather(*(line.close() for line in opened))

    @asynccontextmanager
    async def behind(self) -> AsyncIterator[Behind]:
        """What lies behind it, opened in this process too."""
        container = prepare(self.settings)
        database = container.database()
        await database.open()
        try:
            yield Behind(container)
        finally:
            await database.close()
            container.hasher().close()


def _enough(of_worker: dict[int, list[Line]], workers: int, each: int) -> bool:
    return len(of_worker) == workers and min(map(len, of_worker.values())) >= each


class Behind:
    """The same database, without HTTP before it: prepares a race and looks at its end."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self.database = container.database()
        self._tokens = container.tokens()

    async def account(
        self, *, level: int | None = None, is_active: bool = True, username: str | None = None
    ) -> User:
        """A new account with the usual password."""
        uuid = random_id()
        name = username or f"user-{uuid}"
        user = a_user(1, uuid=uuid, username=name, email=f"{uuid}@example.com", is_active=is_active)
        await self.put(user, level=level)
        return user

    async def put(self, user: User, *, level: int | None = None) -> None:
        """Make an account stand exactly as it is here, whatever became of it."""
        permission = None if level is None else await self.permission(level)
        async with self.database.write() as tx:
            if await tx.users.find(user.uuid) is None:
                await tx.users.add(user)
            else:
                await tx.users.put(user)
            await tx.users.set_password_hash(user.uuid, _password_hash())
            if permission is None:
                await tx.assignments.remove(user.uuid)
            else:
                await tx.assignments.assign(
                    Assignment(
                        random_id(),
                        user.uuid,
                        permission.uuid,
                        permission.level,
                        permission.name,
                        shown(system_clock()),
                    )
                )

    async def permission(self, level: int) -> Permission:
        """The permission of this level, made when there is none."""
        async with self.database.write() as tx:
            for permission in await tx.permissions.rows(1000):
                if permission.level == level:
                    return permission
            permission = Permission(
                random_id(), level, f"level {level}", None, shown(system_clock())
            )
            await tx.permissions.add(permission)
            return permission

    async def sessions(self, user_uuid: str, count: int = 1) -> list[TokenPair]:
        """The tokens of so many new sessions, as logins would have opened them."""
        now, lifetimes = system_clock(), Lifetimes()
        opened = [
            new_session(random_id(), user_uuid, random_id(), now, lifetimes) for _ in range(count)
        ]
        async with self.database.write() as tx:
            for session in opened:
                await tx.sessions.start(session)
        return [
            token_pair(
                self._tokens,
                session.uuid,
                user_uuid,
                access_id=random_id(),
                refresh_id=session.token_id,
                now=now,
                lifetimes=lifetimes,
            )
            for session in opened
        ]

    async def holds(self, level: int, user_uuid: str) -> bool:
        """Whether an account is there, active, and holds a level."""
        rule = self.container.settings().level_rule
        async with self.database.read() as tx:
            user = await tx.users.find(user_uuid)
            assignment = await tx.assignments.of_user(user_uuid)
        active = user is not None and user.is_active
        return active and assignment is not None and rule.holds(assignment.level, level)

    async def assignments_of(self, user_uuid: str) -> int:
        """How many assignments a user has, counted in the table itself."""
        engine = create_async_engine(self.container.settings().database_url, poolclass=NullPool)
        statement = select(func.count()).where(assignments.c.user_uuid == user_uuid)
        try:
            async with engine.connect() as connection:
                return int((await connection.execute(statement)).scalar_one())
        finally:
            await engine.dispose()

    async def dismiss_everybody(self) -> None:
        """Take every assignment away."""
        async with self.database.write() as tx:
            for user in await tx.users.rows(1000):
                await tx.assignments.remove(user.uuid)
