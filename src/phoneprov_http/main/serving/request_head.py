"""The bounds on the line and the fields of a request."""

from collections.abc import Sequence

LARGEST_HEAD = 64 * 1024
MOST_FIELDS = 100

NO_HTTP = "The request is not valid HTTP."
TOO_LARGE = "The header fields are too large."


class Objection(Exception):
    """A fault that the parser lets pass."""


class RequestHead:
    """The head of one request, while it arrives. Every method raises ``Objection``."""

    is_open = False
    """Whether the head is not complete. What has the form of fields later is a trailer."""
    _size = 0
    _fields = 0

    def begin(self) -> None:
        """The first byte of a request arrived."""
        self.is_open, self._size, self._fields = True, 0, 0

    def line(self, url: bytes) -> None:
        """A part of the request line arrived."""
        self._count(len(url))

    def field(self, name: bytes, value: bytes) -> None:
        """A field arrived."""
        self._count(len(name) + len(value) + 4)
        self._fields += 1
        if self._fields > MOST_FIELDS:
            raise Objection(TOO_LARGE)

    def complete(self, version: str, fields: Sequence[tuple[bytes, bytes]]) -> None:
        """The head is complete. It must name one host (RFC 9112 section 3.2)."""
        self.is_open = False
        hosts = sum(name == b"host" for name, _ in fields)
        if version not in {"1.0", "1.1"}:
            raise Objection(NO_HTTP)
        if hosts > 1 or (version == "1.1" and not hosts):
            raise Objection("The request must name one host.")

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST_HEAD:
            raise Objection(TOO_LARGE)
