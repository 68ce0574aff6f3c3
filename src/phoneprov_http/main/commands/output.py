"""Text for people: tables, one record a line in a pipe, no wider than the window on a terminal; and
deployments in words."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import click
from rich.cells import cell_len

from phoneprov_core.switching.deployments.model import Confirmation, Deployment, Outcome, StepName
from phoneprov_http.main.commands.options import print_json, printable

_GAP = "  "
_INDENT = "    "
_LEAST = 24
"""The narrowest last column that can still be read. Below it the cell gets lines of its own."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their headings; without headings where all of ``columns`` are empty.

    On a terminal the last column is wrapped to the width of the window; columns that do not fit
    get lines of their own. In a pipe no line is wrapped or cut. Control characters are escaped.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines([list(columns)] * any(columns) + cells, width):
        click.echo(line)


def show_rows(
    things: object, columns: Sequence[str], rows: Iterable[Sequence[str]], *, as_json: bool
) -> None:
    """Print things as JSON, or their rows as a table."""
    if as_json:
        print_json(things)
    else:
        table(columns, rows)


def table_lines(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """The lines of a table in a window of this width; None is unlimited."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    left = _across([*widths[:-1], 0])
    beside = len(widths) - 1
    while width is not None and beside > 1 and _across(widths[:beside]) > width:
        beside -= 1
    lines: list[str] = []
    for row in rows:
        start = _GAP.join(map(_padded, row[:-1], widths))
        if width is None:
            lines.append(f"{start}{_GAP}{row[-1]}".rstrip())
        elif width - left >= min(_LEAST, widths[-1]):
            last = _wrapped(row[-1], width - left)
            pairs = zip_longest([start], last or [""], fillvalue=" " * (left - len(_GAP)))
            lines += [f"{first}{_GAP}{cell}".rstrip() for first, cell in pairs]
        else:
            lines.append(_GAP.join(map(_padded, row[:beside], widths)).rstrip())
            for cell in row[beside:]:
                lines += [_INDENT + line for line in _wrapped(cell, width - len(_INDENT))]
    return lines


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 10), break_on_hyphens=False)


STEPS = {
    StepName.UPLOAD: "upload",
    StepName.CLEAR_SESSION: "clear the services",
    StepName.RESTART: "restart",
    StepName.LINES: "read back the lines",
}


def lines_of(deployment: Deployment) -> str:
    """What was read back of the lines, empty if nothing was."""
    step = next((one for one in deployment.steps if one.name is StepName.LINES), None)
    return f"; {step.message}" if step and step.message else ""


def what(deployment: Deployment) -> str:
    """Profile and revision of a deployment."""
    return f"{deployment.profile_name}, revision {deployment.revision}"


def how_it_went(deployment: Deployment, *, briefly: bool = False) -> str:
    """The outcome in one line; ``briefly`` without the message of the confirmation."""
    match deployment.outcome:
        case Outcome.RUNNING:
            return "running"
        case Outcome.FAILED:
            step = STEPS[deployment.failed_step] if deployment.failed_step else "start"
            return f"failed at {step}: {deployment.message}"
        case Outcome.UNKNOWN:
            return f"outcome unknown, the old file or the new one is there: {deployment.message}"
        case Outcome.INTERRUPTED if deployment.place is None:
            return "interrupted; either the old or the new file is in place, complete"
        case Outcome.INTERRUPTED:
            return "interrupted after the new file was in place"
        case Outcome.DEPLOYED:
            note = "" if deployment.message is None else f". {deployment.message}"
            return f"deployed, {_restarted(deployment, briefly=briefly)}{note}"


def is_seen_through(deployment: Deployment) -> bool:
    """Whether the phone was restarted, and the confirmation did not fail. If the reply to the
    command was lost, the confirmation decides."""
    if deployment.restarted is None:
        return deployment.confirmation is Confirmation.CONFIRMED
    is_missed = deployment.confirmation is Confirmation.NOT_CONFIRMED
    return deployment.restarted and not is_missed


def _restarted(deployment: Deployment, *, briefly: bool) -> str:
    if deployment.restarted is False:
        return f"not restarted: {deployment.restart}"
    message = deployment.confirmation_message
    if deployment.confirmation is Confirmation.CONFIRMED:
        return "restarted, confirmed" if briefly else f"restarted, confirmed: {message}"
    restarted = "restarted"
    if deployment.restarted is None:
        restarted = f"not known whether the phone restarts: {deployment.restart}"
    match deployment.confirmation:
        case Confirmation.PENDING:
            return f"{restarted}; confirmation pending"
        case Confirmation.NOT_CONFIRMED:
            return f"{restarted}; not confirmed: {message}"
    return restarted if briefly or not message else f"{restarted}; not watched: {message}"


def moment(shown: str) -> str:
    """A timestamp without fractions of a second, in UTC."""
    return shown[:19].replace("T", " ")
