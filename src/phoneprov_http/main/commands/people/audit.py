"""``phoneprov audit``: the audit trail."""

from typing import Any

import click
import msgspec

from phoneprov_core.people.audit import AuditEntry, WantedEntries
from phoneprov_http.main.commands.local_access import Acting, as_operator
from phoneprov_http.main.commands.output import moment, table

_PAGE = 1000


@click.command()
@click.option("--since", help="Show only entries of this moment (ISO 8601, UTC) or later.")
@click.option("--until", help="Show only entries before this moment.")
@click.option("--actor", "actor_uuid", help="Show only entries of this account (uuid).")
@click.option("--action", help="Show only this action, such as phone.updated or login.failed.")
@click.option("--resource", help="Show only this kind of resource, such as phone or user.")
@click.option("--id", "resource_id", help="Show only the resource with this uuid or MAC address.")
@click.option("--before", help="Show only entries before the one with this uuid.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=None,
    help="Maximum number of entries; the newest are shown. Without it 50, with --json all.",
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
