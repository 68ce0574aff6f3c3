"""Log lines for database failures: the cause, once a minute for each database host or file."""

import logging
import time

_SECONDS = 60.0
_logged_at: dict[str, float] = {}

log = logging.getLogger("phoneprov.database")


def log_failure(where: str, cause: str) -> None:
    """Log why the database at ``where`` cannot be used, unless the same was just logged."""
    now = time.monotonic()
    if now - _logged_at.get(where, -_SECONDS) < _SECONDS:
        return
    _logged_at[where] = now
    log.warning("The database %s cannot be used: %s", where, cause)
