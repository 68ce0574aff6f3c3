"""Batches as they are shown on a terminal, and written for scripts."""

from __future__ import annotations

import asyncio

import click
import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from phoneprov_core.batches.model import Batch, BatchPhone, BatchState
from phoneprov_core.kernel.store import Listing
from phoneprov_http.main.commands.local_access import Acting, console

LOOK_SECONDS = 0.25


async def following(act: Acting, batch: Batch, *, quiet: bool) -> Batch:
    """The batch when it has ended; how far it is stands on standard error meanwhile."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), disable=quiet) as progress:
        task = progress.add_task("", total=batch.phones.total)
        while True:
            counts = batch.phones
            over = counts.ended + counts.left_out
            progress.update(task, completed=over, description=_how_far(batch))
            if batch.ended_at is not None:
                return batch
            await asyncio.sleep(LOOK_SECONDS)
            batch = await act.use_cases.batches.get(act.actor, batch.uuid)


def _how_far(batch: Batch) -> str:
    counts = batch.phones
    failed = f", {counts.failed} failed" if counts.failed else ""
    return f"{batch.action.value}: {counts.done} done{failed}, {counts.running} under way"


def show_batch(batch: Batch) -> None:
    """A batch in a few lines."""
    counts = batch.phones
    words = {
        BatchState.RUNNING: "under way",
        BatchState.DONE: "done",
        BatchState.STOPPED: "stopped",
        BatchState.CANCELLED: "cancelled",
    }
    click.echo(f"The batch {batch.uuid} ({batch.action.value}) is {words[batch.state]}.")
    told = {
        "waiting": counts.waiting,
        "under way": counts.running,
        "done": counts.done,
        "failed": counts.failed,
        "left out": counts.left_out,
    }
    numbers = ", ".join(f"{number} {word}" for word, number in told.items() if number)
    click.echo(f"Of {counts.total} phones: {numbers}.")
    if batch.message:
        click.echo(batch.message)


async def show_batches(batches: Listing[Batch], *, as_json: bool) -> None:
    """All batches, one a line."""
    if as_json:
        async for piece in batches:
            for batch in piece:
                write_json(batch)
        return
    table = _table("Started", "Batch", "Action", "State", "Done", "Failed", "Of")
    async for piece in batches:
        for batch in piece:
            counts = batch.phones
            numbers = (str(number) for number in (counts.done, counts.failed, counts.total))
            table.add_row(
                batch.created_at, batch.uuid, batch.action.value, batch.state.value, *numbers
            )
    console().print(table, soft_wrap=True)


async def show_batch_and_phones(
    batch: Batch, phones: Listing[BatchPhone], *, as_json: bool
) -> None:
    """A batch and its phones; as JSON one object a line, the batch first."""
    if as_json:
        write_json(batch)
        async for piece in phones:
            for phone in piece:
                write_json(phone)
        return
    show_batch(batch)
    async for piece in phones:
        table = _table("", "MAC", "State", "Tries", "What there is to say")
        for phone in piece:
            row = (str(phone.position), phone.mac, phone.state.value, str(phone.tries))
            table.add_row(*row, phone.message or "")
        console().print(table, soft_wrap=True)


def write_json(record: msgspec.Struct) -> None:
    """One record, one line."""
    click.echo(msgspec.json.encode(record))


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
