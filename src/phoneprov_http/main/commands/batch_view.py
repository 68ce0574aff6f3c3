"""Batches on a terminal, and as JSON."""

import asyncio
import sys

import click
import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from phoneprov_core.batches.model import Batch, BatchPhone
from phoneprov_core.kernel.paging import Listing
from phoneprov_http.main.commands.local_access import Acting, console
from phoneprov_http.main.commands.output import moment, table

LOOK_SECONDS = 0.25


async def following(act: Acting, batch: Batch, *, quiet: bool) -> Batch:
    """Wait until the batch has ended. A terminal shows the progress, on standard error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    disable = quiet or not sys.stderr.isatty()
    with Progress(*columns, console=console(stderr=True), disable=disable) as progress:
        task = progress.add_task("", total=batch.phones.total)
        while True:
            counts = batch.phones
            over = counts.ended + counts.left_out
            progress.update(task, completed=over, description=_how_far(batch))
            if batch.ended_at is not None:
                return batch
            await asyncio.sleep(LOOK_SECONDS)
            batch = await act.container.batches().get(act.actor, batch.uuid)


def _how_far(batch: Batch) -> str:
    counts = batch.phones
    failed = f", {counts.failed} failed" if counts.failed else ""
    unknown = f", {counts.unknown} unknown" if counts.unknown else ""
    return f"{batch.action.value}: {counts.done} done{failed}{unknown}, {counts.running} running"


def show_batch(batch: Batch) -> None:
    """A batch in a few lines."""
    counts = batch.phones
    click.echo(f"The batch {batch.uuid} ({batch.action.value}) is {batch.state.value}.")
    numbers = {
        "waiting": counts.waiting,
        "running": counts.running,
        "done": counts.done,
        "failed": counts.failed,
        "unknown": counts.unknown,
        "left out": counts.left_out,
    }
    shown = ", ".join(f"{number} {word}" for word, number in numbers.items() if number)
    click.echo(f"Of {counts.total} phones: {shown}.")
    if batch.message:
        click.echo(batch.message)


async def show_batches(batches: Listing[Batch], *, as_json: bool) -> None:
    """Show all batches."""
    if as_json:
        async for piece in batches:
            for batch in piece:
                write_json(batch)
        return
    rows = [
        (
            moment(batch.created_at),
            batch.uuid,
            batch.action.value,
            batch.state.value,
            f"{batch.phones.done} of {batch.phones.total} done, {batch.phones.failed} failed",
        )
        async for piece in batches
        for batch in piece
    ]
    table(("Started (UTC)", "Batch", "Action", "State", "Phones"), rows)


async def show_batch_and_phones(
    batch: Batch, phones: Listing[BatchPhone], *, as_json: bool
) -> None:
    """Show a batch and its phones; as JSON one object per line, the batch first."""
    if as_json:
        write_json(batch)
        async for piece in phones:
            for phone in piece:
                write_json(phone)
        return
    show_batch(batch)
    rows = [
        (str(phone.position), phone.mac, phone.state.value, str(phone.tries), phone.message or "")
        async for piece in phones
        for phone in piece
    ]
    table(("No.", "Phone", "State", "Tries", "Message"), rows)


def write_json(record: msgspec.Struct) -> None:
    """Print one record as one line of JSON."""
    click.echo(msgspec.json.encode(record))
