"""The system clock, random identifiers and the number of processors."""

import os
import secrets
import time
import uuid
from datetime import UTC, datetime


def system_clock() -> datetime:
    """The current time in UTC, cut to milliseconds, so that stored and shown values are equal."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def processors() -> int:
    """The processors that this process may use: more threads would compete for them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def random_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())


_last = 0


def ordered_id() -> str:
    """A UUID of version 7 (RFC 9562): those of one process are in the order in which they were
    made, also within a millisecond."""
    global _last  # noqa: PLW0603 - the counter of RFC 9562, section 6.2
    _last = max(_last + 1, (time.time_ns() // 1_000_000) << 12)
    moment, counter = _last >> 12, _last & 0xFFF
    value = moment << 80 | 7 << 76 | counter << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))
