"""``phoneprov batch``, and how a batch is shown while it runs."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

import click
import msgspec
from rich.progress import Progress, TaskID, TimeElapsedColumn

from phoneprov_adapters.files.reading import NotText, decoded
from phoneprov_core.features.batches.commands import CreateBatch, WantedPhones
from phoneprov_core.features.batches.model import Batch, BatchPhone, BatchState
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.ports import Listing
from phoneprov_core.switching.devices.names import mac_in_table
from phoneprov_http.main.commands.local_access import Acting, as_operator, counting, profile_called
from phoneprov_http.main.commands.terminal import MAC, as_json, moment, naming, table, together

T = TypeVar("T")

LOOK_SECONDS = 0.25
WATCH_SECONDS = 1.0

wait = click.option(
    "--wait/--no-wait",
    default=True,
    help="Wait until every phone has registered again or the time for it is over; without "
    "waiting, the running service watches the phones.",
)


@contextmanager
def detachable() -> Iterator[None]:
    """Ctrl-C ends the command with the exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)


async def following(act: Acting, batch: Batch, *, quiet: bool, wait: bool = True) -> Batch:
    """Wait until the batch has ended and, if ``wait``, until the watches of its phones have ended:
    watches in this process stop when it exits. The progress is shown on standard error if it is a
    terminal. After Ctrl-C the running service continues the batch and the watches."""
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
    """Wait until the watch of each phone has ended."""
    while await act.container.batches().is_watching(act.actor, batch.uuid):
        progress.update(task, description="waiting for phones that restart")
        await asyncio.sleep(WATCH_SECONDS)


def _how_far(batch: Batch) -> str:
    counts = batch.phones
    failed = f", {counts.failed} failed" if counts.failed else ""
    unknown = f", {counts.unknown} unknown" if counts.unknown else ""
    return f"{batch.action.value}: {counts.done} done{failed}{unknown}, {counts.running} running"


def show_batch(batch: Batch, *, as_json: bool) -> None:
    """Show a batch in a few lines of text, or in one line of JSON."""
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


OPTIONS = {
    "macs": "--mac",
    "profile_uuid": "--profile",
    "revision": "--revision",
    "model": "--model",
    "location": "--location",
    "software_type": "--software-type",
    "at_once": "--at-once",
    "per_minute": "--per-minute",
    "stop_after_failures": "--stop-after-failures",
    "wait_minutes": "--wait-minutes",
    "items": "--items",
    "template": "--template",
    "start_at": "--start-at",
    "first": "--first",
    "first_macs": "--first-mac",
    "first_minutes": "--first-minutes",
    "undo_on_stop": "--undo-on-stop",
    "only_changed": "--only-changed",
    "newest": "--newest",
    "as_of": "--as-of",
}

matching = together(
    click.option("--model", help="Select phones of this model."),
    click.option("--location", help="Select phones at this location."),
    click.option("--software-type", help="Select phones of this firmware family."),
)
newest = click.option(
    "--newest",
    is_flag=True,
    help="Deploy the newest text even if a profile or template changes after the start of the "
    "batch; by default the phones of a changed profile or template are skipped.",
)
per_minute = click.option(
    "--per-minute", type=int, help="Maximum number of phones started per minute."
)


@click.group()
def batch() -> None:
    """Switch or restart many phones at a limited rate."""


