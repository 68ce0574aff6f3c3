"""Batches on a terminal, and as JSON."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import click
import msgspec
from rich.progress import Progress, TaskID, TimeElapsedColumn

from phoneprov_core.features.batches.model import Batch, BatchPhone
from phoneprov_core.kernel.paging import Listing
from phoneprov_http.main.commands.local_access import Acting, counting
from phoneprov_http.main.commands.output import moment, table

T = TypeVar("T")

LOOK_SECONDS = 0.25
WATCH_SECONDS = 1.0

wait = click.option(
    "--wait/--no-wait",
    default=True,
    help="Wait until it is known whether the last phones are back; without waiting the running "
    "service watches them.",
)


@contextmanager
def detachable() -> Iterator[None]:
    """Ctrl-C ends the command with the exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)


async def following(act: Acting, batch: Batch, *, quiet: bool, wait: bool = True) -> Batch:
    """Wait until the batch has ended, and unless ``wait`` is off until its phones were watched: a
    watch in this process ends with it. A terminal shows the progress, on standard error. After
    Ctrl-C the batch continues in the service, which takes the watches over."""
    with counting(TimeElapsedColumn(), quiet=quiet, transient=False) as progress:
        task = progress.add_task("", total=batch.phones.total)
        while True:
            counts = batch.phones
            over = counts.ended + counts.left_out
            progress.update(task, completed=over, description=_how_far(batch))
            try:
                if batch.ended_at is not None:
                    if wait:
                        await _watched(act, batch, progress, task)
                    return batch
                await asyncio.sleep(LOOK_SECONDS)
                batch = await act.container.batches().get(act.actor, batch.uuid)
            except asyncio.CancelledError:
                text = (
                    "\nphoneprov: detached; the batch continues in the running service. "
                    f"`phoneprov rollout --resume {batch.uuid}` shows it again."
                )
                click.echo(text, err=True)
                raise


async def _watched(act: Acting, batch: Batch, progress: Progress, task: TaskID) -> None:
    """Wait until it is known of each phone whether it is back."""
    while await act.container.batches().is_watching(act.actor, batch.uuid):
        progress.update(task, description="waiting for phones that restart")
        await asyncio.sleep(WATCH_SECONDS)


def _how_far(batch: Batch) -> str:
    counts = batch.phones
    failed = f", {counts.failed} failed" if counts.failed else ""
    unknown = f", {counts.unknown} unknown" if counts.unknown else ""
    return f"{batch.action.value}: {counts.done} done{failed}{unknown}, {counts.running} running"


def show_batch(batch: Batch, *, as_json: bool) -> None:
    """Show a batch in a few lines, or in one of JSON."""
    if as_json:
        _write_json(batch)
        return
    counts = batch.phones
    click.echo(f"The batch {batch.uuid} ({batch.action.value}) is {batch.state.value}.")
    words = ("waiting", "running", "done", "failed", "unknown", "left_out")
    numbers = [(getattr(counts, word), word.replace("_", " ")) for word in words]
    shown = ", ".join(f"{number} {word}" for number, word in numbers if number)
    click.echo(f"Of {counts.total} phones: {shown}.")
    if batch.message:
        click.echo(batch.message)


async def show_batches(batches: Listing[Batch], *, as_json: bool) -> None:
    """Show all batches."""

    def row(one: Batch) -> tuple[str, ...]:
        phones = f"{one.phones.done} of {one.phones.total} done, {one.phones.failed} failed"
        return moment(one.created_at), one.uuid, one.action.value, one.state.value, phones

    columns = ("Started (UTC)", "Batch", "Action", "State", "Phones")
    await _show_rows(batches, columns, row, as_json=as_json)


async def show_batch_and_phones(
    batch: Batch, phones: Listing[BatchPhone], *, as_json: bool
) -> None:
    """Show a batch and its phones; as JSON one object per line, the batch first."""

    def row(one: BatchPhone) -> tuple[str, ...]:
        return str(one.position), one.mac, one.state.value, str(one.tries), one.message or ""

    show_batch(batch, as_json=as_json)
    columns = ("No.", "Phone", "State", "Tries", "Message")
    await _show_rows(phones, columns, row, as_json=as_json)


async def _show_rows(
    records: Listing[T], columns: Sequence[str], row: Callable[[T], Sequence[str]], *, as_json: bool
) -> None:
    if not as_json:
        table(columns, [row(one) async for piece in records for one in piece])
        return
    async for piece in records:
        for record in piece:
            _write_json(record)


def _write_json(record: object) -> None:
    click.echo(msgspec.json.encode(record))
