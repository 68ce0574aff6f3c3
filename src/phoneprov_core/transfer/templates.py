"""Import of templates: one variant per row."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.templates.model import CreateTemplate, TemplatePatch
from phoneprov_core.templates.use_cases import Templates
from phoneprov_core.transfer.model import Joined, Row, RowOutcome, TransferTransaction
from phoneprov_core.transfer.profiles import Write

TEMPLATE_COLUMNS = ("name", "model", "software_type", "description", "body")


def write_template(tx: TransferTransaction, templates: Templates, actor: Actor) -> Write:
    """Writes the rows of one table. A row names a variant by name, model and firmware family; one
    that does not exist is created."""
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
        if (before.body, before.description) == (new.body, description):
            return "unchanged"
        patch = TemplatePatch(body=new.body, description=description)
        await joined.update(actor, before.uuid, patch)
        return "updated"

    return write


def _fields(cells: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: cells[name] for name in TEMPLATE_COLUMNS if cells.get(name)}
    if "software_type" in fields:
        fields["software_type"] = fields["software_type"].strip().upper()
    return fields
