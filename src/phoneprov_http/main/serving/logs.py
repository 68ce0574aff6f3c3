"""Logs as lines of JSON on standard error, one an event."""

import atexit
import logging
import os
import select
import threading
import time
from collections import deque

import msgspec

from phoneprov_core.kernel.origin import NO_ORIGIN, current_origin

_encode = msgspec.json.Encoder().encode

_GATHER_SECONDS = 0.1
_MOST_WAITING = 20_000
"""Lines, some megabytes."""
_LAST_SECONDS = 2.0
_WHOLE = getattr(select, "PIPE_BUF", 512)
"""Bytes that reach a pipe in one piece, also while other processes write to it."""


class JsonLines(logging.Formatter):
    """One event, one line. JSON escapes line ends, so that no text can forge an event. A line that
    belongs to a request has its ``request_id``, ``traceparent`` and ``client_ip``."""

    def __init__(self) -> None:
        super().__init__()
        self._second = -1
        self._second_shown = ""

    def format(self, record: logging.LogRecord) -> str:
        return self.line(record).decode()

    def line(self, record: logging.LogRecord) -> bytes:
        """The line as bytes, without its end."""
        event: dict[str, object] = {
            "at": self._shown(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        event |= getattr(record, "fields", {})
        origin = current_origin()
        if origin is not NO_ORIGIN:
            for name in origin.__struct_fields__:
                if (value := getattr(origin, name)) is not None:
                    event.setdefault(name, value)
        if record.exc_info:
            event["trace"] = self.formatException(record.exc_info)
        return _encode(event)

    def _shown(self, moment: float) -> str:
        # Hundreds of events share a second, of which all but the last digits are the same.
        second = int(moment)
        if second != self._second:
            self._second_shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._second_shown}.{int((moment - second) * 1000):03d}Z"


class LogThread(logging.Handler):
    """Writes lines to a file descriptor from a thread of its own, many at a time.

    The caller never waits, neither for a pipe that is not read nor for the interpreter, which
    each write would hand to another thread. Lines are held for a tenth of a second; a warning
    or an error is written at once, with the lines before it. Lines that a stuck reader leaves no
    room for, or that a full disk refuses, are dropped and counted; the log reports their number
    as soon as it can be written.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines = JsonLines()
        self._waiting: deque[bytes] = deque()
        self._dropped = 0
        self._some = threading.Event()
        self._now = threading.Event()
        self._closing = False
        # A daemon: a reader that is stuck must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()
        # It becomes known to the library now, which closes at the end what it knows: a signal may
        # have stopped the process before the thread was started.
        super().__init__()
        atexit.register(self.close)

    def createLock(self) -> None:  # noqa: N802 - the library's name
        """No lock is needed: appending is one step."""
        self.lock = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self._lines.line(record)
        except Exception:  # noqa: BLE001 - the library's rule: logging never fails
            self.handleError(record)
            return
        if len(self._waiting) >= _MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append(line)
        if not self._some.is_set():
            self._some.set()
        if record.levelno >= logging.WARNING:
            self._now.set()

    def flush(self) -> None:
        """Write waiting lines soon."""
        self._some.set()
        self._now.set()

    def close(self) -> None:
        """Write waiting lines, for two seconds at most."""
        self._closing = True
        self.flush()
        self._thread.join(_LAST_SECONDS)
        atexit.unregister(self.close)
        super().close()

    def _run(self) -> None:
        while not (self._closing and not self._waiting):
            self._some.wait()
            if not self._closing:
                self._now.wait(_GATHER_SECONDS)
            self._some.clear()
            self._now.clear()
            self._write_all()

    def _write_all(self) -> None:
        piece = b""
        while self._waiting:
            line = self._waiting.popleft() + b"\n"
            if len(piece) + len(line) > _WHOLE:
                self._write(piece)
                piece = b""
            piece += line
        self._write(piece)
        dropped = self._dropped
        if dropped:
            record = logging.LogRecord(
                "phoneprov.log", logging.ERROR, "", 0, "%d events were dropped.", (dropped,), None
            )
            if self._has_written(self._lines.line(record) + b"\n"):
                self._dropped -= dropped

    def _write(self, piece: bytes) -> None:
        """Write whole lines, or count them as dropped."""
        if not self._has_written(piece):
            self._dropped += piece.count(b"\n")

    def _has_written(self, content: bytes) -> bool:
        while content:
            try:
                content = content[os.write(self._descriptor, content) :]
            except BlockingIOError:  # another process that shares it made it so
                select.select([], [self._descriptor], [])
            except OSError:  # a full disk, or standard error is closed
                return False
        return True


def set_up_logs() -> None:
    """Send events to standard error: those of this service, and warnings of its libraries."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, LogThread)]:
        root.removeHandler(handler)
        handler.close()
    root.addHandler(LogThread(2))
    logging.getLogger("phoneprov").setLevel(logging.INFO)
    # No line shows them, and each event would look them up.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
