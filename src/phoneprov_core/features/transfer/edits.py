"""The same change to many records: what it would do to each, then one act for all that allow it."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, cast

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import encode
from msgspec.structs import replace as with_fields

from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.transfer.model import Joined, TransferTransaction
from phoneprov_core.features.transfer.sheets import SHEETS
from phoneprov_core.features.transfer.use_cases import Transfer
from phoneprov_core.inventory.phone_parts import VendorPhoneFlag, VendorPhones
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import Actor, Event, Replaced, Value, require_superadmin
from phoneprov_core.kernel.commands import Command, invalid
from phoneprov_core.kernel.errors import (
    AlreadyExists,
    Conflict,
    NotFound,
    PhoneprovError,
    Problem,
    Unavailable,
    require,
)
from phoneprov_core.kernel.fields import Check, Location, Uuid, schema
from phoneprov_core.kernel.ports import NewId
from phoneprov_core.kernel.values import known_id

MOST_EDITED = 5000
"""Maximum number of records of one act: as many phones as one batch restarts."""
PIECE = 200
"""Maximum number of records of one transaction, which other writers wait for."""
EDIT = "bulk_edit"
"""The resource of the audit entries of an act."""

EditedKind = Literal["phones", "users", "extensions"]
FIELDS: Mapping[str, tuple[str, ...]] = {
    "phones": ("location", "is_active", "vendor", "default_profile_uuid"),
    "users": ("location", "is_active"),
    "extensions": ("is_active",),
}
"""What can be edited in the records of each kind."""

Restart = Callable[[Actor, tuple[str, ...]], Awaitable[str]]
"""Port: starts a batch that restarts these phones, and returns its UUID."""

Noted = Mapping[str, Value | Replaced]


class EditedKey(Struct, frozen=True, forbid_unknown_fields=True):
    """A record to be edited."""

    key: Annotated[str, schema("MAC address of a phone, otherwise the UUID")]
    version: (
        Annotated[str, schema("As a dry run showed it: a record that differs is left alone")] | None
    ) = None


def _records(given: tuple[EditedKey, ...]) -> tuple[EditedKey, ...]:
    if not 1 <= len(given) <= MOST_EDITED:
        raise ValueError(f"must have 1 to {MOST_EDITED} elements")
    return given


class EditRequest(Command, frozen=True, kw_only=True):
    """The records, and the fields that they all get; a field that is not sent does not change."""

    records: Annotated[
        tuple[EditedKey, ...],
        Check(_records),
        schema("The records", minItems=1, maxItems=MOST_EDITED),
    ]
    location: Location | UnsetType | None = UNSET
    is_active: Annotated[bool, schema("Whether the record is active")] | UnsetType = UNSET
    vendor: Annotated[bool, schema("Vendor flag of the phones")] | UnsetType = UNSET
    default_profile_uuid: (
        Annotated[Uuid, schema("Profile of the phones while no user is logged in")]
        | UnsetType
        | None
    ) = UNSET
    restart: Annotated[bool, schema("Restart the active phones of the list in a batch")] = False
    dry_run: Annotated[bool, schema("Write nothing; report what would happen")] = False

    JSON_SCHEMA: ClassVar[dict[str, Any]] = {
        "examples": [{"records": [{"key": "00:1B:D4:12:34:56"}], "location": "Annex"}]
    }

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that are set, with their values."""
        names = FIELDS["phones"]
        return {name: value for name in names if (value := getattr(self, name)) is not UNSET}

    def problems(self) -> list[Problem]:
        if self.fields or self.restart:
            return []
        return [Problem("location", f"is required, or one of {', '.join(FIELDS['phones'][1:])}")]


class EditedRecord(Struct, frozen=True):
    """What an edit did to one record, or would do in a dry run."""

    key: Annotated[str, schema("MAC address of a phone, otherwise the UUID")]
    name: Annotated[str, schema("What people call it", examples=["Front desk"])]
    outcome: Annotated[
        Literal["changed", "unchanged", "refused", "unknown"],
        schema("`refused`: `message` says why; `unknown`: the database did not confirm it"),
    ]
    changes: Annotated[
        dict[str, Any],
        schema(
            "Old and new value of each field",
            examples=[{"location": {"old": "Hall", "new": "Annex"}}],
        ),
    ] = {}
    message: Annotated[str, schema("Why it was left alone")] | None = None
    version: Annotated[str, schema("What an edit sends so that it changes this state alone")] = ""
    restarts: Annotated[bool, schema("Whether the phone is one of the batch")] = False


