"""``phoneprov history``: the deployments of phones."""

from collections.abc import Iterable
from typing import Literal, get_args

import click

from phoneprov_core.kernel.actor import SYSTEM
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.ports import Listing, Window
from phoneprov_core.switching.deployments.model import Action, Deployment, DeploymentFilter
from phoneprov_http.main.commands.local_access import Acting, as_operator, profile_called
from phoneprov_http.main.commands.terminal import (
    MAC,
    as_json,
    how_it_went,
    lines_of,
    moment,
    print_json,
    table,
)

Outcome = Literal["running", "deployed", "failed", "unknown", "interrupted"]


@click.command()
@click.argument("mac", required=False, type=MAC)
@click.option("--current", is_flag=True, help="Show only the current deployment of each phone.")
@click.option("--profile", help="Show only deployments of this profile (name or uuid).")
@click.option(
    "--outcome",
    type=click.Choice(get_args(Outcome)),
    help="Show only deployments with this outcome.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Maximum number of deployments; the newest are shown.",
)
@as_json
def history(
    mac: str | None,
    *,
    current: bool,
    profile: str | None,
    outcome: Outcome | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show the deployments of the phone MAC, or of all phones.

    Each line has the outcome. The newest deployment is last; the current deployment of a phone has
    a star. Times are UTC.

    \b
      phoneprov history 001bd4123456
      phoneprov history --current
      phoneprov history --outcome failed --json
    """

    async def work(at: Acting) -> tuple[list[Deployment], set[str], dict[str, str]]:
        uuid = None if profile is None else await profile_called(at, profile)
        wanted = DeploymentFilter(mac=mac, profile_uuid=uuid, outcome=outcome, current=current)
        found = await _newest(at, wanted, limit)
        return found, await _on_phones(at, found), await _names(at, found)

    found, now, names = as_operator(work)
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("No deployments found.")
        return
    # The history of a phone includes the deployments of the phones that it replaced.
    with_phone = mac is None or any(one.mac != found[0].mac for one in found)
    rows = [
        (
            "*" if one.uuid in now else "",
            *([one.mac] if with_phone else []),
            str(one.number),
            moment(one.created_at)[:16],
            names[one.user_uuid],
            one.profile_name,
            str(one.revision),
            (
                f"{'rollback: ' if one.action is Action.ROLLBACK else ''}"
                f"{how_it_went(one, briefly=True)}{lines_of(one)}"
            ),
        )
        for one in found
    ]
    phone = ["Phone"] if with_phone else []
    table(("", *phone, "No.", "When", "By", "Profile", "Rev.", "Outcome"), rows)


async def _newest(at: Acting, wanted: DeploymentFilter, limit: int) -> list[Deployment]:
    """The newest deployments, oldest first."""

    async def listed(window: Window) -> Listing[Deployment]:
        if wanted.mac is None:
            return await at.container.deployments().all(at.actor, wanted, window)
        return await at.container.deployments().of_phone(at.actor, wanted.mac, wanted, window)

    total = (await listed(Window(limit=1))).total or 0
    return (await listed(Window(limit=limit, offset=max(0, total - limit)))).first


async def _on_phones(at: Acting, found: Iterable[Deployment]) -> set[str]:
    """The uuids of the current deployments of the phones."""
    now = set()
    for mac in {one.mac for one in found if one.place is not None}:
        now.add((await at.container.deployments().current(at.actor, mac)).uuid)
    return now


async def _names(at: Acting, found: Iterable[Deployment]) -> dict[str, str]:
    names = {SYSTEM: "operator"}
    for uuid in {one.user_uuid for one in found} - {SYSTEM}:
        try:
            names[uuid] = (await at.container.users().get(at.actor, uuid)).username
        except NotFound:
            names[uuid] = "(deleted)"
    return names
