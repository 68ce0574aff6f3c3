"""``phoneprov switch``, ``phoneprov preview``, ``phoneprov rollback`` and ``phoneprov restart``."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

import click
from msgspec import UNSET, UnsetType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from phoneprov_core.inventory.configuration.findings import has_errors
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.kernel.errors import NotFound, Unavailable
from phoneprov_core.switching.deployments.model import (
    Confirmation,
    Deployment,
    DeploymentFilter,
    Step,
    StepName,
)
from phoneprov_core.switching.deployments.observation import Reach
from phoneprov_core.switching.deployments.preview import Preview
from phoneprov_core.switching.deployments.records import LEASE_SECONDS
from phoneprov_core.switching.deployments.rollback import RollbackRequest
from phoneprov_core.switching.deployments.steps import Progress as OnStep
from phoneprov_core.switching.errors import NotRecorded
from phoneprov_http.main.commands.inventory.lint import line_of
from phoneprov_http.main.commands.local_access import (
    NOT_SEEN,
    Acting,
    as_operator,
    console,
    matching,
    profile_called,
)
from phoneprov_http.main.commands.terminal import (
    MAC,
    STEPS,
    as_json,
    how_it_went,
    is_seen_through,
    moment,
    print_json,
    printable,
    table,
    what,
)

_LOOK_SECONDS = 0.2

Work = Callable[[Acting, OnStep], Awaitable[Deployment]]

_wait = click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help=(
        "Wait until the phone is confirmed after its restart, at most PHONEPROV_CONFIRM_TIMEOUT "
        "seconds; without waiting there is no confirmation."
    ),
)


@click.command()
@click.argument("profile")
@click.argument("mac", type=MAC)
@_wait
@as_json
def switch(profile: str, mac: str, *, wait: bool, as_json: bool) -> None:
    """Deploy the newest revision of PROFILE to the phone MAC.

    PROFILE is a name or uuid. Uploads the configuration, clears the phone's services, restarts
    the phone and waits until it is back. The record names the operator as user. Works while the
    service runs.

    \b
    Exit codes:
      0  deployed, and the phone is back
      1  not deployed: the old file is in place, unchanged
      2  the command or a setting is wrong
      3  the file is in place, but the phone was not restarted, or is not known to be, or
         the record of it could not be stored
      4  unknown: the old or the new file is in place

    \b
      phoneprov switch "Ada at the front desk" 001bd4123456
      phoneprov switch 5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11 00:1B:D4:12:34:56 --json
    """

    async def work(at: Acting, on_step: OnStep) -> Deployment:
        request = SwitchRequest(profile_uuid=await profile_called(at, profile), mac=mac)
        return await at.container.switch_profile().deployment(at.actor, request, on_step)

    _deploy(work, wait=wait, as_json=as_json)


@click.command()
@click.argument("mac", type=MAC)
@click.option(
    "--deployment",
    metavar="NUMBER|UUID",
    help="Deploy the revision of this deployment again; phoneprov history shows the numbers.",
)
@click.option("--profile", help="Deploy a revision of this profile (name or uuid).")
@click.option("--revision", type=click.IntRange(1, 2**31 - 1), help="Revision of --profile.")
@click.option(
    "--force",
    is_flag=True,
    help="Deploy it even if its user no longer has a number in it, or is not active.",
)
@_wait
@as_json
def rollback(
    mac: str,
    deployment: str | None,
    profile: str | None,
    revision: int | None,
    *,
    force: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Deploy the previous configuration of the phone MAC again.

    A switch with all its steps to the revision before the current one, or to the revision that
    the options name. Same exit codes as phoneprov switch.

    \b
      phoneprov rollback 001bd4123456
      phoneprov rollback 001bd4123456 --deployment 3
      phoneprov rollback 001bd4123456 --profile "Ada at the front desk" --revision 2
    """
    if (profile is None) != (revision is None) or (profile and deployment):
        raise click.UsageError(
            "--profile and --revision must be used together, and without --deployment."
        )

    async def work(at: Acting, on_step: OnStep) -> Deployment:
        request = RollbackRequest(
            deployment_uuid=await _deployment_called(at, mac, deployment),
            profile_uuid=UNSET if profile is None else await profile_called(at, profile),
            revision=UNSET if revision is None else revision,
            force=force,
        )
        return await at.container.rollback()(at.actor, mac, request, on_step)

    _deploy(work, wait=wait, as_json=as_json)


@click.command()
@click.argument("mac", type=MAC)
def restart(mac: str) -> None:
    """Restart the phone MAC, which keeps its configuration.

    A phone in a call is not restarted. Works while the service runs. Many phones are restarted by
    phoneprov batch start restart.

    \b
      phoneprov restart 001bd4123456
    """
    as_operator(lambda at: at.container.restart_phone()(at.actor, mac))
    click.echo(f"{mac} restarts.")


async def _deployment_called(at: Acting, mac: str, text: str | None) -> str | UnsetType:
    if text is None:
        return UNSET
    if not text.isdigit():
        return text
    deployments = await at.container.deployments().all(at.actor, DeploymentFilter(mac=mac))
    for deployment in await matching(deployments, lambda one: one.number == int(text[:10])):
        return deployment.uuid
    raise NotFound(f"This phone has no deployment number {text}.")


async def _recorded(error: NotRecorded) -> Deployment:
    """The record, once it is stored; this process alone can do so. Raises the error if it is not
    stored before the phone may be acquired by others."""
    assert error.closing is not None
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(LEASE_SECONDS):
            return await asyncio.shield(error.closing)
    raise error


def _deploy(work: Work, *, wait: bool, as_json: bool) -> None:
    """Show the steps of a deployment on a terminal, then its result. Exits with ``NOT_SEEN`` if
    the phone is not seen to be back."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        console=console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("begin", total=len(STEPS) + 1)

        def on_step(name: StepName, step: Step | None) -> None:
            done = 1 if step else 0
            progress.update(task, description=STEPS[name], advance=done, refresh=True)

        async def confirmed(at: Acting) -> Deployment:
            try:
                deployment = await work(at, on_step)
            except NotRecorded as error:
                progress.update(task, description="wait for the database")
                deployment = await _recorded(error)
            while deployment.confirmation is Confirmation.PENDING:
                progress.update(task, description="wait for the phone")
                await asyncio.sleep(_LOOK_SECONDS)
                deployment = await at.container.deployments().get(at.actor, deployment.uuid)
            return deployment

        deployment = as_operator(confirmed, watching=wait)
    if as_json:
        print_json(deployment)
    else:
        rows = [
            (
                STEPS[step.name],
                {True: "done", False: "FAILED", None: "not known"}[step.ok],
                f"{step.duration_ms} ms",
                step.message or "",
            )
            for step in deployment.steps
        ]
        table(("", "", "", ""), rows)
        click.echo(f"{what(deployment)}, is on {deployment.mac} as {deployment.place}.")
        click.echo(f"Deployment {deployment.number} of this phone: {how_it_went(deployment)}")
    if not is_seen_through(deployment):
        sys.exit(NOT_SEEN)


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