class Edited(Struct, frozen=True):
    """The result of an edit: numbers of records, and each record in the order of the request."""

    edit: (
        Annotated[Uuid, schema("Names the edit in the audit trail; null if nothing changed")] | None
    )
    written: Annotated[bool, schema("Whether anything was written")]
    changed: Annotated[int, schema("Number of records that changed", minimum=0)]
    unchanged: Annotated[int, schema("Number of records that were so before", minimum=0)]
    refused: Annotated[int, schema("Number of records that were left alone", minimum=0)]
    restarts: Annotated[int, schema("Number of phones of the batch", minimum=0)]
    batch_uuid: Annotated[Uuid, schema("The batch that restarts the phones")] | None
    batch_problem: Annotated[str, schema("Why there is no such batch")] | None
    records: Annotated[tuple[EditedRecord, ...], schema("The records")]


CHANGED_SINCE = "It changed since the preview."


class _Undone(Exception):
    """Leaves the transaction without writing."""


@dataclass(frozen=True, kw_only=True)
class EditRecords:
    """Edits many records by the rules of their use cases; needs level 0."""

    transfer: Transfer
    vendor_phones: VendorPhones
    restart: Restart
    new_id: NewId

    async def __call__(self, actor: Actor, kind: str, request: EditRequest) -> Edited:
        """Change the records, up to ``PIECE`` of them in one transaction. A record that a rule
        forbids to change, that does not exist or that differs from its ``version`` is left alone
        and named; the others change. Then a batch restarts the phones. Raises ``NotFound`` for an
        unknown kind, ``Invalid`` for a field that the kind lacks or a record that is named twice;
        ``Unavailable`` only if nothing was written."""
        require_superadmin(actor)
        known = _checked(kind, request)
        act, records = self.new_id(), dict[str, EditedRecord]()
        keys = list(known)
        for at in range(0, len(keys), PIECE):
            # In the order of their keys: two edits wait for each other, and not in a circle.
            piece = {key: known[key] for key in sorted(keys[at : at + PIECE])}
            try:
                records |= await self._piece(actor, act, kind, piece, request)
            except Unavailable as away:
                if not any(one.outcome == "changed" for one in records.values()) or request.dry_run:
                    raise
                lost = EditedRecord("", "", "unknown", message=away.message)
                records |= {key: with_fields(lost, key=key, name=key) for key in piece}
                rest = EditedRecord("", "", "refused", message=away.message)
                records |= {key: with_fields(rest, key=key, name=key) for key in keys[at + PIECE :]}
                break
        done = tuple(records[key] for key in keys)
        macs = tuple(one.key for one in done if one.restarts)
        batch, problem = None, None
        if macs and not request.dry_run:
            batch, problem = await self._restarted(actor, act, macs)
        counts = {
            outcome: sum(one.outcome == outcome for one in done)
            for outcome in ("changed", "unchanged", "refused")
        }
        written = not request.dry_run and (counts["changed"] > 0 or batch is not None)
        return Edited(
            edit=act if written else None, written=written, **counts, restarts=len(macs),
            batch_uuid=batch, batch_problem=problem, records=done,
        )  # fmt: skip

    async def _restarted(
        self, actor: Actor, act: str, macs: tuple[str, ...]
    ) -> tuple[str | None, str | None]:
        """The batch, or why there is none. The records are written already."""
        try:
            batch = await self.restart(actor, macs)
        except PhoneprovError as error:
            return None, error.message
        with suppress(Unavailable):  # the batch has entries of its own
            async with self.transfer.database.write(by=actor) as tx:
                what: Noted = {"batch_uuid": batch, "phones": len(macs)}
                tx.trail.note(Event("batch.created", EDIT, act, what))
        return batch, None

    async def _piece(
        self,
        actor: Actor,
        act: str,
        kind: str,
        piece: Mapping[str, str | None],
        request: EditRequest,
    ) -> dict[str, EditedRecord]:
        """One transaction. It is repeated without the records that were refused in it, since a
        refusal may come after a part of the change."""
        refused = dict[str, EditedRecord]()
        while True:
            done, wrong = dict[str, EditedRecord](), dict[str, EditedRecord]()
            with suppress(_Undone):
                async with self.transfer.database.write(by=actor) as tx:
                    edit = _Edit(tx, self, actor, kind, request)
                    await edit.begin()
                    for key in [one for one in piece if one not in refused]:
                        try:
                            done[key] = await edit(key, piece[key])
                            await tx.flush()
                        except Unavailable:
                            raise
                        except PhoneprovError as error:
                            wrong[key] = edit.left_alone(key, error)
                            if isinstance(error, AlreadyExists):
                                break  # the transaction cannot be used any more
                    edit.note(act, done)
                    if wrong or request.dry_run:
                        raise _Undone
            refused |= wrong
            if not wrong:
                return done | refused


