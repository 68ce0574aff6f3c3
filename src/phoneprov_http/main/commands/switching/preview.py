"""``phoneprov preview``: a dry run of a switch."""

import sys

import click
from rich.text import Text

from phoneprov_core.inventory.configuration.findings import has_errors
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.switching.deployments.observation import Reach
from phoneprov_core.switching.deployments.preview import Preview
from phoneprov_http.main.commands.inventory.lint import line_of
from phoneprov_http.main.commands.local_access import Acting, as_operator, console, profile_called
from phoneprov_http.main.commands.options import MAC, as_json, print_json, printable
from phoneprov_http.main.commands.output import how_it_went, moment, table, what

MOST_COLOURED = 5000
"""Maximum number of lines of a diff that is coloured: that costs about 0.2 ms a line."""

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@click.argument("profile")
@click.argument("mac", type=MAC)
@as_json
def preview(profile: str, mac: str, *, as_json: bool) -> None:
    """Show what a switch of the phone MAC to PROFILE would do.

    Changes nothing. PROFILE is a name or uuid. Shows whether the profile fits the phone, whether
    the FTP server and the phone are reachable, the findings of the linter, and the difference from
    the configuration on the phone; secrets are masked. Exits with 1 when the switch would be
    refused, the server is not reachable, or the linter finds an error.

    \b
      phoneprov preview "Ada at the front desk" 001bd4123456
    """

    async def work(at: Acting) -> Preview:
        request = SwitchRequest(profile_uuid=await profile_called(at, profile), mac=mac)
        return await at.container.preview_switch()(at.actor, request)

    previewed = as_operator(work)
    if as_json:
        print_json(previewed)
    else:
        _show(previewed)
    if (
        not previewed.compatible
        or previewed.server.reachable is False
        or has_errors(previewed.findings)
    ):
        sys.exit(1)


def _show(previewed: Preview) -> None:
    rows = [
        ("Phone", previewed.mac),
        ("Profile", f"{previewed.profile}, revision {previewed.revision}"),
        ("File", f"{previewed.filename}, {previewed.size} bytes"),
        ("Fits", "yes" if previewed.compatible else f"NO: {previewed.objection}"),
        ("FTP server", _reached(previewed.server)),
        ("Web server", _reached(previewed.phone)),
    ]
    now = previewed.on_phone
    if now is not None:
        since = moment(now.created_at)
        rows.append(("On the phone", f"{what(now)}, since {since}: {how_it_went(now)}"))
    rows.append(("Would change", _changes(previewed)))
    if previewed.file_note:
        rows.append(("On the server", previewed.file_note))
    if previewed.needs_reset:
        rows.append(("Needs a reset", ", ".join(previewed.needs_reset)))
    table(("", ""), rows)
    for finding in previewed.findings:
        click.echo(line_of(previewed.filename, finding))
    for diff in (previewed.file_diff, previewed.diff):
        if diff:
            click.echo()
            _print_diff(diff.split("\n")[:-1])


def _print_diff(lines: list[str]) -> None:
    terminal = console()
    if not terminal.is_terminal or len(lines) > MOST_COLOURED:
        click.echo("\n".join(map(printable, lines)))
        return
    for line in lines:
        terminal.print(Text(printable(line), style=_COLOURS.get(line[:1], "")), soft_wrap=True)


def _reached(reach: Reach) -> str:
    word = {True: "reachable", False: "NOT REACHABLE", None: "unknown"}[reach.reachable]
    return f"{word}: {reach.message}"


def _changes(previewed: Preview) -> str:
    if previewed.diff_note is not None:
        return f"unknown: {previewed.diff_note}"
    return "yes, as shown below" if previewed.diff else "nothing"
