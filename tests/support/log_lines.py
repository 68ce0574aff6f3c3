"""Log lines as the service writes them."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from phoneprov_http.main.server.logs import JsonLines


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class _Parsed(_Lines):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.events.append(json.loads(self.format(record)))


@contextmanager
def lines_of(logger: str) -> Iterator[list[dict[str, Any]]]:
    """The lines that a logger and its children write from level info on, parsed."""
    handler = _Parsed()
    with _attached(logger, handler):
        yield handler.events


@contextmanager
def raw_lines_of(logger: str) -> Iterator[list[str]]:
    """The same lines, unparsed."""
    handler = _Lines()
    with _attached(logger, handler):
        yield handler.lines


@contextmanager
def _attached(logger: str, handler: logging.Handler) -> Iterator[None]:
    log = logging.getLogger(logger)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
