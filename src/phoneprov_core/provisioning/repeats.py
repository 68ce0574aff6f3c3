"""Which requests for files get a row, and which new phones are noticed: a flood adds few."""

from collections import Counter

from phoneprov_core.kernel.addresses import address_key
from phoneprov_core.provisioning.model import Fetch, FetchResult

WINDOW_MS = 60_000
SERVED = 30
"""Rows for one file that an address fetched, in a window."""
UNSERVED = 200
"""Rows for different requests of an address that were not served, in a window, one for each."""
MOST = 10_000
"""Rows of requests that were served, and as many of others, in a window: addresses of requests that
were not served may be forged, and take no rows from the others."""

NEW_PHONES = 250
"""Different phones that an address can be, in an hour: those of an office with one address. A
client that makes up phones must not displace the others."""
_HOUR_MS = 3_600_000


class Repeats:
    """Counts the rows of the current window, in memory: the bounds are those of one process."""

    def __init__(self) -> None:
        self._ends_at = 0
        self._rows = Counter[tuple[str, ...]]()
        self._hour_ends_at = 0
        self._phones: dict[str, set[str]] = {}

    def is_noticed(self, client_ip: str, mac: str, now: int) -> bool:
        """Whether a request at ``now`` of a phone that is not in the inventory counts: it is listed
        as discovered, and may get the bootstrap configuration."""
        if not 0 < self._hour_ends_at - now <= _HOUR_MS or len(self._phones) >= MOST:
            self._hour_ends_at, self._phones = now + _HOUR_MS, {}
        phones = self._phones.setdefault(address_key(client_ip), set())
        if len(phones) < NEW_PHONES:
            phones.add(mac)
        return mac in phones

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
