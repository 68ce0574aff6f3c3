"""The actor of a use case: account, level and address; which levels an account holds; and the
request that the actor sent.

The origin is a context variable, so tasks that a request starts belong to the request too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum

from msgspec import Struct

SUPERADMIN = 0


class LevelRule(Enum):
    """The rule of which levels an account holds.

    By default, a user at level N holds the levels 0 through N. Level 0 is the superadmin level, so
    *any* assignment makes a superadmin, and an account without one holds nothing. For ranks below
    superadmin, the strict rule is configured: a smaller number outranks a larger one.
    """

    HIERARCHICAL = "hierarchical"
    """Level N holds the levels 0 through N."""

    STRICT = "strict"
    """Level N holds N and every larger level; level 0 alone holds level 0."""

    def holds(self, assigned: int | None, required: int) -> bool:
        """Whether an account assigned ``assigned`` (None: nothing) holds ``required``."""
        if assigned is None:
            return False
        if self is LevelRule.STRICT:
            return assigned <= required
        return required <= assigned

    def largest_that_holds_superadmin(self) -> int | None:
        """The largest assigned level that still holds level 0; None when every level does."""
        return SUPERADMIN if self is LevelRule.STRICT else None


SYSTEM = "00000000-0000-0000-0000-000000000000"
"""The ``user_uuid`` of an actor without an account; no account has it."""


class Actor(Struct, frozen=True):
    """The account of a request, with its current level.

    ``level`` is the level of its permission assignment, None without one. ``ip`` is the
    address the request came from, stored in records, for instance as ``created_ip``.
    ``session_uuid`` is None for a caller without a session, such as a script. ``username``
    is kept in audit entries; None where it is not known. ``token`` is the name of the API token
    that the caller sent, None for one that logged in; a ``read_only`` one opens no writing
    transaction.
    """

    user_uuid: str
    level: int | None
    ip: str = "127.0.0.1"
    session_uuid: str | None = None
    level_rule: LevelRule = LevelRule.HIERARCHICAL
    username: str | None = None
    token: str | None = None
    read_only: bool = False

    def holds(self, level: int) -> bool:
        """Whether the account holds this level."""
        return self.level_rule.holds(self.level, level)


def system_actor(level_rule: LevelRule) -> Actor:
    """The local administrator, who holds level 0 and has no account: for scripts and for the
    command line. Changes are recorded as made by ``SYSTEM``, from 127.0.0.1.

    ``level_rule`` must be the one of the service's settings: it decides whether another account
    holds level 0.
    """
    return Actor(SYSTEM, SUPERADMIN, level_rule=level_rule, username="system")


SYSTEM_ACTOR = Actor(SYSTEM, SUPERADMIN, username="system")
"""The service itself, in background work and in commands that have no account."""


def anonymous(ip: str) -> Actor:
    """A client that has not proven an identity, such as one that guesses a password."""
    return Actor("", None, ip)


class Origin(Struct, frozen=True):
    """The request that something belongs to. ``traceparent`` is the caller's, if it was
    valid; ``client_ip`` is the address of the client."""

    request_id: str | None = None
    traceparent: str | None = None
    client_ip: str | None = None


NO_ORIGIN = Origin()

_current: ContextVar[Origin] = ContextVar("phoneprov_origin", default=NO_ORIGIN)


def current_origin() -> Origin:
    """The request that the running task belongs to; ``NO_ORIGIN`` outside requests."""
    return _current.get()


@contextmanager
def belonging_to(origin: Origin) -> Iterator[None]:
    """Everything inside, and every task started inside, belongs to this request."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)
