"""Several processes that serve side by side on one socket, and the one that watches them."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from multiprocessing.context import SpawnProcess

from phoneprov_http.main.serving.listener import let_nobody_in
from phoneprov_http.main.serving.server import STOP_SECONDS

log = logging.getLogger("phoneprov.workers")

Serve = Callable[[socket.socket, Callable[[], None]], None]
"""Serves in a worker process: it is given the socket, and what to call when it serves."""

_PAUSE_SECONDS = 1.0
"""Between the starts of workers that end at once."""
_LEAVE_SECONDS = STOP_SECONDS + 10
"""How long a worker may take to stop: requests, then what goes on without them."""

_context = multiprocessing.get_context("spawn")


class Workers:
    """``count`` processes that run ``serve``, a function of a module. One that ends is followed
    by another."""

    def __init__(self, serve: Serve, count: int, listener: socket.socket) -> None:
        self._serve = serve
        self._count = count
        self._listener = listener
        self._served = _context.Event()
        self._processes: list[SpawnProcess] = []
        self._started_at = 0.0
        self._told_to_stop = False

    def run(self) -> bool:
        """Until told to stop by SIGTERM or SIGINT: True. False when the first could not even
        start, which the next could not either."""
        with self._signals() as told:
            self._processes = [self._start() for _ in range(self._count)]
            could_start = True
            while could_start and not self._told_to_stop:
                connection.wait([told, *(process.sentinel for process in self._processes)])
                could_start = self._replace_ended(told)
            self._stop()
        return could_start

    @contextlib.contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """What becomes readable when a signal comes."""
        reading, writing = socket.socketpair()
        writing.setblocking(False)
        before = {
            number: signal.signal(number, self._told) for number in (signal.SIGTERM, signal.SIGINT)
        }
        wakeup = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        try:
            yield reading
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            reading.close()
            writing.close()

    def _told(self, *_: object) -> None:
        self._told_to_stop = True

    def _start(self) -> SpawnProcess:
        process = _context.Process(
            target=_work, args=(self._serve, self._listener, self._served), daemon=True
        )
        process.start()
        self._started_at = time.monotonic()
        return process

    def _replace_ended(self, told: socket.socket) -> bool:
        for place, process in enumerate(self._processes):
            if self._told_to_stop:
                break
            if process.is_alive():
                continue
            if not self._served.is_set():
                return False
            log.error("A worker process ended (%s); another takes its place.", process.exitcode)
            rest = self._started_at + _PAUSE_SECONDS - time.monotonic()
            if rest > 0:
                connection.wait([told], rest)
            if not self._told_to_stop:
                self._processes[place] = self._start()
        return True

    def _stop(self) -> None:
        let_nobody_in(self._listener)
        for process in self._processes:
            process.terminate()
        # From here on the workers alone hold it, until each has emptied its queue.
        self._listener.close()
        deadline = time.monotonic() + _LEAVE_SECONDS
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                log.error("A worker process did not stop in time and was ended.")
                process.kill()
                process.join()


def _work(serve: Serve, listener: socket.socket, served: threading.Event) -> None:
    threading.Thread(target=_leave_with_supervisor, daemon=True).start()
    serve(listener, served.set)


def _leave_with_supervisor() -> None:
    """A worker without a supervisor would hold the port against the next start."""
    supervisor = multiprocessing.parent_process()
    assert supervisor is not None
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)
