"""Profiles and templates as rows of tables: a configuration or a variant per row."""

import dataclasses
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from phoneprov_core.features.templates.model import CreateTemplate, Template, TemplatePatch
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.features.transfer.model import (
    OWNER,
    Joined,
    Row,
    RowOutcome,
    TransferTransaction,
    named_user,
)
from phoneprov_core.features.transfer.sheets import truth
from phoneprov_core.features.transfer.whole import WholeTable, Write
from phoneprov_core.inventory.phones.model import FAMILIES
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of, wrong
from phoneprov_core.kernel.errors import Conflict

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
