"""The system clock and random identifiers."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime


def system_clock() -> datetime:
    """The current time in UTC, cut to milliseconds, so that stored and shown values are equal."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def random_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())
