"""A SQLite connection in a thread of its own, which processes all waiting queries at once.

A query for one row takes a few microseconds; passing it to a thread and back costs several times as
much, and the two threads compete for the interpreter. So the thread takes all waiting queries
together and returns all results together: the higher the load, the cheaper a query. The event loop
never accesses the file, however slow the disk.
"""

import asyncio
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")

Rows = list[tuple[Any, ...]]
Step: TypeAlias = tuple[str, Sequence[Any]]
"""A statement and its parameters."""


class _Work(NamedTuple):
    answer: asyncio.Future[Rows]
    steps: tuple[Step, ...]


class SqliteThread:
    """``connect`` connects to the file at ``path``, in the thread. Work is processed in order."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self.path = path
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._waiting: deque[_Work] = deque()
        # One item for each time that the thread has to check for work.
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        """Connect. Raises ``sqlite3.Error``."""
        self._loop = loop = asyncio.get_running_loop()
        connected = loop.create_future()
        self._closing = False
        # A daemon: a process that ends without closing does not wait for it.
        self._thread = threading.Thread(
            target=self._run, args=(loop, connected), name="sqlite", daemon=True
        )
        self._thread.start()
        await connected

    async def close(self) -> None:
        """End the thread. Waiting work is cancelled."""
        self._closing = True
        self._woken.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        while self._waiting:
            self._waiting.popleft().answer.cancel()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; to be called when no work is in progress."""
        return self._connection is not None and self._connection.in_transaction

    def ask(self, *steps: Step) -> asyncio.Future[Rows]:
        """Execute the steps in order until one fails; returns the rows of the last. The future
        raises ``sqlite3.Error``; cancelling it does not stop the work."""
        assert self._loop is not None
        work = _Work(self._loop.create_future(), steps)
        if self._closing:
            work.answer.set_exception(sqlite3.ProgrammingError("the connection is closed"))
            return work.answer
        self._waiting.append(work)
        if len(self._waiting) == 1:
            # Woken at the end of this turn of the loop, when all its queries have been added.
            self._loop.call_soon(self._woken.put, None)
        return work.answer

    def _run(self, loop: asyncio.AbstractEventLoop, connected: asyncio.Future[None]) -> None:
        try:
            self._connection = connection = self._connect()
        except sqlite3.Error as error:
            loop.call_soon_threadsafe(_fail, connected, error)
            return
        loop.call_soon_threadsafe(connected.set_result, None)
        while not self._closing:
            if not self._waiting:
                self._woken.get()
                continue
            taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
            answers = [(work.answer, _done(connection, work.steps)) for work in taken]
            loop.call_soon_threadsafe(_hand_back, answers)
        self._connection = None
        connection.close()


def _done(connection: sqlite3.Connection, steps: tuple[Step, ...]) -> Rows | Exception:
    rows: Rows = []
    try:
        for sql, parameters in steps:
            rows = connection.execute(sql, parameters).fetchall()
    except Exception as error:  # noqa: BLE001 - it is raised where it was asked
        return error
    return rows


def _fail(future: asyncio.Future[None], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _hand_back(answers: list[tuple[asyncio.Future[Rows], Rows | Exception]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue  # The caller was cancelled.
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
