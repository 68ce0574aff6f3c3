"""Profiles, templates and desks as rows of tables: a configuration, a variant or a phone per row.
The default profile of a desk is named by its owner and its name, so that another installation can
import the table."""

import dataclasses
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.features.desks.model import Desk, DeskPatch, EndsAt, Hotdesk, ListedDesk
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.templates.model import CreateTemplate, Template, TemplatePatch
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.features.transfer.model import (
    OWNER,
    Joined,
    Row,
    RowOutcome,
    TransferTransaction,
    WholeTable,
    Write,
    named_user,
    truth,
)
from phoneprov_core.inventory.extensions import CHAN_SCCP, ExtensionSearch
from phoneprov_core.inventory.phones.model import FAMILIES
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Command, command_of, record_of, wrong
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import MacAddress, OptionalLine
from phoneprov_core.kernel.ports import selected

PROFILE_COLUMNS = (
    OWNER, "name", "description", "compatible_models", "software_type", "template", "values",
    "cnf_xml",
)  # fmt: skip
"""The values of a template are a JSON object."""
VALUE = "values."
"""The beginning of the name of a column with one text of the values."""
PROFILES = WholeTable(PROFILE_COLUMNS, (OWNER, "name"), further=VALUE)


def profile_row(profile: Profile, username: str) -> dict[str, Any]:
    """A profile as a row with ``PROFILE_COLUMNS``."""
    row = {name: getattr(profile, name) or None for name in PROFILE_COLUMNS[1:]}
    models = "; ".join(profile.compatible_models)
    if _models(models) != profile.compatible_models:
        models = msgspec.json.encode(profile.compatible_models).decode()
    values = row["template"] and msgspec.json.encode(row["values"] or {}).decode()
    return {**row, OWNER: username, "compatible_models": models, "values": values}


