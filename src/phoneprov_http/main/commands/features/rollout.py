"""``phoneprov plan``, ``rehearse`` and ``rollout``: the changes of a switch of many phones, its
expected outcome, and the switch in steps."""

import sys
from typing import Any, BinaryIO

import click
from click.core import ParameterSource

from phoneprov_adapters.files.excel import ExcelTable, begins_as_excel
from phoneprov_adapters.files.reading import NotText, decoded
from phoneprov_core.features.batches.changes import MOST_NAMED
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.lists import ReadPhones
from phoneprov_core.features.batches.model import Batch, BatchAction, BatchState
from phoneprov_core.features.batches.plan import Plan
from phoneprov_core.features.rehearsal.model import Expected, Rehearsal, evidence_in_words
from phoneprov_core.features.transfer.model import RowProblem
from phoneprov_core.kernel.commands import command_of
from phoneprov_http.main.commands.features.batches import (
    OPTIONS,
    detachable,
    following,
    matching,
    newest,
    per_minute,
    show_batch,
    wait,
)
from phoneprov_http.main.commands.local_access import Acting, as_operator, profile_called
from phoneprov_http.main.commands.terminal import MAC, as_json, naming, print_json, together

_COUNTED = {
    "changed": "would change",
    "unchanged": "has the configuration already",
    "unfit": "would not be switched",
}
STOPPED = 3
"""The exit code of a rollout that was stopped or cancelled."""

_selecting = together(
    click.option("--profile", help="Name or uuid of the profile for all phones."),
    click.option("--revision", type=int, help="Revision of --profile."),
    click.option("--mac", "macs", multiple=True, type=MAC, help="MAC; can be repeated."),
    click.option(
        "--items",
        type=click.File("rb"),
        help="A CSV or Excel file of mac,profile (name or uuid) or mac,username; - is stdin.",
    ),
    click.option("--template", help="Select phones whose configuration is from this template."),
    click.option(
        "--as-of",
        metavar="TIME",
        help="Restore the configurations that phones had at this time (with an offset, such as "
        "2026-01-26T18:00:00+01:00).",
    ),
    matching,
)


_first = together(
    click.option("--first", type=int, help="Number of phones to switch and confirm first."),
    click.option("--first-mac", "first_macs", multiple=True, type=MAC,
                 help="A phone to switch and confirm first; can be repeated."),
)  # fmt: skip
_in_steps = together(
    click.option("--start-at", help="Time with an offset, such as 2026-01-31T20:00:00+01:00."),
    _first,
    click.option("--first-minutes", type=int, default=10, show_default=True,
                 help="Time to wait for the first phones."),
    click.option("--undo-on-stop", is_flag=True, help="After a stop, restore the changed phones."),
    click.option(
        "--all-phones", is_flag=True,
        help="Also switch phones whose configuration would not change.",
    ),
    newest,
    click.option(
        "--at-once", type=int, default=10, show_default=True, help="Phones at a time."
    ),
    per_minute,
    click.option("--stop-after-failures", type=int, default=25, show_default=True,
                 metavar="PERCENT",
                 help="Stop once this percentage of phones has failed; 0 = never."),
)  # fmt: skip


@click.command()
@_selecting
@_first
@as_json
def plan(*, as_json: bool, **fields: Any) -> None:
    """Show what a switch of many phones would change.

    Changes nothing. Without --profile and --items, the plan is for the newest revision of each
    phone's present profile, rendered again. Phones with the same difference are one group. With
    --as-of the plan also names the phones that cannot be restored, with the reason.

    \b
      phoneprov plan --template office
      phoneprov plan --items floor.csv
      phoneprov plan --as-of 2026-01-26T18:00:00+01:00 --location "floor 3"
    """

    async def work(at: Acting) -> Plan:
        with naming(OPTIONS):
            return await at.container.plan_batch()(at.actor, await _batch_of(at, fields))

    found = as_operator(work)
    if as_json:
        print_json(found)
        return
    show_plan(found, "do not fit" if fields["as_of"] is None else "cannot be restored")