class _Edit:
    """The edit of the records of one transaction."""

    def __init__(
        self,
        tx: TransferTransaction,
        of: EditRecords,
        actor: Actor,
        kind: str,
        request: EditRequest,
    ) -> None:
        self._tx, self._actor, self._kind, self._request = tx, actor, kind, request
        self._sheet, joined = SHEETS[kind], cast("Any", Joined(tx))
        self._use_cases = replace(getattr(of.transfer, kind), database=joined)
        self._flags = replace(of.vendor_phones, database=joined)
        self._names = dict[str, str]()

    async def begin(self) -> None:
        """Lock the profile before any desk, as its deletion does."""
        if isinstance(profile := self._request.fields.get("default_profile_uuid"), str):
            await self._tx.profiles.find(profile)

    async def __call__(self, key: str, version: str | None) -> EditedRecord:
        """Change one record. Raises ``PhoneprovError``."""
        fields, request = self._request.fields, self._request
        record = require(await self._sheet.store(self._tx).find(key), self._kind.removesuffix("s"))
        self._names[key] = _name_of(record)
        before = {name: await self._value(record, name) for name in fields}
        state = hashlib.sha256(encode([record.updated_at, before])).hexdigest()[:16]
        if version not in {None, state}:
            raise Conflict(CHANGED_SINCE)
        changes = {
            name: {"old": old, "new": fields[name]}
            for name, old in before.items()
            if (old or None) != (fields[name] or None)
        }
        if changes:
            await self._write(key, {name: fields[name] for name in changes})
        is_active = fields.get("is_active", record.is_active)
        return EditedRecord(
            key,
            self._names[key],
            "changed" if changes else "unchanged",
            changes,
            "An inactive phone is not restarted." if request.restart and not is_active else None,
            state,
            request.restart and is_active,
        )

    def left_alone(self, key: str, error: PhoneprovError) -> EditedRecord:
        """The record of a refusal."""
        return EditedRecord(key, self._names.get(key, key), "refused", message=error.message)

    def note(self, act: str, done: Mapping[str, EditedRecord]) -> None:
        """Add the audit entries of the records that change; all of an act have it as resource."""
        for key, one in done.items():
            if one.changes:
                changes = {name: Replaced(**values) for name, values in one.changes.items()}
                what: Noted = {self._sheet.key: key, "name": one.name, **changes}
                self._tx.trail.note(
                    Event(f"{self._kind.removesuffix('s')}.edited", EDIT, act, what)
                )

    async def _value(self, record: Any, name: str) -> Any:
        if name == "vendor":
            flag = await self._tx.vendor_phones.find(record.mac)
            return flag is not None and flag.vendor
        if name == "default_profile_uuid":
            return (await self._tx.desks.find(record.mac)).default_profile_uuid
        return getattr(record, name)

    async def _write(self, key: str, fields: dict[str, Any]) -> None:
        own = {name: value for name, value in fields.items() if name in _OWN}
        if own:
            patch = self._sheet.patch(**own)
            await self._use_cases.update(self._actor, key, patch)
        if "vendor" in fields:
            flag = VendorPhoneFlag(vendor=fields["vendor"])
            await self._flags.save(self._actor, key, flag)
        if "default_profile_uuid" in fields:
            # After the phone: an inactive one takes every profile.
            default = DeskPatch(default_profile_uuid=fields["default_profile_uuid"])
            await configure(self._tx, key, default)


_OWN = {"location", "is_active"}
"""The fields of the records themselves."""


def _name_of(record: Any) -> str:
    if isinstance(record, Phone):
        return record.name or record.mac
    return str(record.username if hasattr(record, "username") else record.extension)


def _checked(kind: str, request: EditRequest) -> dict[str, str | None]:
    """The canonical keys with their versions, in order. Raises ``NotFound`` and ``Invalid``."""
    if kind not in FIELDS:
        raise NotFound(f"There are no such records; use one of {', '.join(FIELDS)}.")
    problems = [
        Problem(name, f"is not a field of {kind} that can be edited here")
        for name in request.fields
        if name not in FIELDS[kind]
    ]
    if request.restart and kind != "phones":
        problems.append(Problem("restart", "is for phones only"))
    known: dict[str, str | None] = {}
    for number, record in enumerate(request.records):
        try:
            key = values.mac(record.key) if kind == "phones" else known_id(record.key)
        except ValueError as error:
            problems.append(Problem(f"records[{number}].key", str(error)))
            continue
        if not key:
            problems.append(Problem(f"records[{number}].key", "must be a UUID"))
        elif key in known:
            problems.append(Problem(f"records[{number}].key", "is there more than once"))
        known[key] = record.version
    if problems:
        raise invalid(problems)
    return known
