"""Phones as of an earlier moment, and the records from which they are computed.

Each deployment records the file on a phone, and its user until the next deployment. Changes of
other records are in the audit trail: a record as of a moment is the record now, with its later
changes undone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.records import DeskRecord, EarlierUse
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.features.lines.model import Number, UsedPhone
from phoneprov_core.inventory.phones.model import Active, Model, Phone, PhoneName
from phoneprov_core.inventory.profiles.model import RevisionNumber, TemplateRevision
from phoneprov_core.kernel.commands import QueryCommand
from phoneprov_core.kernel.fields import (
    Location,
    MacAddress,
    Moment,
    OptionalLine,
    StoredMac,
    Uuid,
    schema,
)
from phoneprov_core.kernel.values import Timestamp
from phoneprov_core.switching.deployments.model import Outcome

NEVER = "Nothing was deployed to it."
UNDER_WAY = "A deployment was under way: the old or the new file was in place."
UNCERTAIN = "The outcome of a deployment is unknown: the old or the new file was in place."
CUT_OFF = "A deployment was interrupted: the old or the new file was in place."


class HistoryQuery(QueryCommand, frozen=True, kw_only=True):
    """The moment, and which phones of then a page shows."""

    at: (
        Annotated[
            Moment,
            schema(
                "The moment, with an offset or in UTC, now unless sent; changes of this moment are "
                "included"
            ),
        ]
        | None
    ) = None
    location: (
        Annotated[
            OptionalLine,
            schema(
                "Only phones that were at this location then; case is ignored",
                examples=["2nd floor"],
            ),
        ]
        | None
    ) = None
    mac: Annotated[MacAddress, schema("Only this phone")] | None = None
    after: (
        Annotated[MacAddress, schema("Begin after this phone, by MAC. Not allowed with `offset`")]
        | None
    ) = None


class PastPhone(Struct, frozen=True):
    """A phone as it was at a moment. A value that is not known is null."""

    mac: StoredMac
    name: PhoneName | None
    location: Location | None
    model: Model | None
    is_active: Active
    deployment_uuid: Annotated[Uuid, schema("Deployment whose file was in place")] | None
    profile_uuid: Annotated[Uuid, schema("Its profile, which may be deleted")] | None
    profile_name: Annotated[str, schema("Name of the profile when it was deployed")] | None
    revision: RevisionNumber | None
    template_name: Annotated[str, schema("Template that it was rendered from")] | None
    template_revision: TemplateRevision | None
    deployed_at: Annotated[Timestamp, schema("Time of that deployment")] | None
    is_known: Annotated[
        bool,
        schema("Whether it is known which file was in place; `message` says why not"),
    ]
    message: Annotated[str, schema("Why no deployment is shown; null if one is")] | None
    user_uuid: Annotated[Uuid, schema("User that was logged in")] | None
    username: Annotated[str, schema("Username of that user then", examples=["ada"])] | None
    since: Annotated[Timestamp, schema("Time of the login")] | None
    lines: (
        Annotated[
            tuple[str, ...],
            schema(
                "Numbers of its lines. Of a SIP phone these are the numbers that were rendered "
                "into its configuration: null if they are not known",
                examples=[["1001"]],
            ),
        ]
        | None
    )
    state: (
        Annotated[FleetState, schema("Worst state when last observed; null if not observed")] | None
    )
    state_since: Annotated[Timestamp, schema("Begin of that state")] | None


class Placed(Struct, frozen=True):
    """A deployment whose file was certainly in place. ``used_by`` is the use of the phone until the
    next deployment, None without a next one. ``numbers`` are the numbers in its text, None if
    unknown."""

    uuid: str
    profile_uuid: str
    profile_name: str
    revision: int
    template_name: str | None
    template_revision: int | None
    created_at: str
    used_by: EarlierUse | None
    numbers: tuple[str, ...] | None


class Begun(Struct, frozen=True):
    """The latest deployment that began and did not fail."""

    uuid: str
    created_at: str
    outcome: Outcome
    ended_at: str | None


class PastChange(Struct, frozen=True):
    """A change of a record in the audit trail. ``verb`` is ``created``, ``updated`` or
    ``deleted``."""

    key: str
    verb: str
    at: str
    changes: Mapping[str, Any]

    def old(self, field: str, otherwise: Any) -> Any:
        """The value of a field before the change."""
        change = self.changes.get(field)
        return change.get("old") if isinstance(change, dict) else otherwise


class PastRow(Struct, frozen=True):
    """The records of a phone around a moment: the phone and its desk now (None without), the latest
    certain deployment at the moment, the latest one that had begun by then, the owner of the
    profile of the latest one whose file was in place, certainly or perhaps, with its time, the
    first later changes of the use and of the number of the desk, and the state then."""

    mac: str
    phone: Phone | None = None
    desk: DeskRecord | None = None
    placed: Placed | None = None
    begun: Begun | None = None
    owner: tuple[str, str] | None = None
    use_change: PastChange | None = None
    number_change: PastChange | None = None
    state: FleetState | None = None
    state_since: str | None = None


Fields = Mapping[str, Any]


def before(now: Fields | None, changes: Iterable[PastChange]) -> Fields | None:
    """The fields of a record before these changes, the newest first; None if it did not exist."""
    for change in changes:
        old = {field: change.old(field, None) for field in change.changes}
        if change.verb == "created":
            now = None
        elif change.verb == "deleted":
            now = old
        elif now is not None:
            now = {**now, **old}
    return now


def phone_of(mac: str, fields: Fields) -> Phone:
    """The phone with these fields of a record. Without a time of creation, which old entries do not
    have, it counts as the phone of all deployments."""
    values: dict[str, Any] = {name: fields.get(name) for name in Phone.__struct_fields__}
    values |= {"mac": mac, "created_at": fields.get("created_at") or ""}
    return Phone(**values)


class Then(Struct, frozen=True):
    """A phone, and what was on it and who used it at a moment."""

    phone: Phone
    placed: Placed | None
    owner: tuple[str, str] | None
    message: str | None
    desk: DeskRecord
    own_number: str | None
    """The uuid of the extension of the desk."""

    def used(self, own: Number | None = None) -> UsedPhone:
        """The phone with the records that determine its lines."""
        owner, at = self.owner or (None, None)
        return UsedPhone(self.phone, self.desk, owner, at, own)


def then(row: PastRow, phone: Phone, at: str) -> Then:
    """What was on the phone and who used it at a moment."""
    placed, begun = row.placed, row.begun
    if placed is not None and placed.created_at < phone.created_at:
        placed = None  # of an earlier phone of this MAC
    if begun is not None and begun.created_at < phone.created_at:
        begun = None
    message = None
    if begun is None:
        message = NEVER
    elif placed is None or begun.uuid != placed.uuid:
        message = _why_unknown(begun, at)
    is_same = row.phone is not None and row.phone.created_at == phone.created_at
    now = row.desk if is_same and row.desk is not None else DeskRecord(row.mac)
    desk = _desk_then(row, placed, now, at)
    return Then(phone, placed, row.owner, message, desk, _number(row, now))


def _why_unknown(begun: Begun, at: str) -> str:
    if begun.ended_at is None or begun.ended_at > at:
        return UNDER_WAY
    return CUT_OFF if begun.outcome is Outcome.INTERRUPTED else UNCERTAIN


def _desk_then(row: PastRow, placed: Placed | None, now: DeskRecord, at: str) -> DeskRecord:
    """The use at the moment. During one deployment a use may end, but no new use begins. So the
    first change after the moment shows the use before this change."""
    followed = placed.used_by if placed is not None else None
    use = followed or now.use_until(at)
    change = row.use_change
    if change is not None and (followed is None or change.at <= followed.at):
        fields = {name: change.old(name, getattr(use, name)) for name in _USE}
        use = replace(use, **fields)
    if placed is None and (use.since is None or use.since > at):
        use = EarlierUse(at)  # that of a later deployment
    return DeskRecord(row.mac).given_back(use).as_of(at)


_USE = ("user_uuid", "profile_uuid", "since", "until", "left_user_uuid")


def _number(row: PastRow, now: DeskRecord) -> str | None:
    if row.number_change is None:
        return now.extension_uuid
    number: str | None = row.number_change.old("extension_uuid", None)
    return number


class HistoryStore(Protocol):
    """Records around an earlier moment. Every moment is a shown one; a change at the moment itself
    counts as made."""

    async def oldest(self, at: str) -> str | None:
        """The moment since which nothing was removed that says how phones were at this moment: the
        time of the oldest audit entry, or the moment up to which deployments or states were removed
        later than ``at``. None without any entry."""

    async def phones(
        self, at: str, *, after: str = "", limit: int = 1, mac: str | None = None
    ) -> list[PastRow]:
        """At most ``limit`` phones that are in the inventory or were deleted since the moment, by
        MAC, beginning after ``after``; with ``mac`` only this one. In one query."""

    async def changes(self, resource: str, since: str, keys: Sequence[str]) -> list[PastChange]:
        """What was created, updated or deleted of these records of a kind after the moment, newest
        first."""

    async def link_changes(self, since: str, users: Sequence[str]) -> list[PastChange]:
        """Which links of these users were created or deleted after the moment, newest first."""

    async def changed_hands(self, mac: str, number: int) -> bool:
        """Whether a login or logout brought a file to the phone after this deployment of it."""

    async def users(self, uuids: Sequence[str]) -> dict[str, Fields]:
        """Those of these users that exist: ``username`` and ``is_active``."""

    async def extensions(self, uuids: Sequence[str]) -> dict[str, Fields]:
        """Those of these extensions that exist: ``extension``, ``type`` and ``is_active``."""

    async def links(self, users: Sequence[str]) -> dict[str, Fields]:
        """The links of these users: ``user_uuid``, ``extension_uuid`` and ``created_at``."""


def by_key(changes: Iterable[PastChange]) -> dict[str, list[PastChange]]:
    """The changes of each record, in their order."""
    found: dict[str, list[PastChange]] = {}
    for change in changes:
        found.setdefault(change.key, []).append(change)
    return found


def all_before(now: Mapping[str, Fields], changes: Iterable[PastChange]) -> dict[str, Fields]:
    """The records that existed before these changes, the newest first."""
    undone = by_key(changes)
    keys = [*now, *(key for key in undone if key not in now)]
    found = {key: before(now.get(key), undone.get(key, ())) for key in keys}
    return {key: fields for key, fields in found.items() if fields is not None}
