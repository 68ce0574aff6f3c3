"""The bounds on open connections.

Each connection is an open file of the process. Without a bound, clients that open connections
and send nothing use up the limit, and then neither the database nor a phone can be reached.
"""

import contextlib
import errno
import logging
import resource
import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol, Self

from phoneprov_core.kernel.values import Network, address_key, address_of

log = logging.getLogger("phoneprov.connections")

MOST_FILES = 65_536
"""Limit of open files that a process asks for; a larger one serves no purpose here."""
RESERVED_FILES = 256
"""Open files kept free for the database, phones, servers and log."""
SHARE_OF_ONE = 4
"""One client address may hold the fourth part of all connections."""
_NOTE_SECONDS = 60.0


class Closable(Protocol):
    """A connection that can be closed at once."""

    def abort(self) -> None:
        """Close the connection without sending what is buffered."""


LEAST_FILES = 64
"""Open files below which the service does not start: its database alone needs about 20."""


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one, up to ``MOST_FILES``; the limit then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _files(hard)
    if _files(soft) < wanted:
        # macOS refuses what exceeds its own limit, which it does not report as the hard one.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return _files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _files(limit: int) -> int:
    return MOST_FILES if limit == resource.RLIM_INFINITY else min(limit, MOST_FILES)


def refusal_of(error: BaseException) -> str | None:
    """What a limit of the process refuses, and where the limit is set, in a sentence; None for
    another error."""
    number = getattr(error, "errno", None)
    if isinstance(error, MemoryError) or number == errno.ENOMEM:
        what = "more memory (ulimit -v, or MemoryMax of systemd, or the limit of the container)"
    elif number in {errno.EMFILE, errno.ENFILE}:
        what = "more open files (ulimit -n, or LimitNOFILE of systemd)"
    # Python has no error of its own for a thread that cannot be started.
    elif isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        what = "another thread (ulimit -u, TasksMax of systemd, or the limit of the container)"
    elif number == errno.EAGAIN:
        what = "another process (ulimit -u, TasksMax of systemd, or the limit of the container)"
    else:
        return None
    return f"The system refuses {what}."


class Connections:
    """The open connections of one process.

    At most ``most`` are open. When one more arrives, the connection that has waited longest for
    a whole request is closed for it; if all are being answered, the new one is refused. One
    client address (for IPv6 its /64) holds at most ``most_of_one``; addresses in ``trusted`` are
    proxies, which speak for many clients, and a client without an address is local: the
    second bound does not apply to them.
    """

    def __init__(self, most: int, most_of_one: int, trusted: Sequence[Network] = ()) -> None:
        self.most = most
        self.most_of_one = most_of_one
        self._trusted = trusted
        self._open: dict[Closable, str | None] = {}
        self._waiting: dict[Closable, None] = {}
        self._of: Counter[str] = Counter()
        self._unsaid: Counter[str] = Counter()
        self._said: dict[str, float] = {}

    @classmethod
    def within(cls, files: int, trusted: Sequence[Network] = ()) -> Self:
        """The bounds that fit into this number of open files."""
        most = files - min(RESERVED_FILES, files // 2)
        return cls(most, max(1, most // SHARE_OF_ONE), trusted)

    def admit(self, connection: Closable, address: str | None) -> bool:
        """Count a new connection in. False when it must be refused; then it is not counted."""
        key = self._key(address)
        if key is not None and self._of[key] >= self.most_of_one:
            self._say("client address refused", self.most_of_one, address)
            return False
        if len(self._open) >= self.most:
            self._say("limit of connections reached", self.most, address)
            oldest = next(iter(self._waiting), None)
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.abort()
        self._open[connection] = key
        self._waiting[connection] = None
        if key is not None:
            self._of[key] += 1
        return True

    def wait(self, connection: Closable) -> None:
        """The connection waits for a request; it is the last to be closed for another one."""
        if connection in self._open:
            self._waiting[connection] = None

    def work(self, connection: Closable) -> None:
        """The connection has a whole request and is not closed for another one."""
        self._waiting.pop(connection, None)

    def leave(self, connection: Closable) -> None:
        """Count a connection out; nothing happens if it is not counted."""
        self._waiting.pop(connection, None)
        key = self._open.pop(connection, None)
        if key is not None:
            self._of[key] -= 1
            if not self._of[key]:
                del self._of[key]

    def _key(self, address: str | None) -> str | None:
        ip = address_of(address or "")
        if ip is None or any(ip in network for network in self._trusted):
            return None
        return address_key(str(ip))

    def _say(self, event: str, limit: int, address: str | None) -> None:
        """Log an event, at most once a minute; ``connections`` counts those since the last."""
        self._unsaid[event] += 1
        now = time.monotonic()
        if now - self._said.get(event, -_NOTE_SECONDS) < _NOTE_SECONDS:
            return
        self._said[event] = now
        fields = {
            "limit": limit,
            "client_ip": address,
            "connections": self._unsaid.pop(event),
            "open": len(self._open),
        }
        log.warning(event, extra={"fields": fields})
