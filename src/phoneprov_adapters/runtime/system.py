"""The clock and the identifiers of the real world."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime


def system_clock() -> datetime:
    """The current moment in UTC, cut to milliseconds: what is stored is what is shown."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def random_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())
