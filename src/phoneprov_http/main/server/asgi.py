"""The ASGI entry, and the workers of a service."""

import contextlib
import functools
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing import connection
from multiprocessing.context import SpawnProcess

from litestar import Litestar
from litestar.types import ASGIApp

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import prepare, readiness, running
from phoneprov_adapters.composition.settings import Settings, check_names, read_settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_http.app import HttpSettings, create_app
from phoneprov_http.main.cli import refusal_of
from phoneprov_http.main.server.logs import set_up_logs
from phoneprov_http.main.server.metrics import with_metrics
from phoneprov_http.main.server.server import STOP_SECONDS
from phoneprov_http.main.server.sockets import handling_stops
from phoneprov_http.phone.language import BrokenCatalog, Languages


def make_app() -> ASGIApp:
    """The application with the settings of the environment."""
    set_up_logs()
    settings = read_settings(os.environ)
    check_names(settings)
    return app_over(prepare(settings))


def app_over(container: Container) -> ASGIApp:
    """The application over a container; the database is open while the server runs."""

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        async with running(container, may_be_offline=True, batches=True):
            # What start-up made stays for good: the collector need not look at it again,
            # which would stop the loop for tens of milliseconds now and then.
            gc.collect()
            gc.freeze()
            yield

    use_cases, settings = container.use_cases(), http_settings(container.settings())
    app = create_app(use_cases, settings, ready=readiness(container), lifespan=[lifespan])
    return with_metrics(app, container)


def http_settings(settings: Settings) -> HttpSettings:
    """The part of the settings that the HTTP side has."""
    return HttpSettings(
        largest_body=settings.body_max,
        trusted_proxies=settings.trusted_proxies,
        phone_services=settings.phone_services,
        phone_url=settings.phone_url,
        languages=languages_of(settings),
        console=settings.console,
        provider=settings.oidc_label if settings.oidc_issuer else "",
        public_url=settings.public_url,
        asterisk_token=settings.asterisk_token,
        asterisk_networks=settings.asterisk_networks,
        asterisk_pjsip=settings.asterisk_pjsip,
    )


def languages_of(settings: Settings) -> Languages:
    """The languages of the pages for phones. Raises ``SettingsError``."""
    try:
        return Languages(settings.locale_dir, settings.language)
    except ValueError as error:
        name = "PHONEPROV_LOCALE_DIR" if isinstance(error, BrokenCatalog) else "PHONEPROV_LANGUAGE"
        raise SettingsError(f"{name}: {error}.") from None


log = logging.getLogger("phoneprov.workers")

Serve = Callable[[Sequence[socket.socket], Callable[[], None]], None]
"""Serves in a worker process: takes the sockets, and what to call when it accepts connections."""

_SERVING = b"serving"
_PAUSE_SECONDS = 1.0
"""Between the starts of workers that end at once."""
LEAVE_SECONDS = STOP_SECONDS + 10
"""How long a worker may take to stop: requests first, then work without a client."""

_context = multiprocessing.get_context("spawn")


class Workers:
    """``count`` processes that run ``serve``, a function of a module. A worker that ends is
    replaced. ``on_started`` is called when the first one serves."""

    def __init__(
        self,
        serve: Serve,
        count: int,
        listeners: Sequence[socket.socket],
        on_started: Callable[[], None],
    ) -> None:
        self._serve = serve
        self._count = count
        self._listeners = listeners
        self._on_started = on_started
        self._ready, self._said_by_workers = _context.Pipe(duplex=False)
        self.refusal: str | None = None
        self._has_served = False
        self._processes: list[SpawnProcess] = []
        self._started_at = 0.0
        self._is_stopped = False

    def run(self) -> bool:
        """Run until a signal stops it: True. False if the workers fail before one has served,
        since their replacements would fail too; ``refusal`` is why, if a limit of the process or
        a failure of the service is the reason."""
        with self._signals() as stopped:
            self._processes = [self._start() for _ in range(self._count)]
            could_start = True
            while could_start and not self._is_stopped:
                connection.wait(
                    [stopped, self._ready, *(process.sentinel for process in self._processes)]
                )
                self._note_served()
                could_start = self._replace_ended(stopped)
            self._stop()
        return could_start

    @contextlib.contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """A socket that becomes readable when a signal arrives."""
        reading, writing = socket.socketpair()
        writing.setblocking(False)
        with reading, writing, handling_stops(self._stop_soon):
            wakeup = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
            try:
                yield reading
            finally:
                signal.set_wakeup_fd(wakeup)

    def _stop_soon(self, *_: object) -> None:
        self._is_stopped = True

    def _start(self) -> SpawnProcess:
        process = _context.Process(
            target=_work, args=(self._serve, self._listeners, self._said_by_workers), daemon=True
        )
        process.start()
        self._started_at = time.monotonic()
        return process

    def _note_served(self) -> None:
        while self._ready.poll():
            said = self._ready.recv_bytes()
            if said != _SERVING:
                self.refusal = said.decode()
                if self._has_served:
                    log.error("a worker process could not serve: %s", self.refusal)
            elif not self._has_served:
                self._has_served = True
                self._on_started()

    def _replace_ended(self, stopped: socket.socket) -> bool:
        for place, process in enumerate(self._processes):
            if self._is_stopped:
                break
            if process.is_alive():
                continue
            if not self._has_served:
                return False
            log.error("a worker process ended (%s) and is replaced", process.exitcode)
            rest = self._started_at + _PAUSE_SECONDS - time.monotonic()
            if rest > 0:
                connection.wait([stopped], rest)
            if not self._is_stopped:
                self._processes[place] = self._start_again() or process
        return True

    def _start_again(self) -> SpawnProcess | None:
        """A new worker; None if the system refuses one, which is tried again."""
        try:
            return self._start()
        except OSError as error:
            self._started_at = time.monotonic()
            reason = refusal_of(error) or type(error).__name__
            log.error("a worker process cannot be started and is tried again: %s", reason)
            return None

    def _stop(self) -> None:
        for process in self._processes:
            process.terminate()
        for listener in self._listeners:
            listener.close()
        deadline = time.monotonic() + LEAVE_SECONDS
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                log.error("a worker process did not stop in time and was killed")
                process.kill()
                process.join()


def _work(
    serve: Serve, listeners: Sequence[socket.socket], supervisor: connection.Connection
) -> None:
    try:
        threading.Thread(target=_leave_with_supervisor, daemon=True).start()
        serve(listeners, functools.partial(supervisor.send_bytes, _SERVING))
    except Exception as error:  # noqa: BLE001 - it ends the process
        known = error.message if isinstance(error, PhoneprovError) else refusal_of(error)
        if known is not None:  # the supervisor says it, once for all workers
            supervisor.send_bytes(known.encode())
            sys.exit(1)
        # multiprocessing would write the trace piece by piece, between lines of the log.
        sys.excepthook(*sys.exc_info())
        sys.exit(1)


def _leave_with_supervisor() -> None:
    """Stop when the supervisor has ended: a worker would keep the port from the next start."""
    supervisor = multiprocessing.parent_process()
    assert supervisor is not None
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)