def _models(cell: str) -> tuple[str, ...]:
    """Models, separated by commas or semicolons, or as a JSON list."""
    with suppress(msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(cell, type=tuple[str, ...])
    return tuple(part for part in re.split(r"\s*[;,]\s*", cell.strip()) if part)


class ProfileRows:
    """Writes the rows of one table. A row names a profile by its user and its name; a name that
    the user does not have creates a profile."""

    def __init__(self, tx: TransferTransaction, profiles: Profiles, actor: Actor) -> None:
        self._tx = tx
        self._profiles = dataclasses.replace(profiles, database=Joined(tx))
        self._actor = actor
        self._named: dict[str, dict[str, list[str]]] = {}
        self._lines: dict[tuple[str, str], int] = {}

    async def write(self, row: Row) -> RowOutcome:
        """See ``Write``."""
        owner = await named_user(self._tx.users, row.cells.get(OWNER, ""))
        values = _values(row.cells)
        name = str(values.get("name", ""))
        earlier = self._lines.setdefault((owner, name), row.line)
        if earlier != row.line:
            raise wrong("name", f"is on line {earlier} already")
        same = (await self._profiles_of(owner)).get(name, [])
        if len(same) > 1:
            raise Conflict(f"{len(same)} profiles of this user have this name.")
        if not same:
            if "name" not in values:
                raise wrong("name", "is required")
            if not values.get("cnf_xml") and not values.get("template"):
                raise wrong("cnf_xml", "is required")
            await self._profiles.create(self._actor, CreateProfile(user_uuid=owner, **values))
            return "created"
        patch = ProfilePatch(**values)
        before = await self._profiles.get(self._actor, same[0])
        if all(getattr(before, key) == getattr(patch, key) for key in values):
            return "unchanged"
        await self._profiles.update(self._actor, before.uuid, patch)
        return "updated"

    async def _profiles_of(self, owner: str) -> Mapping[str, list[str]]:
        if owner not in self._named:
            names = self._named[owner] = {}
            async for piece in await self._profiles.of_user(self._actor, owner):
                for profile in piece:
                    names.setdefault(profile.name, []).append(profile.uuid)
        return self._named[owner]


def _values(cells: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a profile. An empty cell clears a field that may be empty."""
    values: dict[str, Any] = {}
    for key in PROFILE_COLUMNS[1:]:
        cell = cells.get(key)
        if cell is None or (not cell and key in {"name", "cnf_xml", "template", "values"}):
            continue
        if key == "compatible_models":
            values[key] = _models(cell)
        elif key == "values":
            values[key] = _texts(cell)
        elif key == "software_type":
            values[key] = cell.strip().upper() or None
        else:
            values[key] = cell or None
    texts = {key.removeprefix(VALUE): cell for key, cell in cells.items() if key.startswith(VALUE)}
    if texts and values.get("template"):
        values["values"] = texts
    if (family := values.get("software_type")) is not None and family not in FAMILIES:
        raise wrong("software_type", f"must be {', '.join(FAMILIES)} or empty")
    return values


def _texts(cell: str) -> dict[str, str]:
    try:
        return msgspec.json.decode(cell, type=dict[str, str])
    except (msgspec.DecodeError, RecursionError):
        raise wrong("values", "must be a JSON object of texts") from None


TEMPLATE_COLUMNS = ("name", "model", "software_type", "description", "body", "shared")
TEMPLATES = WholeTable(TEMPLATE_COLUMNS, ("name", "body"))


def template_row(template: Template) -> dict[str, Any]:
    """A variant as a row with ``TEMPLATE_COLUMNS``."""
    return {name: getattr(template, name) for name in TEMPLATE_COLUMNS}


def write_template(tx: TransferTransaction, templates: Templates, actor: Actor) -> Write:
    """Writes rows. Each names a variant by name, model and firmware family, or creates it."""
    joined = dataclasses.replace(templates, database=Joined(tx))

    async def write(row: Row) -> RowOutcome:
        new = command_of(CreateTemplate, _fields(row.cells))
        same = [
            one
            for one in await tx.templates.variants(new.name)
            if (one.model, one.software_type) == (new.model, new.software_type)
        ]
        if not same:
            await joined.create(actor, new)
            return "created"
        before = same[0]
        description = new.description if "description" in row.cells else before.description
        shared = new.shared if row.cells.get("shared") else before.shared
        if (before.body, before.description, before.shared) == (new.body, description, shared):
            return "unchanged"
        patch = TemplatePatch(body=new.body, description=description, shared=shared)
        await joined.update(actor, before.uuid, patch)
        return "updated"

    return write


def _fields(cells: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: cells[name] for name in TEMPLATE_COLUMNS if cells.get(name)}
    if "software_type" in fields:
        fields["software_type"] = fields["software_type"].strip().upper()
    if "shared" in fields:
        fields["shared"] = truth(fields["shared"])
    return fields


_MOST_PROFILES = 1000
_PIECE = 500


class DeskRow(Struct, frozen=True):
    """What an administrator chose for a phone: the username of the owner and the name of the
    default profile, and the number of the desk itself."""

    created_at: str
    mac: str
    hotdesk: bool
    default_profile_user: str | None
    default_profile: str | None
    extension: str | None
    ends_at: str | None = None


class ListedDeskRow(DeskRow, frozen=True, kw_only=True):
    """A row of the list of desks: with what only people read."""

    name: str | None
    location: str | None
    username: str | None
    since: str | None
    until: str | None


def listed_row(one: ListedDesk) -> ListedDeskRow:
    """A desk of a list as a row."""
    shown = {name: getattr(one.desk, name) for name in ("username", "since", "until")}
    return record_of(ListedDeskRow, one, **_desk_columns(one), **shown)


def _desk_columns(one: ListedDesk) -> dict[str, Any]:
    desk = one.desk
    return {"hotdesk": desk.hotdesk, "extension": one.number, "ends_at": desk.ends_at}


class CreateDeskRow(Command, frozen=True, kw_only=True):
    """A row as it is written. Every phone has a desk, so that none is created."""

    mac: MacAddress
    hotdesk: Hotdesk = True
    default_profile_user: OptionalLine | None = None
    default_profile: OptionalLine | None = None
    extension: OptionalLine | None = None
    ends_at: EndsAt | None = None


class DeskRowPatch(Command, frozen=True, kw_only=True):
    """Changes to a desk."""

    hotdesk: Hotdesk | UnsetType = UNSET
    default_profile_user: OptionalLine | UnsetType | None = UNSET
    default_profile: OptionalLine | UnsetType | None = UNSET
    extension: OptionalLine | UnsetType | None = UNSET
    ends_at: EndsAt | UnsetType | None = UNSET


class DeskTable:
    """The desks of the inventory as rows."""

    def __init__(self, tx: TransferTransaction) -> None:
        self._tx = tx

    async def rows(
        self, limit: int, *, after: DeskRow | None = None, offset: int = 0, owner: str | None = None
    ) -> list[DeskRow]:
        """The desk of every phone, the oldest phone first."""
        last = None if after is None else _position(after)
        listed = await self._tx.listed_desks.rows(limit, after=last, offset=offset, owner=owner)
        return [record_of(DeskRow, one, **_desk_columns(one)) for one in listed]

    async def count(self, owner: str | None = None) -> int:
        """The number of desks."""
        return await self._tx.listed_desks.count(owner)

    async def find(self, key: str) -> DeskRow | None:
        """The desk of a phone of the inventory."""
        state = await self._tx.desks.at(key)
        if state is None:
            return None
        desk = state.desk
        profile = await self._tx.profiles.find(desk.default_profile_uuid or "")
        user = await self._tx.users.find(profile.user_uuid) if profile else None
        own = await self._tx.extensions.find(desk.extension_uuid or "")
        return DeskRow(
            state.phone.created_at,
            desk.mac,
            desk.hotdesk,
            user.username if user else None,
            profile.name if profile else None,
            own.extension if own else None,
            desk.ends_at,
        )

    async def update(self, actor: Actor, mac: str, patch: DeskRowPatch) -> None:  # noqa: ARG002
        """Raises ``Invalid`` and ``Conflict``."""
        await configure(self._tx, mac, await self.patch_of(patch))

    async def patch_of(self, patch: DeskRowPatch) -> DeskPatch:
        """The patch with the profile and the extension that the names mean. Raises ``Invalid``."""
        return DeskPatch(
            default_profile_uuid=await self._default(patch),
            hotdesk=patch.hotdesk,
            extension_uuid=await self._extension(patch.extension),
            ends_at=patch.ends_at,
        )

    async def _default(self, patch: DeskRowPatch) -> str | UnsetType | None:
        user, name = patch.default_profile_user or None, patch.default_profile or None
        if name is None and user is None:
            return UNSET if patch.default_profile is UNSET else None
        if not name or not user:
            missing = "default_profile_user" if name else "default_profile"
            raise wrong(missing, "is required: a profile is named by its user and its name")
        return await self._uuid_of(user, name)

    async def _uuid_of(self, username: str, name: str) -> str:
        owner = await named_user(self._tx.users, username, "default_profile_user")
        profiles = await self._tx.profiles.rows(_MOST_PROFILES, owner=owner)
        found = [profile.uuid for profile in profiles if profile.name == name]
        if len(found) != 1:
            many = f"{len(found)} profiles" if found else "no profile"
            raise wrong("default_profile", f"is the name of {many} of this user")
        return found[0]

    async def _extension(self, number: str | UnsetType | None) -> str | UnsetType | None:
        if number is UNSET or number is None:
            return number
        lines = selected(self._tx.extensions, ExtensionSearch(q=number, type=CHAN_SCCP))
        last = None
        while found := await lines.rows(_PIECE, after=last):
            for last in found:
                if last.extension == number:
                    return last.uuid
        raise wrong("extension", f"is not the number of an extension of the type {CHAN_SCCP}")


def _position(row: DeskRow) -> ListedDesk:
    desk = Desk(row.mac, None, row.hotdesk, None, None, None, None, None, None)
    return ListedDesk(row.created_at, row.mac, desk)
