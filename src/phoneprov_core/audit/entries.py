"""From the trail of a transaction to audit entries."""

from collections.abc import Mapping
from typing import Any, Self

import msgspec
from msgspec import Struct

from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.audit.model import CHANGED, AuditEntry, TracedEntry
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.extensions import Extension
from phoneprov_core.kems import Kem
from phoneprov_core.kernel.origin import Origin
from phoneprov_core.kernel.system import NewId
from phoneprov_core.kernel.trail import Change, Event, Trail
from phoneprov_core.links import Link
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import ProfileRecord, Revision
from phoneprov_core.users.model import User
from phoneprov_core.vendor_phones import VendorPhoneRecord
from phoneprov_core.vendor_services import VendorService
from phoneprov_core.vendor_users import VendorUser


class Resource(Struct, frozen=True):
    """How the changes of one kind of record are described. ``key`` is the field that identifies
    the record; of the fields in ``secrets`` no value is kept."""

    name: str
    key: str = "uuid"
    secrets: frozenset[str] = frozenset()


RESOURCES: Mapping[type[Struct], Resource] = {
    User: Resource("user"),
    Permission: Resource("permission"),
    Assignment: Resource("assignment", key="user_uuid"),
    Extension: Resource("extension", secrets=frozenset({"password", "voicemail_passcode"})),
    Link: Resource("link"),
    Phone: Resource("phone", key="mac"),
    Kem: Resource("kem"),
    VendorPhoneRecord: Resource("vendor_phone", key="mac"),
    VendorService: Resource("vendor_service"),
    VendorUser: Resource("vendor_user", key="user_uuid", secrets=frozenset({"pin_code"})),
    ProfileRecord: Resource("profile"),
    CompanyContact: Resource("company_contact"),
    PersonalContact: Resource("personal_contact"),
}
"""The kinds of record whose changes are audited. A revision counts as a change of its profile."""

BOOKKEEPING = frozenset(
    {
        "uuid",
        "created_at",
        "created_by",
        "created_ip",
        "updated_at",
        "updated_by",
        "updated_ip",
        "last_uuid",
        "last_login_at",
        "last_login_ip",
        "last_logout_ip",
    }
)
"""Fields that the service sets with each change or login; the entry itself states them."""


def entries(trail: Trail, *, new_id: NewId, now: str, origin: Origin) -> list[TracedEntry]:
    """The entries of a transaction, in the order of its changes: one for each record that it
    changed, and one for each event. An update that changes no value has no entry. ``new_id``
    gives growing identifiers: entries of one moment are listed in their order."""
    by = trail.by
    if by is None:
        return []
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
                client_ip=by.ip,
                request_id=origin.request_id,
                action=f"{draft.subject}.{draft.verb}",
                resource=draft.resource,
                resource_id=draft.resource_id,
                changes=draft.changes,
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
    changes = {field: {"old": None, "new": value} for field, value in event.changes.items()}
    return _Draft(subject, verb, event.resource, event.resource_id, changes)


def _of_change(change: Change) -> _Draft:
    entity = change.after if change.after is not None else change.before
    if isinstance(entity, Revision):
        old = entity.number - 1 or None
        changes: dict[str, Any] = {"revision": {"old": old, "new": entity.number}}
        return _Draft("profile", "updated", "profile", entity.profile_uuid, changes)
    assert entity is not None
    resource = RESOURCES[type(entity)]
    verb = "updated"
    if change.before is None:
        verb = "created"
    elif change.after is None:
        verb = "deleted"
    changes = {
        field: CHANGED if field in resource.secrets else {"old": old, "new": new}
        for field in entity.__struct_fields__
        if field not in BOOKKEEPING
        for old, new in [(_value(change.before, field), _value(change.after, field))]
        if old != new
    }
    changes |= dict.fromkeys(change.secrets, CHANGED)
    key = str(getattr(entity, resource.key))
    return _Draft(resource.name, verb, resource.name, key, changes)


def _value(entity: Struct | None, field: str) -> Any:
    return None if entity is None else msgspec.to_builtins(getattr(entity, field))
