"""``phoneprov create-admin`` and ``phoneprov audit``."""

import asyncio
import sys
from typing import Any

import click
import msgspec

from phoneprov_adapters.composition.lifecycle import (
    create_database,
    prepare,
    running,
)
from phoneprov_adapters.composition.settings import Settings
from phoneprov_core.people.audit import AuditEntry, WantedEntries
from phoneprov_core.people.auth.accounts import AdminCreated
from phoneprov_core.people.users.model import Registration
from phoneprov_http.main.commands.local_access import Acting, as_operator
from phoneprov_http.main.commands.settings import settings_of_environment
from phoneprov_http.main.commands.terminal import moment, table


@click.command("create-admin")
@click.option("--username", required=True, help="Username of the account.")
@click.option("--email", required=True, help="E-mail address of the account.")
@click.option(
    "--password-stdin",
    is_flag=True,
    help="Read the password from standard input instead of asking for it.",
)
def create_admin(username: str, email: str, *, password_stdin: bool) -> None:
    """Create a superadmin account.

    The account has the level-0 permission "superadmin". Works before the first start of the
    service. Can be repeated: an existing account keeps its password if it has one. Creates the
    data folder if it does not exist.
    """
    settings = settings_of_environment()
    made = asyncio.run(_create_admin(settings, username, email, password_stdin=password_stdin))
    did = "was created"
    if not made.is_new:
        did = f"exists, {'has the new' if made.has_new_password else 'keeps its'} password"
    click.echo(f"{made.user.username} {did} and is a superadmin.")


async def _create_admin(
    settings: Settings, username: str, email: str, *, password_stdin: bool
) -> AdminCreated:
    container = prepare(settings)
    await create_database(settings)
    async with running(container):
        create = container.create_admin()
        password = (
            "" if await create.has_password(username) else _password(from_stdin=password_stdin)
        )
        new = Registration(
            first_name=username, last_name="Administrator", username=username, email=email,
            password=password,
        )  # fmt: skip
        return await create(new)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        try:
            return sys.stdin.buffer.readline().decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError:
            raise click.UsageError("The password on standard input is not in UTF-8.") from None
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))


_PAGE = 1000


@click.command()
@click.option("--since", help="Show only entries at or after this time (ISO 8601, UTC).")
@click.option("--until", help="Show only entries before this time.")
@click.option("--actor", "actor_uuid", help="Show only entries of this account (uuid).")
@click.option("--action", help="Show only this action, such as phone.updated or login.failed.")
@click.option("--resource", help="Show only this kind of resource, such as phone or user.")
@click.option("--id", "resource_id", help="Show only the resource with this uuid or MAC address.")
@click.option("--before", help="Show only entries before the entry with this uuid.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=None,
    help="Maximum number of entries, newest first; by default 50, with --json all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, for a SIEM.")
def audit(*, limit: int | None, as_json: bool, **wanted: str | None) -> None:
    """Show who changed what, and failed logins. Newest first; times are UTC.

    \b
      phoneprov audit --action phone.switched
      phoneprov audit --resource phone --id 00:1B:D4:12:34:56
      phoneprov audit --json --since 2026-01-31T00:00:00Z
    """
    as_operator(lambda at: _show(at, WantedEntries(**wanted), limit, as_json=as_json))


async def _show(at: Acting, wanted: WantedEntries, limit: int | None, *, as_json: bool) -> None:
    left = limit if limit is not None or as_json else 50
    rows: list[tuple[str, ...]] = []
    while left is None or left > 0:
        size = _PAGE if left is None else min(_PAGE, left)
        page = await at.container.audit().newest(at.actor, wanted, size)
        for traced in page:
            if as_json:
                entry = {**msgspec.to_builtins(traced.entry), "traceparent": traced.traceparent}
                click.echo(msgspec.json.encode(entry))
            else:
                rows.append(_row(traced.entry))
        if len(page) < size:
            break
        left = None if left is None else left - len(page)
        wanted = msgspec.structs.replace(wanted, before=page[-1].entry.uuid)
    if rows:
        table(("When", "By", "From", "Action", "Resource", "Changes"), rows)
    elif not as_json:
        click.echo("No audit entries found.")


def _row(entry: AuditEntry) -> tuple[str, ...]:
    return (
        moment(entry.at),
        (entry.actor or entry.actor_uuid or "-")
        + (f" (token {entry.token})" if entry.token else ""),
        entry.client_ip or "-",
        entry.action,
        entry.resource_id or "-",
        ", ".join(_change(field, change) for field, change in entry.changes.items()),
    )


def _change(field: str, change: Any) -> str:
    if not isinstance(change, dict):
        return f"{field} changed"
    old, new = change.get("old"), change.get("new")
    return f"{field}: {new}" if old is None else f"{field}: {old} -> {new}"
