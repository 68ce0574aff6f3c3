"""``phoneprov join``, ``phoneprov leave`` and ``phoneprov undo``."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any, TypeVar

import click

from phoneprov_core.features.joining.model import (
    Joiner,
    JoinRequest,
    Leaver,
    LeaveRequest,
    Moved,
    UndoRequest,
)
from phoneprov_core.features.transfer.model import (
    Row,
    RowProblem,
    Table,
    is_note,
    problems_of,
    truth,
)
from phoneprov_core.features.transfer.sheets import spoiled, tidied
from phoneprov_core.kernel.commands import Command, command_of, invalid
from phoneprov_core.kernel.errors import Invalid, PhoneprovError
from phoneprov_http.main.commands.features.transfer import readable_table
from phoneprov_http.main.commands.local_access import Acting, as_operator, profile_called
from phoneprov_http.main.commands.terminal import as_json, naming, print_json, printable

C = TypeVar("C", bound=Command)

_VALUES = "values."
_TRUTHS = {"is_active", "voicemail", "pin", "switch", "directory"}
_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_PERSON = re.compile(r"people\[([0-9]+)\]")
_ACTED = {"done": "+", "failed": "!", "pending": "~"}

_dry_run = click.option("--dry-run", is_flag=True, help="Show each step; write nothing.")


@click.command()
@click.argument("file", type=_FILE)
@click.option("--block", help="Block of numbers, for people without one, such as 300-349.")
@click.option("--template", help="Template of the profiles, for people without one.")
@_dry_run
@as_json
def join(
    file: Path, *, block: str | None, template: str | None, dry_run: bool, as_json: bool
) -> None:
    """Let the people of a CSV or Excel file (.xlsx) join. A FILE of - is standard input.

    The first line names the columns: first_name, last_name, username and email, and at will phone,
    lang, location, number or block, extension_type, voicemail, pin, template, values.NAME, mac,
    switch, directory and department. Account, number, PIN, profile, desk and directory entry of all
    people are written in one transaction, or nothing is; then the phones are switched. The PINs are
    printed once. The exit code is 1 if a phone could not be switched.

    \b
      phoneprov join people.csv --block 300-349 --template office --dry-run
    """
    with naming({"block": "--block", "template": "--template"}):
        people, lines = _people(file, Joiner, {"block": block, "template": template})
        request = JoinRequest(people=people, dry_run=dry_run)
    with _by_line(file, lines):
        moved = as_operator(lambda at: at.container.join_people()(at.actor, request))
    _report(moved, as_json=as_json)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--vacant", metavar="PROFILE", help="Default profile of the desks, by name or uuid.")
@_dry_run
@as_json
def leave(file: Path, *, vacant: str | None, dry_run: bool, as_json: bool) -> None:
    """Let the people of a CSV or Excel file (.xlsx) leave. A FILE of - is standard input.

    The columns are username and, at will, hand_over_to: the username of the person who gets the
    numbers, which become free otherwise. Accounts become inactive, sessions, API tokens and logins
    at phones end, and directory entries are hidden. All of that is one transaction; then the phones
    get their default profiles. The exit code is 1 if a phone could not be switched.

    \b
      phoneprov leave leavers.csv --vacant Lobby --dry-run
    """
    people, lines = _people(file, Leaver, {})

    async def work(at: Acting) -> Moved:
        uuid = None if vacant is None else await profile_called(at, vacant)
        request = LeaveRequest(people=people, vacant_profile_uuid=uuid, dry_run=dry_run)
        return await at.container.leave_people()(at.actor, request)

    with _by_line(file, lines):
        moved = as_operator(work)
    _report(moved, as_json=as_json)


@click.command()
@click.argument("act")
@_dry_run
@as_json
def undo(act: str, *, dry_run: bool, as_json: bool) -> None:
    """Undo a join or a leave. ACT is its uuid.

    What did not change since is taken back in one transaction; each step says what does not come
    back. The exit code is 1 if a phone could not be switched.

    \b
      phoneprov undo 5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11 --dry-run
    """
    with naming({"act": "ACT"}):
        request = command_of(UndoRequest, {"act": act, "dry_run": dry_run})
    moved = as_operator(lambda at: at.container.undo_act()(at.actor, request))
    _report(moved, as_json=as_json)


def _people(
    file: Path, command: type[C], usual: dict[str, str | None]
) -> tuple[tuple[C, ...], list[int]]:
    """The people of a file and their lines; ``usual`` are values for people without one. Exits
    with every problem of the file."""
    with readable_table(file) as table:
        rows = asyncio.run(_rows(table))
    people, lines, problems = list[C](), list[int](), list[RowProblem]()
    for row in rows:
        if isinstance(row, RowProblem):
            problems.append(row)
            continue
        try:
            people.append(command_of(command, _given(row, usual)))
            lines.append(row.line)
        except Invalid as error:
            problems += problems_of(row.line, error)
    if problems or not people:
        _complain(file, problems or [RowProblem(1, "", "The table has no people")])
    return tuple(people), lines


async def _rows(table: Table) -> list[Row | RowProblem]:
    return [row async for piece in table.pieces() for row in piece]


def _given(row: Row, usual: dict[str, str | None]) -> dict[str, object]:
    cells = {name: cell for name, cell in tidied(row.cells).items() if not is_note(name)}
    if problems := spoiled(cells):
        raise invalid(problems)
    given: dict[str, Any] = {}
    for name, cell in cells.items():
        if cell and name.startswith(_VALUES):
            given.setdefault("values", {})[name.removeprefix(_VALUES)] = cell
        elif cell:
            given[name] = truth(cell) if name in _TRUTHS else cell
    if "number" in given:
        usual = {**usual, "block": None}
    return {**{name: value for name, value in usual.items() if value}, **given}


class _by_line:  # noqa: N801
    """Names the lines of a file in place of the positions of people."""

    def __init__(self, file: Path, lines: list[int]) -> None:
        self._file, self._lines = file, lines

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if not isinstance(error, PhoneprovError):
            return
        problems = []
        for one in error.problems:
            place, _, field = one.field.removeprefix("people[").partition("]")
            if not place.isdigit() or not one.field.startswith("people["):
                return
            field = field.removeprefix(".")
            message = _PERSON.sub(lambda at: f"line {self._lines[int(at[1])]}", one.message)
            problems.append(RowProblem(self._lines[int(place)], field, message))
        if problems:
            _complain(self._file, problems)


def _complain(file: Path, problems: list[RowProblem]) -> None:
    name = "stdin" if str(file) == "-" else file.name
    for one in problems:
        field = f"{one.field} " if one.field else ""
        click.echo(
            printable(f"{name}:{one.line}: {field}{one.message.removesuffix('.')}."), err=True
        )
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
            click.echo(f"Written. To take it back: phoneprov undo {moved.act}")
        else:
            click.echo("Nothing was written.")
    if any(step.outcome == "failed" for one in moved.people for step in one.steps):
        sys.exit(1)