@batch.command()
@click.argument("action", type=click.Choice(["switch", "restart"]))
@click.option(
    "--profile",
    help="Name or uuid of the profile for all phones; by default each phone gets the newest "
    "revision of its present profile.",
)
@click.option("--revision", type=int, help="Revision of --profile; the newest by default.")
@click.option("--mac", "macs", multiple=True, type=MAC, help="MAC of a phone; can be repeated.")
@click.option(
    "--macs-from",
    type=click.File("rb"),
    help="A file with one MAC per line; - is standard input.",
)
@matching
@click.option(
    "--at-once", type=int, default=10, show_default=True, help="Maximum number of phones at a time."
)
@per_minute
@click.option(
    "--stop-after-failures",
    type=int,
    default=25,
    show_default=True,
    metavar="PERCENT",
    help="Stop once this percentage of phones has failed; checked from the 10th phone; 0 = never.",
)
@click.option(
    "--wait-minutes",
    type=int,
    default=60,
    show_default=True,
    help="Time to wait for phones in a call.",
)
@newest
@click.option(
    "--detach", is_flag=True, help="Only create the batch; the running service carries it out."
)
@wait
@as_json
@detachable()
def start(
    macs: tuple[str, ...],
    macs_from: Any,
    profile: str | None,
    *,
    detach: bool,
    wait: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Switch or restart many phones, and show the progress.

    The phones are those named by --mac and --macs-from, or all active phones that match --model,
    --location and --software-type. After Ctrl-C the batch continues in the running service;
    `phoneprov batch cancel` cancels it. Exits with 1 if a phone failed or was skipped, or if its
    outcome is unknown.

    \b
      phoneprov batch start switch --profile "Front desk" --location "2nd floor"
      phoneprov batch start restart --macs-from macs.txt --per-minute 30
    """
    listed = [*macs, *_macs_in(macs_from)]
    if macs_from and not listed:
        raise click.UsageError(f"{_name_of(macs_from)} names no phone.")
    if listed:
        fields["macs"] = listed
    elif not (fields["model"] or fields["location"] or fields["software_type"]):
        raise click.UsageError(
            "Select phones with --mac, --macs-from, --model, --location or --software-type."
        )
    fields["stop_after_failures"] = fields["stop_after_failures"] or None

    async def work(act: Acting) -> Batch:
        if profile is not None:
            fields["profile_uuid"] = await profile_called(act, profile)
        with naming(OPTIONS):
            new = command_of(CreateBatch, fields)
            begun = await act.container.batches().start(act.actor, new)
        return begun if detach else await following(act, begun, quiet=as_json, wait=wait)

    seen = as_operator(work)
    if detach and not as_json:
        click.echo(
            f"The batch {seen.uuid} of {seen.phones.total} phones was created for the service."
        )
    else:
        show_batch(seen, as_json=as_json)
    if not detach and (
        seen.state is not BatchState.DONE or seen.phones.failed or seen.phones.unknown
    ):
        sys.exit(1)


@batch.command()
@click.argument("uuid", required=False)
@click.option("--follow", is_flag=True, help="Show the progress until the batch ends.")
@click.option(
    "--state",
    type=click.Choice(["waiting", "running", "done", "failed", "unknown", "left_out"]),
    help="Show only phones in this state.",
)
@as_json
@detachable()
def show(uuid: str | None, state: Any, *, follow: bool, as_json: bool) -> None:
    """Show one batch with its phones; without its UUID, all batches."""

    async def work(act: Acting) -> None:
        batches = act.container.batches()
        if uuid is None:
            await show_batches(await batches.all(act.actor), as_json=as_json)
            return
        seen = await batches.get(act.actor, uuid)
        if follow:
            seen = await following(act, seen, quiet=as_json, wait=False)
        phones = await batches.phones(act.actor, uuid, WantedPhones(state=state))
        await show_batch_and_phones(seen, phones, as_json=as_json)

    as_operator(work)


@batch.command()
@click.argument("uuid")
@as_json
@detachable()
def cancel(uuid: str, *, as_json: bool) -> None:
    """Cancel a batch. Phones that are in progress finish; no further phone starts."""
    seen = as_operator(lambda act: act.container.batches().cancel(act.actor, uuid))
    show_batch(seen, as_json=as_json)


def _macs_in(file: BinaryIO | None) -> Iterator[str]:
    """The MACs in a file with one MAC per line; empty lines are skipped."""
    if file is None:
        return
    name = _name_of(file)
    try:
        text = decoded(file.read())
    except (NotText, OSError) as error:
        why = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else str(error)
        raise click.UsageError(f"{name} {why}.") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if not (mac := mac_in_table(line)):
            raise click.UsageError(f"{name}, line {number} is not the MAC of a phone.")
        yield mac


def _name_of(file: BinaryIO) -> str:
    return "--macs-from: " + ("standard input" if file is sys.stdin.buffer else str(file.name))
