"""uvicorn's server, stopping in such a way that no request is dropped.

uvicorn closes its socket while connections wait in the kernel's queue, and closes a kept
connection in the very moment in which its next request may come in. Here, once told to stop:

1. Nobody new is let in, and who waits in the queue is still accepted.
2. Every reply says ``Connection: close`` from now on. A kept connection is left open a moment
   longer, for a request that is on its way.
3. Requests that have begun to arrive are answered, within ``STOP_SECONDS`` altogether.

What remains is HTTP's own: a client that says nothing for ``SILENCE_SECONDS`` and sends its
request in the instant in which its connection is closed learns that it was closed unanswered.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from phoneprov_adapters.composition.lifecycle import DRAIN_SECONDS
from phoneprov_http.main.serving.listener import let_nobody_in, somebody_waits

STOP_SECONDS = DRAIN_SECONDS + 1
_HANDSHAKE_SECONDS = 0.1
"""How long a connection may take that is half-way made."""
_QUEUE_SECONDS = 1.0
_IMPATIENCE_SECONDS = 1.0
_TICK = 0.02


class Server(uvicorn.Server):
    """Serves on one socket. ``alone`` unless other processes serve on the same; ``on_started``
    is called when it serves."""

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        *,
        alone: bool = True,
        on_started: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._alone = alone
        self._on_started = on_started
        self._has_begun = False
        self._told_at: float | None = None

    def run(self, sockets: object = None) -> None:  # noqa: ARG002 - it has its own
        """Serve until told to stop."""
        # What the start makes stays: the collector would look through it again and again.
        gc.disable()
        super().run()

    async def startup(self, sockets: object = None) -> None:  # noqa: ARG002 - it has its own
        """Open the application, then listen."""
        self._has_begun = True
        await super().startup([self._listener])
        gc.enable()
        if self._on_started is not None:
            self._on_started()

    async def shutdown(self, sockets: object = None) -> None:  # noqa: ARG002 - it has its own
        """Finish what was begun, then close the application."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + STOP_SECONDS
        await self._empty_queue()
        for server in self.servers:
            server.close()
        self._listener.close()
        while self._is_at_work() and not self.force_exit and loop.time() < deadline:
            for connection in list(self.server_state.connections):
                connection.shutdown()
            await asyncio.sleep(_TICK)
        for task in self.server_state.tasks:
            task.cancel()
        if not self.force_exit:
            await self.lifespan.shutdown()

    async def _empty_queue(self) -> None:
        if self._alone:
            let_nobody_in(self._listener)
        await asyncio.sleep(_HANDSHAKE_SECONDS)
        # Others that serve on the same socket may let new ones in all the time.
        for _ in range(round(_QUEUE_SECONDS / _TICK)):
            if not somebody_waits(self._listener):
                break
            await asyncio.sleep(_TICK)

    def _is_at_work(self) -> bool:
        return bool(self.server_state.connections or self.server_state.tasks)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop when told to. The signal is not raised again afterwards: who did as told ends
        with 0."""
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, _frame: object) -> None:
        """Stop; at once, at Ctrl-C for a second time. A Ctrl-C in a terminal reaches every
        process, and a worker is told by its supervisor as well: that is not impatience."""
        if not self._has_begun:
            sys.exit(0)
        now = time.monotonic()
        if self._told_at is None:
            self._told_at = now
            self.should_exit = True
        elif sig == signal.SIGINT and now - self._told_at > _IMPATIENCE_SECONDS:
            self.force_exit = True
