"""``phoneprov join``, ``phoneprov leave`` and ``phoneprov undo``."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from phoneprov_core.features.joining.model import (
    ActRefused,
    JoinRequest,
    LeaveRequest,
    Moved,
    UndoRequest,
)
from phoneprov_core.features.transfer.texts import SentTable
from phoneprov_core.kernel.commands import command_of
from phoneprov_http.main.commands.features.transfer import readable_table
from phoneprov_http.main.commands.local_access import Acting, as_operator, profile_called
from phoneprov_http.main.commands.terminal import as_json, naming, print_json, printable

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_LINE = re.compile(r"lines\[([0-9]+)\]\.?(.*)")
_ACTED = {"done": "+", "failed": "!", "pending": "~"}

_dry_run = click.option("--dry-run", is_flag=True, help="Show each step without writing anything.")


@click.command()
@click.argument("file", type=_FILE)
@click.option("--block", help="Block of numbers for rows without a number, such as 300-349.")
@click.option("--template", help="Template of the profiles for rows without a template.")
@_dry_run
@as_json
def join(
    file: Path, *, block: str | None, template: str | None, dry_run: bool, as_json: bool
) -> None:
    """Let the people of a CSV or Excel file (.xlsx) join. A FILE of - is standard input.

    The first line names the columns: first_name, last_name, username and email; optional columns
    are phone, lang, location, number or block, extension_type, voicemail, pin, template,
    values.NAME, mac, switch, directory and department. Account, number, PIN, profile, desk and
    directory entry of all people are written in one transaction: all of them or none. Then the
    phones are switched. The PINs are printed only once. The exit code is 1 if a phone could not be
    switched.

    \b
      phoneprov join people.csv --block 300-349 --template office --dry-run
    """
    given = {"block": block, "template": template}
    fields: Any = {name: value for name, value in given.items() if value is not None}
    with naming({"block": "--block", "template": "--template"}):
        request = JoinRequest(dry_run=dry_run, **fields)
    with _table(file) as table:
        moved = as_operator(lambda at: at.container.join_people()(at.actor, request, table))
    _report(moved, as_json=as_json)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--vacant", metavar="PROFILE", help="Default profile of the desks, by name or uuid.")
@_dry_run
@as_json
def leave(file: Path, *, vacant: str | None, dry_run: bool, as_json: bool) -> None:
    """Let the people of a CSV or Excel file (.xlsx) leave. A FILE of - is standard input.

    The columns are username and the optional hand_over_to: the username of the person who gets the
    numbers; without it the numbers become free. Accounts become inactive; sessions, API tokens and
    logins at phones end; directory entries are hidden. These changes are one transaction. Then the
    phones get their default profiles. The exit code is 1 if a phone could not be switched.

    \b
      phoneprov leave leavers.csv --vacant Lobby --dry-run
    """

    async def work(at: Acting) -> Moved:
        uuid = None if vacant is None else await profile_called(at, vacant)
        request = LeaveRequest(vacant_profile_uuid=uuid, dry_run=dry_run)
        return await at.container.leave_people()(at.actor, request, table)

    with _table(file) as table:
        moved = as_operator(work)
    _report(moved, as_json=as_json)


@click.command()
@click.argument("act")
@_dry_run
@as_json
def undo(act: str, *, dry_run: bool, as_json: bool) -> None:
    """Undo a join or a leave. ACT is its uuid.

    Restores, in one transaction, all records that were not changed since. The steps name the
    records that are not restored. The exit code is 1 if a phone could not be switched.

    \b
      phoneprov undo 5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11 --dry-run
    """
    with naming({"act": "ACT"}):
        request = command_of(UndoRequest, {"act": act, "dry_run": dry_run})
    moved = as_operator(lambda at: at.container.undo_act()(at.actor, request))
    _report(moved, as_json=as_json)


@contextmanager
def _table(file: Path) -> Iterator[SentTable]:
    """The table in a file. If the block refuses people, prints their lines and exits."""
    try:
        with readable_table(file) as table:
            yield table
    except ActRefused as refused:
        found = [(_LINE.fullmatch(one.field), one.message) for one in refused.problems]
        _complain(file, [(int(at[1]), at[2], message) for at, message in found if at])


def _complain(file: Path, problems: list[tuple[int, str, str]]) -> NoReturn:
    name = "stdin" if str(file) == "-" else file.name
    for line, field, message in sorted(problems):
        text = f"{field} {message}".strip().removesuffix(".")
        click.echo(printable(f"{name}:{line}: {text}."), err=True)
    click.echo("Nothing was written.", err=True)
    sys.exit(1)


def _report(moved: Moved, *, as_json: bool) -> None:
    """Print each person with the steps. Exits with 1 if a step failed."""
    if as_json:
        print_json(moved)
    else:
        for one in moved.people:
            number = f", number {one.number}" if one.number else ""
            pin = f", PIN {one.pin}" if one.pin else ""
            click.echo(printable(f"{one.username}{number}{pin}"))
            for step in one.steps:
                click.echo(printable(f"  {_ACTED.get(step.outcome, '=')} {step.message}"))
        if moved.act:
            click.echo(f"Written. To undo it: phoneprov undo {moved.act}")
        else:
            click.echo("Nothing was written.")
    if any(step.outcome == "failed" for one in moved.people for step in one.steps):
        sys.exit(1)
