"""``phoneprov keys``: status and rotation of the secret keys."""

import sys

import click
from rich.progress import TimeRemainingColumn

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.installation import require_keys
from phoneprov_adapters.sql.maintenance.key_rotation import KeyStatus, Rotated
from phoneprov_adapters.sql.stores.sealed import PINS
from phoneprov_http.main.commands.local_access import counting, in_container

_MOST_NAMES = 20
_MOST_PLACES = 5

PinOwners = dict[str, list[str]]


@click.group()
def keys() -> None:
    """Show and rotate the secret keys (PHONEPROV_SECRET_KEYS).

    The first key signs and encrypts, the others only verify and decrypt; a key with the prefix
    "pin:" only verifies PINs. To change the key: add the new one after the others and restart
    every phoneprov; move it to the first place and restart again; run "keys rotate"; then
    remove the old key or, if "keys status" shows that PINs need it, give it the prefix "pin:".
    """


@keys.command()
def status() -> None:
    """Show the number of stored secrets per key. Exit with 1 if an older key is needed."""
    status, owners = in_container(_status)
    for line in key_lines(status, owners):
        click.echo(line)
    if status.outdated:
        sys.exit(1)


@keys.command()
@click.option(
    "--end-sessions",
    is_flag=True,
    help="End all sessions afterwards: every user has to log in again.",
)
def rotate(*, end_sessions: bool) -> None:
    """Encrypt all secrets of older keys with the first key.

    Services may use the database at the same time if they were started with the same keys. The
    command can be interrupted and repeated.
    """
    rotated, owners, ended = in_container(lambda own: _rotate(own, end_sessions=end_sessions))
    click.echo(f"{rotated.count} secret(s) were encrypted with the key {rotated.status.current}.")
    if ended is not None:
        click.echo(f"{ended} session(s) were ended.")
    for line in key_lines(rotated.status, owners):
        click.echo(line)
    if rotated.unreadable:
        some = ", ".join(rotated.unreadable[:_MOST_PLACES])
        click.echo(
            f"phoneprov: {len(rotated.unreadable)} secret(s) cannot be decrypted, because they"
            f" were altered in the database, and are unchanged: {some}",
            err=True,
        )
        sys.exit(1)


def key_lines(status: KeyStatus, owners: PinOwners) -> list[str]:
    """One line for each key."""
    lines = []
    for key_id in dict.fromkeys((*status.configured, *status.pins_only, *status.missing)):
        rank = "the first" if key_id == status.current else "older"
        if key_id in status.missing:
            rank = "MISSING"
        if key_id in status.pins_only:
            rank = f"{rank}, for PINs only"
        uses = ", ".join(f"{use.count} {use.what}" for use in status.of(key_id))
        line = f"{key_id} ({rank}): {uses or 'nothing needs it'}"
        if key_id in owners:
            line += f"; PINs can only be set again, by {', '.join(owners[key_id])}"
        lines.append(line)
    return lines


async def _status(container: Container) -> tuple[KeyStatus, PinOwners]:
    status = await container.rotation().status()
    if status.missing and (made := container.keys().made):
        # It was created because the key file is missing; no secret needs it yet.
        made.unlink(missing_ok=True)
    return status, await _pin_owners(container, status)


async def _rotate(
    container: Container, *, end_sessions: bool
) -> tuple[Rotated, PinOwners, int | None]:
    await require_keys(container)
    with counting(TimeRemainingColumn()) as progress:
        task = progress.add_task("Encrypting")
        rotated = await container.rotation().rotate(
            lambda done, total: progress.update(task, completed=done, total=total)
        )
    ended = await container.rotation().end_sessions() if end_sessions else None
    return rotated, await _pin_owners(container, rotated.status), ended


async def _pin_owners(container: Container, status: KeyStatus) -> PinOwners:
    """By key, the names of some users whose PIN needs it, for every key but the first."""
    owners = {}
    for use in status.outdated:
        if use.what == PINS:
            names = await container.rotation().pin_owners(use.key_id, _MOST_NAMES)
            more = use.count - len(names)
            owners[use.key_id] = [*names, f"and {more} more"] if more > 0 else names
    return owners
