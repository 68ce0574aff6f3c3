"""The trail of a writing transaction: what it changes, and for which actor."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

from msgspec import Struct

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import ReadOnlyToken

R = TypeVar("R", bound=Struct)


Value = str | int | float | bool | None | list[str]


class Event(Struct, frozen=True):
    """Something that is not the change of one record, such as a failed login.

    ``action`` is ``<subject>.<verb in the past tense>``. ``changes`` holds field values that
    were not there before.
    """

    action: str
    resource: str
    resource_id: str | None = None
    changes: Mapping[str, Value] = {}


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
