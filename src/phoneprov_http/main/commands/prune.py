"""``phoneprov prune``: remove records that are older than the settings say."""

import asyncio
import sys

import click

from phoneprov_adapters.composition.lifecycle import migrate_embedded, opened, prepare
from phoneprov_core.retention.model import Pruned
from phoneprov_http.main.commands.options import as_json, print_json
from phoneprov_http.main.commands.output import table
from phoneprov_http.main.commands.settings import settings_of_installation


@click.command()
@click.option("--dry-run", is_flag=True, help="Count the records and remove none.")
@as_json
def prune(*, dry_run: bool, as_json: bool) -> None:
    """Remove old records now; "phoneprov serve" removes them every six hours.

    PHONEPROV_KEEP_DEPLOYMENTS, _KEEP_FETCHES, _KEEP_AUDIT and _KEEP_REVISIONS are days, and 0
    keeps the records for ever. The current configuration of each phone and those that a
    rollback can deploy are always kept. The service may run at the same time. Exits with 1 if
    one kind of record could not be removed.
    """
    pruned = asyncio.run(_prune(dry_run=dry_run))
    if as_json:
        print_json(pruned)
    else:
        columns = ("Kind", "Would be removed" if dry_run else "Removed", "")
        table(columns, [(one.kind.value, f"{one.count:,}", one.message or "") for one in pruned])
    if any(one.message is not None for one in pruned):
        sys.exit(1)


async def _prune(*, dry_run: bool) -> list[Pruned]:
    container = prepare(settings_of_installation())
    await migrate_embedded(container.settings())
    async with opened(container):
        return await container.prune()(dry_run=dry_run)
