"""Which requests for files get a row: a flood of them adds few."""

from phoneprov_core.kernel.addresses import address_key
from phoneprov_core.provisioning.model import Fetch, FetchResult

WINDOW_MS = 60_000
SERVED = 30
"""Rows for one file that an address fetched, in a window."""
UNSERVED = 200
"""Rows for different requests of an address that were not served, in a window; each request has
one."""
DIFFERENT = 10_000
"""Different requests in a window of which any gets a row: addresses may be forged."""


class Repeats:
    """Counts the requests of the current window, in memory: the bounds are those of one process."""

    def __init__(self) -> None:
        self._ends_at = 0
        self._counts: dict[tuple[str, ...], int] = {}

    def has_row(self, fetch: Fetch, now: int) -> bool:
        """Count a request at ``now``, in milliseconds: whether it gets a row."""
        if not 0 < self._ends_at - now <= WINDOW_MS:
            self._ends_at, self._counts = now + WINDOW_MS, {}
        address = address_key(fetch.client_ip)
        if fetch.result is FetchResult.SERVED:
            return self._is_within(SERVED, address, fetch.name.lower())
        request = (address, fetch.name, fetch.transport.value, fetch.result.value)
        return self._is_within(1, *request) and self._is_within(UNSERVED, address)

    def _is_within(self, most: int, *key: str) -> bool:
        if key not in self._counts and len(self._counts) >= DIFFERENT:
            return False
        count = self._counts[key] = self._counts.get(key, 0) + 1
        return count <= most