def show_plan(found: Plan, unfit: str) -> None:
    """Print the groups of a plan; ``unfit`` is the predicate of the phones without a group."""
    click.echo(
        f"Of {found.phones} phones: {found.changed} would change, {found.unchanged} have the "
        f"configuration already, {found.unfit} {unfit}."
    )
    if found.first:
        first = ", ".join(f"{one.mac} ({_COUNTED[one.outcome]})" for one in found.first)
        click.echo(f"First: {first}.")
    for group in found.groups:
        click.echo(f"\n{group.count} phone(s): {_some(group.macs, group.count)}")
        click.echo(group.diff, nl=False)
    for note in found.notes:
        click.echo(f"\n{note.count} phone(s): {_some(note.macs, note.count)}")
        click.echo(f"  {note.message}")
    for problem in found.problems:
        click.echo(f"\n{problem.count} phone(s): {_some(problem.macs, problem.count)}")
        click.echo(f"! {problem.message}")


@click.command()
@_selecting
@_in_steps
@click.option(
    "--resume", metavar="UUID", help="Continue an existing rollout, and show its progress."
)
@click.option(
    "--detach", is_flag=True, help="Only create the rollout; the running service carries it out."
)
@wait
@as_json
@detachable()
def rollout(
    *,
    resume: str | None,
    detach: bool,
    all_phones: bool,
    wait: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Switch many phones in steps, and show the progress.

    After Ctrl-C the rollout continues in the running service, and `--resume` shows its progress
    again; `phoneprov batch cancel` cancels it. With --start-at the service begins the rollout.
    Exits with 0 if every phone is done, with 1 if some failed, with 3 if the rollout was stopped or
    cancelled.

    \b
      phoneprov rollout --template office --first 5 --undo-on-stop
      phoneprov rollout --items floor.csv --start-at 2026-01-31T20:00:00+01:00
      phoneprov rollout --as-of 2026-01-26T18:00:00+01:00 --location "floor 3"
    """
    if resume is not None:
        _refuse_beside_resume({*fields, "all_phones"})

    async def work(at: Acting) -> tuple[Batch, Batch | None]:
        batches = at.container.batches()
        if resume is not None:
            begun = await batches.resume(at.actor, resume)
        else:
            with naming(OPTIONS):
                new = await _batch_of(at, _steps(fields, all_phones=all_phones))
                begun = await batches.start(at.actor, new)
        if detach or begun.state is BatchState.PLANNED:
            return begun, None
        seen = await following(at, begun, quiet=as_json, wait=wait)
        if seen.undone_by is None:
            return seen, None
        undo = await batches.get(at.actor, seen.undone_by)
        return seen, await following(at, undo, quiet=as_json, wait=wait)

    seen, undo = as_operator(work)
    for one in (seen, undo):
        if one is not None:
            show_batch(one, as_json=as_json)
    if seen.state is BatchState.PLANNED and not as_json:
        click.echo(f"The running service begins it at {seen.start_at}.")
    if seen.state in {BatchState.STOPPED, BatchState.CANCELLED}:
        sys.exit(STOPPED)
    if not detach and (seen.phones.failed or seen.phones.unknown):
        sys.exit(1)


@click.command()
@_selecting
@_in_steps
@as_json
def rehearse(*, all_phones: bool, as_json: bool, **fields: Any) -> None:
    """Show the expected outcome of a rollout. Sends nothing to phones and changes nothing.

    Takes the options of a rollout, and runs it on a copy of the records. The duration and the
    failures of each phone are taken from the watch and from earlier deployments. A phone without
    such records counts as not known. Exits like the rollout: with 0 if every phone would be
    switched or is unchanged, with 1 if some would fail or are not known, with 3 if the rollout
    would stop.

    \b
      phoneprov rehearse --template office --first 5 --undo-on-stop
      phoneprov rehearse --items floor.csv --start-at 2026-01-31T20:00:00+01:00
    """

    async def work(at: Acting) -> Rehearsal:
        with naming(OPTIONS):
            new = await _batch_of(at, _steps(fields, all_phones=all_phones))
            return await at.container.rehearse_batch()(at.actor, new)

    found = as_operator(work)
    if as_json:
        print_json(found)
    else:
        _show_rehearsal(found)
    if found.stopped_because is not None:
        sys.exit(STOPPED)
    if found.outcomes.failed or found.outcomes.unknown:
        sys.exit(1)


def _show_rehearsal(found: Rehearsal) -> None:
    click.echo(found.summary)
    for entry in found.timeline:
        click.echo(f"  after {_duration(entry.seconds)}: {entry.message}")
    if found.first_failures:
        click.echo("\nThe first phones that would fail:")
    for one in found.first_failures:
        step = f" ({one.step.value})" if one.step else ""
        click.echo(f"{one.mac}{step}: {one.message} {evidence_in_words(one)}")
    unknown = [one.mac for one in found.foretold if one.outcome is Expected.UNKNOWN]
    if unknown:
        some = tuple(unknown[:MOST_NAMED])
        click.echo(f"\nNot known: {_some(some, len(unknown))}")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _steps(fields: dict[str, Any], *, all_phones: bool) -> dict[str, Any]:
    """The options of a rollout as the fields of its batch."""
    share = fields["stop_after_failures"] or None
    return {**fields, "only_changed": not all_phones, "stop_after_failures": share}


def _refuse_beside_resume(names: set[str]) -> None:
    """Raises ``UsageError`` for options that a rollout cannot change after its start."""
    context = click.get_current_context()
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name in names
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"--resume cannot change the options of a rollout; omit {', '.join(given)}."
        )


async def _batch_of(at: Acting, given: dict[str, Any]) -> CreateBatch:
    fields = {name: value for name, value in given.items() if value not in {None, (), False}}
    items: BinaryIO | None = fields.pop("items", None)
    profile = fields.pop("profile", None)
    if items is not None:
        fields["items"] = await _items_in(at, items)
    if profile is not None:
        fields["profile_uuid"] = await profile_called(at, profile)
    fields["stop_after_failures"] = given.get("stop_after_failures", 25)
    return command_of(CreateBatch, {"action": BatchAction.SWITCH.value, **fields})


async def _items_in(at: Acting, file: BinaryIO) -> list[dict[str, str]]:
    """The phones and profiles in the lines of a file."""
    try:
        with naming({"xlsx": "--items:"}):
            given = ReadPhones(text=await _text_in(file.read()))
    except (NotText, OSError) as error:
        raise click.UsageError(f"--items: the file cannot be read ({error}).") from None
    found = await at.container.read_phone_list()(at.actor, given)
    if found.problems:
        lines = [f"line {one.line}: {one.message}" for one in found.problems]
        raise click.UsageError(f"--items, {' '.join(lines)}")
    items = [(one.mac, one.profile_uuid) for one in found.phones if one.profile_uuid]
    if len(items) < len(found.phones):
        raise click.UsageError("--items: the file names no profiles; use --mac for phones alone.")
    return [{"mac": mac, "profile_uuid": uuid} for mac, uuid in items]


async def _text_in(content: bytes) -> str:
    """The text of a file. The rows of an Excel file become lines with the same numbers, with tabs
    between the cells."""
    if not begins_as_excel(content):
        return decoded(content)
    table = ExcelTable(content)
    columns = [one for one in ("mac", "profile", "username") if one in await table.columns()]
    lines = ["\t".join(columns)]
    async for piece in table.pieces():
        for row in piece:
            if isinstance(row, RowProblem):
                raise click.UsageError(f"--items, line {row.line}: {row.message}.")
            lines += [""] * (row.line - len(lines) - 1)
            cells = (" ".join(row.cells[one].split()).replace('"', '""') for one in columns)
            lines.append("\t".join(f'"{cell}"' if cell else "" for cell in cells))
    return "\n".join(lines)


def _some(macs: tuple[str, ...], count: int) -> str:
    return ", ".join(macs) + (f" and {count - len(macs)} more" if count > len(macs) else "")
