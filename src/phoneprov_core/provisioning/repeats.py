"""Which requests for files get a row: a flood of them adds few."""

from collections import Counter

from phoneprov_core.kernel.addresses import address_key
from phoneprov_core.provisioning.model import Fetch, FetchResult

WINDOW_MS = 60_000
SERVED = 30
"""Rows for one file that an address fetched, in a window."""
UNSERVED = 200
"""Rows for different requests of an address that were not served, in a window; each request has
one."""
MOST = 10_000
"""Rows of requests that were served, and as many of others, in a window: addresses of requests that
were not served may be forged, and take no rows from the others."""


class Repeats:
    """Counts the rows of the current window, in memory: the bounds are those of one process."""

    def __init__(self) -> None:
        self._ends_at = 0
        self._rows = Counter[tuple[str, ...]]()

    def has_row(self, fetch: Fetch, now: int) -> bool:
        """Whether a request at ``now``, in milliseconds, gets a row."""
        if not 0 < self._ends_at - now <= WINDOW_MS:
            self._ends_at, self._rows = now + WINDOW_MS, Counter()
        address = address_key(fetch.client_ip)
        limits: dict[tuple[str, ...], int]
        if fetch.result is FetchResult.SERVED:
            limits = {("served",): MOST, (address, fetch.name.lower()): SERVED}
        else:
            request = (address, fetch.name, fetch.transport.value, fetch.result.value)
            limits = {("others",): MOST, (address,): UNSERVED, request: 1}
        if any(self._rows[key] >= most for key, most in limits.items()):
            return False
        self._rows.update(limits.keys())
        return True
