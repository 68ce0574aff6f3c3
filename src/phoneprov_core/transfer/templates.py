"""Import of templates: one variant per row."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of, wrong
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.templates.model import CreateTemplate, TemplatePatch
from phoneprov_core.templates.use_cases import Templates
from phoneprov_core.transfer.model import (
    Imported,
    Joined,
    Row,
    RowOutcome,
    RowProblem,
    Table,
    TransferTransaction,
    problems_of,
)

TEMPLATE_COLUMNS = ("name", "model", "software_type", "description", "body")


class _Undone(Exception):
    """Leaves the transaction without writing."""


async def import_templates(
    database: ReadAndWrite[TransferTransaction],
    templates: Templates,
    actor: Actor,
    table: Table,
    *,
    dry_run: bool,
    keep_going: bool,
) -> Imported:
    """Import the rows of one table in one transaction. A row names a variant by name, model and
    firmware family; one that does not exist is created.

    Writes all rows, or none if a row is wrong, unless ``keep_going``; with ``dry_run`` none. Raises
    ``Unavailable``.
    """
    counts: Counter[str] = Counter()
    problems: list[RowProblem] = []
    written = False
    try:
        async with database.write(by=actor) as tx:
            joined = dataclasses.replace(templates, database=Joined(tx))
            async for piece in table.pieces():
                for row in piece:
                    try:
                        counts[await _written(tx, joined, actor, row)] += 1
                    except Unavailable:
                        raise
                    except PhoneprovError as error:
                        problems += problems_of(row.line, error)
            if dry_run or (problems and not keep_going):
                raise _Undone
            written = True
    except _Undone:
        pass
    bad = len({problem.line for problem in problems})
    return Imported(total=counts.total() + bad, **counts, problems=tuple(problems), written=written)


async def _written(
    tx: TransferTransaction, templates: Templates, actor: Actor, row: Row | RowProblem
) -> RowOutcome:
    if isinstance(row, RowProblem):
        raise wrong(row.field, row.message)
    new = command_of(CreateTemplate, _fields(row.cells))
    same = [
        one
        for one in await tx.templates.variants(new.name)
        if (one.model, one.software_type) == (new.model, new.software_type)
    ]
    if not same:
        await templates.create(actor, new)
        return "created"
    before = same[0]
    description = new.description if "description" in row.cells else before.description
    if (before.body, before.description) == (new.body, description):
        return "unchanged"
    patch = TemplatePatch(body=new.body, description=description)
    await templates.update(actor, before.uuid, patch)
    return "updated"


def _fields(cells: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: cells[name] for name in TEMPLATE_COLUMNS if cells.get(name)}
    if "software_type" in fields:
        fields["software_type"] = fields["software_type"].strip().upper()
    return fields
