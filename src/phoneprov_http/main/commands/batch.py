"""``phoneprov batch``: switch or restart many phones, for the person at the machine."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click

from phoneprov_core.batches.model import Batch, BatchState, NewBatch, WantedPhones
from phoneprov_core.kernel.commands import Unchecked
from phoneprov_http.main.commands.batch_view import (
    following,
    show_batch,
    show_batch_and_phones,
    show_batches,
    write_json,
)
from phoneprov_http.main.commands.local_access import Acting, acting, profile_called
from phoneprov_http.main.commands.options import as_json

R = TypeVar("R")


@click.group()
def batch() -> None:
    """Switch or restart many phones at a pace."""


@batch.command()
@click.argument("action", type=click.Choice(["switch", "restart"]))
@click.option(
    "--profile",
    help="The profile that each phone is switched to, its name or uuid; without it, the one that "
    "is on each phone.",
)
@click.option("--revision", type=int, help="Not its newest revision, but this one.")
@click.option("--mac", "macs", multiple=True, help="A phone; can be given again.")
@click.option(
    "--macs-from",
    type=click.File(),
    help="A file with one MAC a line; - reads standard input.",
)
@click.option("--model", help="All phones of this model.")
@click.option("--location", help="All phones at this location.")
@click.option("--software-type", help="All phones of this firmware family.")
@click.option("--at-once", type=int, default=10, show_default=True, help="So many at a time.")
@click.option("--per-minute", type=int, help="So many are begun a minute.")
@click.option(
    "--stop-after-failures",
    type=int,
    default=25,
    show_default=True,
    metavar="PERCENT",
    help="Stop when so many per cent have failed, judged from 10 phones on; 0 for never.",
)
@click.option(
    "--wait-minutes",
    type=int,
    default=60,
    show_default=True,
    help="How long phones that are in a call are waited for.",
)
@click.option("--detach", is_flag=True, help="Do not work on it here: leave it to the service.")
@as_json
def start(
    macs: tuple[str, ...],
    macs_from: Any,
    profile: str | None,
    *,
    detach: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Switch or restart many phones, and show how far it is.

    The phones are listed with --mac and --macs-from, or are all active ones that agree with
    --model, --location and --software-type. Ctrl-C leaves the rest to the service, which goes on
    with it; `phoneprov batch cancel` ends it. Exits with 1 when a phone failed or was left out.
    """
    listed = [*macs, *(line.strip() for line in macs_from or () if line.strip())]
    if listed or macs_from:
        fields["macs"] = listed
    fields["stop_after_failures"] = fields["stop_after_failures"] or None

    async def work(act: Acting) -> Batch:
        if profile is not None:
            fields["profile_uuid"] = await profile_called(act, profile)
        new: Unchecked[NewBatch] = Unchecked(NewBatch, lambda: fields)
        begun = await act.use_cases.batches.start(act.actor, new)
        return begun if detach else await following(act, begun, quiet=as_json)

    seen = _run(work)
    if as_json:
        write_json(seen)
    elif detach:
        click.echo(f"The batch {seen.uuid} of {seen.phones.total} phones is left to the service.")
    else:
        show_batch(seen)
    if not detach and (seen.state is not BatchState.DONE or seen.phones.failed):
        sys.exit(1)


@batch.command()
@click.argument("uuid", required=False)
@click.option("--follow", is_flag=True, help="Show how far it is until it ends.")
@click.option(
    "--state",
    type=click.Choice(["waiting", "running", "done", "failed", "left_out"]),
    help="Of its phones only those that stand there.",
)
@as_json
def show(uuid: str | None, state: Any, *, follow: bool, as_json: bool) -> None:
    """Show one batch with its phones; without its UUID, all batches."""

    async def work(act: Acting) -> None:
        batches = act.use_cases.batches
        if uuid is None:
            await show_batches(await batches.all(act.actor), as_json=as_json)
            return
        seen = await batches.get(act.actor, uuid)
        if follow:
            seen = await following(act, seen, quiet=as_json)
        phones = await batches.phones(act.actor, uuid, WantedPhones(state=state))
        await show_batch_and_phones(seen, phones, as_json=as_json)

    _run(work)


@batch.command()
@click.argument("uuid")
@as_json
def cancel(uuid: str, *, as_json: bool) -> None:
    """Begin no further phone of a batch; those that were begun are brought to their end."""

    async def work(act: Acting) -> Batch:
        return await act.use_cases.batches.cancel(act.actor, uuid)

    seen = _run(work)
    if as_json:
        write_json(seen)
    else:
        show_batch(seen)


def _run(work: Callable[[Acting], Coroutine[Any, Any, R]]) -> R:
    async def opened() -> R:
        async with acting() as act:
            return await work(act)

    try:
        return asyncio.run(opened())
    except KeyboardInterrupt:
        click.echo("\nphoneprov: left; the service goes on with the batch when it runs.", err=True)
        sys.exit(130)
