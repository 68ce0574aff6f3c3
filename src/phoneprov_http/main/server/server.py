"""uvicorn's server with a stop that answers every request it has accepted.

uvicorn closes a kept connection at the moment in which its next request may arrive, and raises
the signal again after the stop. Here a stop

1. closes the listening socket. Connections that the kernel has made and the server has not
   accepted are reset, unless another process (systemd, a parent) holds the socket open: then
   they wait for the next server;
2. announces ``Connection: close`` in every reply, and leaves a kept connection open a moment
   longer, for a request that is on its way;
3. answers requests that have begun to arrive, within ``STOP_SECONDS`` in all.

A client that is silent for ``SILENCE_SECONDS`` and sends its request at the instant in which its
connection is closed gets no answer: HTTP/1.1 cannot prevent this.
"""

import asyncio
import contextlib
import functools
import gc
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import uvicorn
from litestar.types import ASGIApp
from uvicorn.lifespan.on import LifespanOn

from phoneprov_adapters.composition.lifecycle import DRAIN_SECONDS
from phoneprov_core.kernel.values import Network
from phoneprov_http.main.server.bounds import Connections, raise_file_limit
from phoneprov_http.main.server.protocol import BoundedProtocol
from phoneprov_http.main.server.sockets import handling_stops

log = logging.getLogger("phoneprov.server")

STOP_SECONDS = DRAIN_SECONDS + 1
_IMPATIENCE_SECONDS = 1.0
_TICK = 0.02


class _Lifespan(LifespanOn):
    """Keeps why the application could not be opened or closed; uvicorn writes a traceback instead,
    and ends with 3."""

    failure: BaseException | None = None

    async def startup(self) -> None:
        """Open the application. Raises what that raised."""
        await super().startup()
        self._raise_failure()

    async def shutdown(self) -> None:
        """Close the application. Raises what that raised."""
        await super().shutdown()
        self._raise_failure()

    def _raise_failure(self) -> None:
        failure = self.failure
        while isinstance(failure, BaseExceptionGroup) and len(failure.exceptions) == 1:
            failure = failure.exceptions[0]
        if failure is not None:
            raise failure

    async def main(self) -> None:
        """Open and close the application."""
        versions = {"version": self.config.asgi_version, "spec_version": "2.0"}
        scope: Any = {"type": "lifespan", "asgi": versions, "state": self.state}
        try:
            await self.config.loaded_app(scope, self.receive, self.send)
        except BaseException as error:  # noqa: BLE001 - raised by the server
            self.failure = error
        finally:
            self.startup_event.set()
            self.shutdown_event.set()

    async def send(self, message: Any) -> None:
        """A failure, which Litestar sends as a traceback, is raised afterwards."""
        if not message["type"].endswith(".failed"):
            await super().send(message)


class _Config(uvicorn.Config):
    def load(self) -> None:
        """Load the application and its parts."""
        super().load()
        if self.lifespan == "on":
            self.lifespan_class = _Lifespan


class Server(uvicorn.Server):
    """Serves on these sockets. An idle connection is closed after ``keep_alive`` seconds.
    ``on_started`` is called when it accepts connections. ``app`` is
    an application without lifespan events; by default the HTTP service of the environment."""

    def __init__(
        self,
        listeners: Sequence[socket.socket],
        trusted_proxies: Sequence[Network] = (),
        *,
        keep_alive: int = 5,
        on_started: Callable[[], None],
        app: ASGIApp | None = None,
    ) -> None:
        self._bounds = Connections.within(raise_file_limit(), trusted_proxies)
        super().__init__(
            _Config(
                app or "phoneprov_http.main.server.asgi:make_app",
                factory=app is None,
                http=functools.partial(BoundedProtocol, bounds=self._bounds),  # type: ignore[arg-type]
                ws="none",
                lifespan="on" if app is None else "off",
                # Only PHONEPROV_TRUSTED_PROXIES are believed, by the application.
                proxy_headers=False,
                server_header=False,
                access_log=False,
                log_config=None,
                log_level="warning",
                timeout_keep_alive=keep_alive,
            )
        )
        self._listeners = listeners
        self._on_started = on_started
        self._has_begun = False
        self._stopped_at: float | None = None

    def run(self, sockets: object = None) -> None:  # noqa: ARG002 - it has its own
        """Serve until it is stopped."""
        # Objects made at the start stay: the collector would look through them again and again.
        gc.disable()
        super().run()

    async def startup(self, sockets: object = None) -> None:  # noqa: ARG002 - it has its own
        """Open the application, then listen."""
        self._has_begun = True
        await super().startup(list(self._listeners))
        gc.enable()
        _event(
            "serving",
            connections=self._bounds.most,
            connections_per_address=self._bounds.most_of_one,
        )
        self._on_started()

    async def shutdown(self, sockets: object = None) -> None:  # noqa: ARG002 - it has its own
        """Finish the requests that have begun, then close the application."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + STOP_SECONDS
        for server in self.servers:
            server.close()
        for listener in self._listeners:
            listener.close()
        _event(
            "stopping: accepted requests are finished",
            connections=len(self.server_state.connections),
        )
        is_at_work = True  # connections accepted last are not yet known
        while is_at_work and not self.force_exit and loop.time() < deadline:
            for connection in list(self.server_state.connections):
                connection.shutdown()
            await asyncio.sleep(_TICK)
            is_at_work = bool(self.server_state.connections or self.server_state.tasks)
        unfinished = len(self.server_state.tasks)
        for task in self.server_state.tasks:
            task.cancel()
        if not self.force_exit:
            await self.lifespan.shutdown()
        _event("stopped", unfinished_requests=unfinished)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal. It is not raised again afterwards: the process ends with 0."""
        with handling_stops(self.handle_exit):
            yield

    def handle_exit(self, sig: int, _frame: object) -> None:
        """Stop; at a second Ctrl-C, at once. A Ctrl-C in a terminal reaches every process, and
        the supervisor stops its workers as well: that is not a second one."""
        if not self._has_begun:
            sys.exit(0)
        now = time.monotonic()
        if self._stopped_at is None:
            self._stopped_at = now
            self.should_exit = True
        elif sig == signal.SIGINT and now - self._stopped_at > _IMPATIENCE_SECONDS:
            self.force_exit = True


def _event(event: str, **fields: object) -> None:
    log.info(event, extra={"fields": fields})
