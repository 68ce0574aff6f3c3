"""Commands for the installation: database, old records, keys, and ``phoneprov doctor``."""

import asyncio
import logging
import os
import sys

import click
from rich.progress import TimeRemainingColumn

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.doctor import examine
from phoneprov_adapters.composition.doctor_lines import SERVICE, CheckResult, Verdict
from phoneprov_adapters.composition.lifecycle import require_database, require_keys
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.sql.engines.revisions import newest, obstacle
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_adapters.sql.maintenance.key_rotation import KeyStatus, Rotated
from phoneprov_adapters.sql.stores.sealed import PINS
from phoneprov_core import __version__
from phoneprov_http.main.commands.local_access import counting, in_container
from phoneprov_http.main.commands.settings import settings_of_environment
from phoneprov_http.main.commands.terminal import as_json, show_rows


@click.group()
def db() -> None:
    """Upgrade the database schema, or show its version."""


@db.command()
def upgrade() -> None:
    """Upgrade the schema to the newest version. Stop every service and command on a SQLite file
    first.

    After a failure the schema is unchanged.
    """
    settings = _settings_of_database()
    asyncio.run(migrate.upgrade(settings.database_url, lambda line: click.echo(line, err=True)))
    click.echo(f"The schema is {newest()}, as phoneprov {__version__} needs it.")


@db.command()
def current() -> None:
    """Show the version of the schema. Exit with 1 if this version needs another version."""
    settings = _settings_of_database()
    found = asyncio.run(migrate.current(settings.database_url))
    click.echo(f"The schema is {found or 'missing'}; phoneprov {__version__} needs {newest()}.")
    if reason := obstacle(found):
        click.echo(reason)
        sys.exit(1)


def _settings_of_database() -> Settings:
    settings = settings_of_environment()
    require_database(settings)
    return settings


@click.command()
@click.option("--dry-run", is_flag=True, help="Count the records and remove none.")
@as_json
def prune(*, dry_run: bool, as_json: bool) -> None:
    """Remove old records now. "phoneprov serve" removes them every six hours.

    PHONEPROV_KEEP_DEPLOYMENTS, _KEEP_FETCHES, _KEEP_AUDIT and _KEEP_REVISIONS are days, and 0
    keeps the records for ever. The current configuration of each phone, and configurations that
    a rollback can deploy, are always kept. The service may run at the same time. Exits with 1 if
    one kind of record could not be removed.
    """
    pruned = in_container(lambda container: container.prune()(dry_run=dry_run))
    columns = ("Kind", "Would be removed" if dry_run else "Removed", "")
    rows = [(one.kind.value, f"{one.count:,}", one.message or "") for one in pruned]
    show_rows(pruned, columns, rows, as_json=as_json)
    if any(one.message is not None for one in pruned):
        sys.exit(1)


_MOST_NAMES = 20
_MOST_PLACES = 5

PinOwners = dict[str, list[str]]


@click.group()
def keys() -> None:
    """Show and rotate the secret keys (PHONEPROV_SECRET_KEYS).

    The first key signs and encrypts, the other keys only verify and decrypt; a key with the prefix
    "pin:" only verifies PINs. To change the key: add the new key after the others and restart every
    phoneprov process; move the new key to the first place and restart again; run "keys rotate";
    then remove the old key or, if "keys status" shows that PINs need it, give it the prefix "pin:".
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
        # This key was created just now because the key file is missing; no secret needs it yet.
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
    """For each key except the first, the names of some users whose PIN needs this key."""
    owners = {}
    for use in status.outdated:
        if use.what == PINS:
            names = await container.rotation().pin_owners(use.key_id, _MOST_NAMES)
            more = use.count - len(names)
            owners[use.key_id] = [*names, f"and {more} more"] if more > 0 else names
    return owners


@click.command()
@click.option("--url", default=SERVICE, show_default=True, help="URL of the service for Asterisk.")
@as_json
def doctor(*, url: str, as_json: bool) -> None:
    """Check settings, keys, database, servers and phones.

    Names the next step for each fault. Changes nothing; the service may run meanwhile. Logs in on
    the FTP server and on Asterisk, and sends requests to up to five phones. If Asterisk requests
    lines from the service, doctor sends the same request, and compares the phones of the service
    with the phones of Asterisk. Exits with 0 if no check fails, with 1 otherwise.
    """
    logging.getLogger("phoneprov").addHandler(logging.NullHandler())
    findings = asyncio.run(_all(url))
    rows = []
    for one in findings:
        rows.append((one.check, one.state.value, one.message))
        if one.next_step is not None:
            rows.append(("", "", f"Next: {one.next_step}"))
    show_rows(findings, ("Check", "State", "Finding"), rows, as_json=as_json)
    if any(one.state is Verdict.FAILED for one in findings):
        sys.exit(1)


async def _all(url: str) -> list[CheckResult]:
    return [finding async for finding in examine(os.environ, url)]
