"""Logs as lines of JSON on standard error, one an event."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

import msgspec

from phoneprov_core.kernel.times import shown


class JsonLines(logging.Formatter):
    """One event, one line. JSON escapes line ends, so that no text can pose as an event."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, object] = {
            "at": shown(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        event |= getattr(record, "fields", {})
        if record.exc_info:
            event["trace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(event).decode()


def set_up_logs() -> None:
    """Send the events of this service to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("phoneprov")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
