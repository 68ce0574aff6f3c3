"""Options and output for several commands. Every command loads this module, so it imports
little."""

import re
import shutil
import socket
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.cells import cell_len

from phoneprov_core.kernel import values as addresses
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.switching.deployments.model import Confirmation, Deployment, Outcome, StepName
from phoneprov_core.switching.devices.names import mac_in_table

PORT = click.IntRange(0, 65535)
"""A port to listen on, 0 for a free one; the resolver would take 70000 for 4464."""

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A file that exists."""

Decorator = Callable[[Any], Any]


class _Mac(click.ParamType[str]):
    """A MAC in any spelling, also as the name of a device (SEP<MAC>)."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return addresses.mac(mac_in_table(value) or value)
        except ValueError as error:
            self.fail(f"it {error}", param, ctx)


MAC = _Mac()


@contextmanager
def naming(options: Mapping[str, str]) -> Iterator[None]:
    """Report invalid fields as errors of options. ``options`` maps fields to options."""
    try:
        yield
    except Invalid as error:
        named = [
            f"{options[field]} {problem.message}"
            for problem in error.problems
            if (field := problem.field.partition("[")[0]) in options
        ]
        if not named:
            raise
        raise click.UsageError(f"{'; '.join(named)}.") from None


def together(*options: Decorator) -> Decorator:
    """Several options or arguments as one decorator, in their order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def software_type(meaning: str) -> Decorator:
    """The option for a firmware family."""
    families = click.Choice(["SCCP", "SIP", "SIPE"], case_sensitive=False)
    return click.option("--software-type", type=families, help=meaning)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def show(thing: object, text: str, *, as_json: bool) -> None:
    """Print an object as JSON, or its description ``text``."""
    if as_json:
        print_json(thing)
    else:
        click.echo(text)


def print_json(thing: object) -> None:
    """Print indented JSON. Control characters of terminals are escaped."""
    text = msgspec.json.format(msgspec.json.encode(thing), indent=2).decode()
    # JSON itself escapes the other control characters.
    escaped = _ACTED_ON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    click.echo(escaped.encode())  # JSON is UTF-8 in every locale


_ACTED_ON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_NOT_SHOWN = re.compile(f"[\x00-\x08\x0a-\x1f]|{_ACTED_ON.pattern}")


def printable(text: str) -> str:
    """One line of text for a terminal: control and direction characters except tab are escaped."""
    return _NOT_SHOWN.sub(
        lambda found: ascii(found[0])[1:-1], text.encode("utf-8", "replace").decode()
    )


def free_port(*, datagrams: bool = False) -> int:
    """A port of loopback that is free at this moment."""
    with socket.socket(type=socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


_GAP = "  "
_INDENT = "    "
_LEAST = 24
"""Minimum width of the last column. In a narrower window its cells are printed on separate
lines."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with headings; without headings if all of ``columns`` are empty.

    On a terminal the last column is wrapped to the width of the window, and columns that do not fit
    are printed on separate lines. In a pipe no line is wrapped or cut. Control characters are
    escaped.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines([list(columns)] * any(columns) + cells, width):
        click.echo(line)


def show_rows(
    things: object, columns: Sequence[str], rows: Iterable[Sequence[str]], *, as_json: bool
) -> None:
    """Print objects as JSON, or their rows as a table."""
    if as_json:
        print_json(things)
    else:
        table(columns, rows)


def table_lines(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """The lines of a table for a window of this width; None for no limit."""
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
    """The result of the step that reads back the lines; empty without this step."""
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
            return f"outcome unknown, the old or the new file is in place: {deployment.message}"
        case Outcome.INTERRUPTED if deployment.place is None:
            return "interrupted; the complete old file or the complete new file is in place"
        case Outcome.INTERRUPTED:
            return "interrupted after the new file was in place"
        case Outcome.DEPLOYED:
            note = "" if deployment.message is None else f". {deployment.message}"
            return f"deployed, {_restarted(deployment, briefly=briefly)}{note}"


def is_seen_through(deployment: Deployment) -> bool:
    """Whether the phone was restarted, and the confirmation did not fail. If it is not known
    whether the phone was restarted, whether the restart is confirmed."""
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
