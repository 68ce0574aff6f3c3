"""The actor of a use case: account, level and address; which levels an account holds, and what it
may do with shared records and with records of other users; the request that the actor sent, and the
trail: what a writing transaction changes for the actor. The origin is a context variable, so tasks
that a request starts belong to the request too."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.errors import Forbidden, ReadOnlyToken

R = TypeVar("R", bound=Struct)

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
    transaction. ``right`` is what the account may do beside its level, None for most accounts and
    for accounts with level 0; ``scope`` are the locations of the right, none for everywhere.
    """

    user_uuid: str
    level: int | None
    ip: str = "127.0.0.1"
    session_uuid: str | None = None
    level_rule: LevelRule = LevelRule.HIERARCHICAL
    username: str | None = None
    token: str | None = None
    read_only: bool = False
    right: str | None = None
    scope: tuple[str, ...] = ()

    def holds(self, level: int) -> bool:
        """Whether the account holds this level."""
        return self.level_rule.holds(self.level, level)

    def having(self, right: str | None, scope: tuple[str, ...]) -> Self:
        """The actor with the right of its account. Level 0 holds more than any right."""
        if right is None or self.holds(SUPERADMIN):
            return self
        return replace(self, right=right, scope=scope)


def system_actor(level_rule: LevelRule) -> Actor:
    """The local administrator, who holds level 0 and has no account: for scripts and for the
    command line. Changes are recorded as made by ``SYSTEM``, from 127.0.0.1. ``level_rule`` must be
    the rule of the service's settings: it decides whether another account holds level 0."""
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


Value = str | int | float | bool | None | list[str]


class Replaced(NamedTuple):
    """The old and the new value of a field, in an event that changed it."""

    old: Value
    new: Value


class Event(Struct, frozen=True):
    """Something that is not the change of one record, such as a failed login. ``action`` is
    ``<subject>.<verb in the past tense>``; ``changes`` holds values that are new, or
    ``Replaced``."""

    action: str
    resource: str
    resource_id: str | None = None
    changes: Mapping[str, Value | Replaced] = {}


@runtime_checkable
class Version(Protocol):
    """A record that is one version of another record: the audit trail shows it as an update of
    the other one."""

    def version_of(self) -> tuple[str, str, int]:
        """Kind and key of the other record, and the number of this version, from 1."""


class Change(Struct):
    """A record that was added (``before`` is None), changed, or removed (``after`` is None), by the
    key that identifies it. ``secrets`` names what changed beside the fields, such as a password."""

    key: str
    before: Struct | None
    after: Struct | None
    secrets: tuple[str, ...] = ()


class UseCaseTrail(Protocol):
    """What use cases see of a trail."""

    def note(self, event: Event) -> None:
        """Record an event. It is written when the transaction commits."""

    def changed(self, key: str, before: Struct | None, after: Struct | None) -> None:
        """Record the change of a record, where its store does not."""


class Trail(UseCaseTrail):
    """The changes and events of one writing transaction, in their order.

    The stores record each change of a record here, and use cases note events. The database turns
    the trail into audit entries before it commits, so that they are part of the transaction.
    Without an actor it is not ``active``, and nothing is recorded: for queries, and for maintenance
    and tests that write records directly. Raises ``ReadOnlyToken`` for an actor that only reads: a
    writing transaction has a trail.
    """

    def __init__(self, by: Actor | None = None) -> None:
        if by is not None and by.read_only:
            raise ReadOnlyToken
        self.by = by
        self.active = by is not None
        self.records: list[Change | Event] = []
        self._found: dict[tuple[type[Struct], str], Struct] = {}

    def changes(self) -> list[Change]:
        """The changes of records, without the events."""
        return [record for record in self.records if isinstance(record, Change)]

    def note(self, event: Event) -> None:
        if self.active:
            self.records.append(event)

    def remember(self, key: str, entity: Struct) -> None:
        """Remember a record as it was read in this transaction."""
        self._found[type(entity), key] = entity

    def known(self, kind: type[R], key: str) -> R | None:
        """The record as this transaction knows it, or None if it was not read."""
        return self._found.get((kind, key))  # type: ignore[return-value]

    def changed(
        self,
        key: str,
        before: Struct | None,
        after: Struct | None,
        *,
        secrets: tuple[str, ...] = (),
    ) -> None:
        """Record the change of a record."""
        if not self.active:
            return
        self.records.append(Change(key, before, after, secrets))
        if after is not None:
            self._found[type(after), key] = after
        elif before is not None:
            self._found.pop((type(before), key), None)


class SharedWrite(Enum):
    """Who may write shared records: phones, their parts, services, the company directory."""

    SUPERADMIN = "superadmin"
    BEARER = "bearer"


def require_superadmin(actor: Actor) -> None:
    """Raises ``Forbidden`` unless the actor holds level 0."""
    if actor.holds(SUPERADMIN):
        return
    if actor.right is not None:
        raise Forbidden(f"This needs permission level 0. {beyond_right(actor)} it.")
    raise Forbidden("This needs permission level 0.")


def may_write_shared(actor: Actor, rule: SharedWrite) -> bool:
    """Whether the actor may write shared records. With a right an account may not: it would move
    phones into its scope."""
    is_open = rule is SharedWrite.BEARER and actor.right is None
    return is_open or actor.holds(SUPERADMIN)


def require_shared_write(actor: Actor, rule: SharedWrite) -> None:
    """Raises ``Forbidden`` unless the actor may write shared records."""
    if not may_write_shared(actor, rule):
        require_superadmin(actor)


def may_act_for(actor: Actor, user_uuid: str) -> bool:
    """Whether the caller may read and change records of this user."""
    return actor.user_uuid == user_uuid or actor.holds(SUPERADMIN)


def require_owner(actor: Actor, user_uuid: str) -> None:
    """Raises ``Forbidden`` unless the actor is the user or holds level 0."""
    if not may_act_for(actor, user_uuid):
        more = "" if actor.right is None else f" {beyond_right(actor)} it."
        raise Forbidden(f"This belongs to another user.{more}")


def may_see_people(actor: Actor) -> bool:
    """Whether the actor may find accounts, extensions and profiles of others, without secrets."""
    return actor.right is not None or actor.holds(SUPERADMIN)


def require_people(actor: Actor) -> None:
    """Raises ``Forbidden`` unless the actor has the right helpdesk, or holds level 0. What phones
    show needs ``require_at`` as well."""
    if not may_see_people(actor):
        require_superadmin(actor)


def beyond_right(actor: Actor) -> str:
    """The begin of a sentence about what the actor's right does not include."""
    places = f"for {', '.join(actor.scope)}" if actor.scope else "for all locations"
    return f"The right {actor.right} {places} does not include"
