"""Small questions to SQLite, answered beside the event loop, all that wait in one go.

A read by key takes a few microseconds; handing it to a thread and back costs several times
as much, and the two threads fight for the interpreter each time. So the thread takes
everything that waits at once and hands all answers back together: the busier the service,
the less a question costs. The loop itself never touches the file, however slow the disk.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Rows = list[tuple[Any, ...]]


class _Question(NamedTuple):
    answer: asyncio.Future[Rows]
    sql: str
    parameters: Sequence[Any]


class QuickReader:
    """One connection in one thread; ``connect`` is called there."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._waiting: deque[_Question] = deque()
        self._woken = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        """Connect. Raises ``sqlite3.Error``."""
        self._loop = loop = asyncio.get_running_loop()
        connected = loop.create_future()
        self._closing = False
        # A daemon: a process that ends without closing must not wait for it.
        self._thread = threading.Thread(
            target=self._run, args=(loop, connected), name="sqlite-reader", daemon=True
        )
        self._thread.start()
        await connected

    async def close(self) -> None:
        """End the thread. Questions that still wait are cancelled."""
        self._closing = True
        self._woken.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        while self._waiting:
            self._waiting.popleft().answer.cancel()

    async def ask(self, sql: str, parameters: Sequence[Any]) -> Rows:
        """The rows of one statement. Raises ``sqlite3.Error``."""
        assert self._loop is not None
        question = _Question(self._loop.create_future(), sql, parameters)
        self._waiting.append(question)
        if len(self._waiting) == 1:
            # Woken at the end of this turn of the loop, when all its questions are there.
            self._loop.call_soon(self._woken.set)
        return await question.answer

    def _run(self, loop: asyncio.AbstractEventLoop, connected: asyncio.Future[None]) -> None:
        try:
            connection = self._connect()
        except sqlite3.Error as error:
            loop.call_soon_threadsafe(_fail, connected, error)
            return
        loop.call_soon_threadsafe(connected.set_result, None)
        while True:
            self._woken.wait()
            self._woken.clear()
            if self._closing:
                break
            answers: list[tuple[asyncio.Future[Rows], Rows | Exception]] = []
            while self._waiting:
                question = self._waiting.popleft()
                answers.append((question.answer, _rows(connection, question)))
            if answers:
                loop.call_soon_threadsafe(_hand_back, answers)
        connection.close()


def _rows(connection: sqlite3.Connection, question: _Question) -> Rows | Exception:
    try:
        return connection.execute(question.sql, question.parameters).fetchall()
    except Exception as error:  # noqa: BLE001 - it is raised where the question was asked
        return error


def _fail(future: asyncio.Future[None], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _hand_back(answers: list[tuple[asyncio.Future[Rows], Rows | Exception]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue  # nobody waits for it any more
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
