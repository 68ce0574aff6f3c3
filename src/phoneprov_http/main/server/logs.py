"""Logs as lines of JSON on standard error, one an event."""

import logging
import os
import queue
import select
import sys
import threading
import time
import traceback
from logging.handlers import QueueHandler, QueueListener
from types import TracebackType
from typing import Any

import msgspec

from phoneprov_core.kernel.actor import NO_ORIGIN, current_origin

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
        return _encode(event).decode()

    def _shown(self, moment: float) -> str:
        # Hundreds of events share a second, of which all but the last digits are the same.
        second = int(moment)
        if second != self._second:
            self._second_shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._second_shown}.{int((moment - second) * 1000):03d}Z"


class LogQueue(QueueHandler):
    """Formats events, and leaves writing them to the thread of its listener.

    The caller never waits for a pipe that is not read. Lines are held for a tenth of a second; a
    warning or an error is written at once, with the lines before it. Lines that a stuck reader
    leaves no room for, or that a full disk refuses, are dropped and counted; the log reports their
    number as soon as it can be written. ``close``, which ``logging`` calls at the end of the
    process, writes waiting lines, for two seconds at most.
    """

    listener: "_Listener"

    def __init__(self, descriptor: int) -> None:
        listener = _Listener(descriptor)
        super().__init__(listener.waiting)
        self.setFormatter(JsonLines())
        self.listener = listener
        listener.start()

    def enqueue(self, record: logging.LogRecord) -> None:
        """Hand over the line, or count it as dropped."""
        self.listener.take(record)

    def show_crash(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Write the trace of an error that ends the process after the lines before it. Python would
        write it piece by piece, and lines could stand between the pieces."""
        if not self.listener.is_writing:
            sys.__excepthook__(kind, error, trace)
            return
        text = "".join(traceback.format_exception(kind, error, trace)).rstrip("\n")
        self.listener.take(logging.makeLogRecord({"msg": text, "levelno": logging.CRITICAL}))

    def close(self) -> None:
        """Write waiting lines, for two seconds at most."""
        self.listener.stop()
        super().close()


class _Listener(QueueListener):
    """Writes lines itself: ``logging.shutdown`` would wait for the lock of a handler that is
    stuck. After the first line it waits a moment for more, so that the thread takes the
    interpreter from the event loop once for all of them; it writes as many in one piece as a
    pipe keeps together."""

    def __init__(self, descriptor: int) -> None:
        self.waiting: queue.SimpleQueue[logging.LogRecord | None] = queue.SimpleQueue()
        super().__init__(self.waiting)
        self._descriptor = descriptor
        self._hurry = threading.Event()
        self._dropped = 0
        self._piece = b""

    @property
    def is_writing(self) -> bool:
        """Whether the thread runs. The process may have been stopped before it was started."""
        return self._thread is not None and self._thread.is_alive()

    def take(self, record: logging.LogRecord) -> None:
        """Queue a record, or count it as dropped."""
        if self.waiting.qsize() >= _MOST_WAITING:
            self._dropped += 1
            return
        self.waiting.put(record)
        if record.levelno >= logging.WARNING:
            self._hurry.set()

    def dequeue(self, block: bool) -> Any:
        was_empty = self.waiting.empty()
        if was_empty:
            self._flush()
        record = self.waiting.get(block)
        if record is None:  # the end
            self._flush()
        elif was_empty:
            self._hurry.wait(_GATHER_SECONDS)
            self._hurry.clear()
        return record

    def handle(self, record: logging.LogRecord) -> None:
        line = record.getMessage().encode() + b"\n"
        if len(self._piece) + len(line) > _WHOLE:
            self._write()
        self._piece += line

    def stop(self) -> None:
        """Write what is in the queue. A stuck reader does not keep the process from ending."""
        if self._thread is not None and self.is_writing:
            self.enqueue_sentinel()
            self._hurry.set()
            self._thread.join(_LAST_SECONDS)

    def _flush(self) -> None:
        """Write gathered lines, and the number of dropped lines."""
        self._write()
        if dropped := self._dropped:
            report = logging.LogRecord(
                "phoneprov.log", logging.ERROR, "", 0, "%d events were dropped.", (dropped,), None
            )
            if self._has_written(JsonLines().format(report).encode() + b"\n"):
                self._dropped -= dropped

    def _write(self) -> None:
        """Write whole lines, or count them as dropped."""
        piece, self._piece = self._piece, b""
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
    """Send events to standard error: events of this service, and warnings of its libraries. The
    trace of an error that ends the process follows them."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, LogQueue)]:
        root.removeHandler(handler)
        handler.close()
    lines = LogQueue(2)
    root.addHandler(lines)
    sys.excepthook = lines.show_crash
    logging.getLogger("phoneprov").setLevel(logging.INFO)
    # No line shows them, and each event would look them up.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
