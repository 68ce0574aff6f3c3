"""From the trail of a transaction to audit entries."""

import re
from functools import cache
from typing import Any, Self

import msgspec
from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import Change, Event, Origin, Replaced, Trail, Version
from phoneprov_core.kernel.fields import fields_of
from phoneprov_core.kernel.ports import NewId
from phoneprov_core.kernel.secrets import masked_urls
from phoneprov_core.people.audit import CHANGED, AuditEntry, TracedEntry

BOOKKEEPING = frozenset({
    "uuid", "created_at", "created_by", "created_ip", "updated_at", "updated_by", "updated_ip",
    "last_uuid", "last_login_at", "last_login_ip", "last_logout_ip", "last_used_at", "hash",
    "version", "due", "change_uuid", "change_user_uuid", "not_before", "problem",
})  # fmt: skip
"""Fields that the service sets with each change, login or use; the entry itself states them."""


def entries(trail: Trail, *, new_id: NewId, now: str, origin: Origin) -> list[TracedEntry]:
    """The entries of a transaction, in the order of its changes: one for each record that it
    changed, and one for each event. An update that changes no value has no entry. Those of an actor
    with a right name it. ``new_id`` gives growing identifiers: entries of one moment are listed in
    their order."""
    by = trail.by
    if by is None:
        return []
    right = {} if by.right is None else {"right": {"old": None, "new": by.right}}
    made: dict[object, _Draft] = {}
    for number, record in enumerate(trail.records):
        if isinstance(record, Event):
            made[number] = _of_event(record)
        else:
            draft = _of_change(record)
            key = draft.resource, draft.resource_id
            made[key] = made[key].then(draft) if key in made else draft
    return [
        TracedEntry(
            AuditEntry(
                uuid=new_id(),
                at=now,
                actor_uuid=by.user_uuid or None,
                actor=by.username,
                token=by.token,
                client_ip=by.ip,
                request_id=origin.request_id,
                action=f"{draft.subject}.{draft.verb}",
                resource=draft.resource,
                resource_id=draft.resource_id,
                changes={**draft.changes, **right},
            ),
            origin.traceparent,
        )
        for draft in made.values()
        if draft.changes or draft.verb != "updated"
    ]


class _Draft(Struct):
    subject: str
    verb: str
    resource: str
    resource_id: str | None
    changes: dict[str, Any]

    def then(self, later: Self) -> Self:
        """Both changes of one record as one: what was created and updated was created."""
        changes = dict(self.changes)
        for field, change in later.changes.items():
            before = changes.get(field)
            if isinstance(before, dict) and isinstance(change, dict):
                changes[field] = {"old": before["old"], "new": change["new"]}
            else:
                changes[field] = change
        verb = self.verb if later.verb == "updated" else later.verb
        return type(self)(self.subject, verb, self.resource, self.resource_id, changes)


def _of_event(event: Event) -> _Draft:
    subject, _, verb = event.action.partition(".")
    changes = {
        field: (value if isinstance(value, Replaced) else Replaced(None, value))._asdict()
        for field, value in event.changes.items()
    }
    return _Draft(subject, verb, event.resource, event.resource_id, changes)


def _of_change(change: Change) -> _Draft:
    entity = change.after if change.after is not None else change.before
    assert entity is not None
    if isinstance(entity, Version):
        whole, key, number = entity.version_of()
        changes: dict[str, Any] = {"revision": {"old": number - 1 or None, "new": number}}
        return _Draft(whole, "updated", whole, key, changes)
    kind = type(entity)
    verb = "updated"
    if change.before is None:
        verb = "created"
    elif change.after is None:
        verb = "deleted"
    # A record that is gone shows no more when it began.
    hidden = BOOKKEEPING - {"created_at"} if verb == "deleted" else BOOKKEEPING
    changes = {
        field: _shown(kind, field, old, new)
        for field in entity.__struct_fields__
        if field not in hidden
        for old, new in [(_value(change.before, field), _value(change.after, field))]
        if old != new
    }
    changes |= dict.fromkeys(change.secrets, CHANGED)
    name = resource_of(kind)
    return _Draft(name, verb, name, change.key, changes)


@cache
def resource_of(kind: type[Struct]) -> str:
    """The name of a kind of record in entries: ``vendor_phone`` for ``VendorPhoneRecord``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__.removesuffix("Record")).lower()


@cache
def _secrets(kind: type[Struct]) -> set[str]:
    return {field.name for field in fields_of(kind) if field.is_secret}


@cache
def _urls(kind: type[Struct]) -> set[str]:
    return {field.name for field in fields_of(kind) if field.rule is values.service_url}


def _shown(kind: type[Struct], field: str, old: Any, new: Any) -> Any:
    """A change of a field: no value of a secret, of a URL none with login or secret parameters."""
    if field in _urls(kind):
        real, (old, new) = (old, new), (_masked(old), _masked(new))
        if old == new != real[1]:
            return CHANGED  # only what is masked
    return CHANGED if field in _secrets(kind) else {"old": old, "new": new}


def _masked(url: str | None) -> str | None:
    return None if url is None else masked_urls(url)


def _value(entity: Struct | None, field: str) -> Any:
    return None if entity is None else msgspec.to_builtins(getattr(entity, field))
