"""``phoneprov fleet``, ``watch`` and ``drill``: the states of phones, and emergency drills."""

import asyncio
import sys
from contextlib import suppress

import click
import msgspec

from phoneprov_adapters.composition.lifecycle import create_database, prepare, running
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.features.fleet.status import PhoneStatus
from phoneprov_core.features.fleet.use_cases import Fleet, FleetQuery
from phoneprov_core.features.lines.drills import Drill, DrillResult
from phoneprov_core.inventory.phones.model import PhoneSearch
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.ports import Window
from phoneprov_http.main.commands.local_access import Acting, as_operator, counting
from phoneprov_http.main.commands.settings import settings_of_installation
from phoneprov_http.main.commands.terminal import table
from phoneprov_http.main.server.logs import set_up_logs
from phoneprov_http.main.server.sockets import run_until_stopped

_MINUTES = 30
_RETRY_SECONDS = 5.0


@click.command()
@click.option(
    "--state",
    type=click.Choice([state.value for state in FleetState]),
    help="List the phones in this state, at most 1000, with the next step of each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def fleet(*, state: str | None, as_json: bool) -> None:
    """Show the states of the phones, as last observed.

    "phoneprov watch", or "phoneprov serve" with PHONEPROV_WATCH_MINUTES, checks the phones.
    """
    if state is None:
        numbers = as_operator(lambda at: at.container.view_fleet().numbers(at.actor, FleetQuery()))
        _show_numbers(numbers, as_json=as_json)
        return
    phones = as_operator(lambda at: _in_state(at, state))
    if as_json:
        for status in phones:
            click.echo(msgspec.json.encode(status))
    elif phones:
        table(
            ("Phone", "Since", "State", "Next step"),
            [(one.mac, one.since or "-", one.message, one.next_step or "-") for one in phones],
        )
    else:
        click.echo("No phone is in this state.")


async def _in_state(at: Acting, state: str) -> list[PhoneStatus]:
    wanted = msgspec.convert({"state": state}, PhoneSearch)
    phones = await at.container.phones().all(at.actor, Window(), wanted)
    view = at.container.view_fleet()
    return [await view.state(at.actor, phone.mac) for phone in phones.first]


def _show_numbers(numbers: Fleet, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(numbers))
        return
    rows = [("state", name, count) for name, count in numbers.states.items()]
    rows += [("last outcome", name, count) for name, count in numbers.last_outcomes.items()]
    rows += [("model", name, count) for name, count in numbers.models.items()]
    rows += [("firmware", name, count) for name, count in numbers.loads.items()]
    table(("Phones by", "", ""), [(what, name, str(count)) for what, name, count in rows])
    click.echo(f"{numbers.phones} active phone(s).")


@click.command()
@click.option("--location", help="Only the phones at or within this location.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object for each desk.")
def drill(*, location: str | None, as_json: bool) -> None:
    """Ask Asterisk what emergency calls would present.

    The calls run through the dialplan up to the trunk; no call reaches the trunk. Each result is
    recorded with the phone. Exits with 1 if a call presents another number or place than the
    record, if Asterisk does not report them, or if no phone is registered.
    """

    async def work(at: Acting) -> list[Drill]:
        drills = at.container.drills()
        macs = await drills.desks(at.actor, location)
        if not macs:
            raise click.UsageError("No active phone is at or within this location.")
        with counting(quiet=as_json) as progress:
            task = progress.add_task("Desks", total=len(macs))
            return await drills.run(at.actor, macs, lambda _: progress.advance(task))

    found = as_operator(work)
    faults = [one for one in found if one.result in {DrillResult.DIFFERS, DrillResult.UNKNOWN}]
    agreeing = sum(one.result is DrillResult.AGREES for one in found)
    if as_json:
        for one in found:
            click.echo(msgspec.json.encode(one))
    else:
        if faults:
            table(
                ("Phone", "Location", "Result", "Message"),
                [
                    (one.mac, one.location or "-", one.result.value, one.message or "-")
                    for one in faults
                ],
            )
        absent = len(found) - len(faults) - agreeing
        click.echo(
            f"{len(found)} desk(s): {agreeing} as recorded, {len(faults)} not, "
            f"{absent} not registered."
        )
    if faults or not agreeing:
        sys.exit(1)


@click.command()
@click.option(
    "--minutes",
    type=click.IntRange(1, 1440),
    help="Minutes for one check of all phones; by default PHONEPROV_WATCH_MINUTES, or 30.",
)
def watch(minutes: int | None) -> None:
    """Check the state of every phone, again and again.

    Runs until SIGTERM or Ctrl-C. Only one process of the installation checks the phones; if this
    process stops, another process takes over within minutes.
    """
    set_up_logs()
    with suppress(KeyboardInterrupt):
        run_until_stopped(_watch(minutes))


async def _watch(minutes: int | None) -> None:
    settings = settings_of_installation()
    container = prepare(settings)
    await create_database(settings)
    async with running(container, may_be_offline=True):
        length = minutes or settings.watch_minutes or _MINUTES
        every = "minute" if length == 1 else f"{length} minutes"
        click.echo(f"phoneprov checks every phone each {every} (stop with Ctrl-C)", err=True)
        while True:
            with suppress(Unavailable):
                await container.watch_fleet().run(length)
            await asyncio.sleep(_RETRY_SECONDS)
