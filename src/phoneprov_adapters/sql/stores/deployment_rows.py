"""Reading of deployments, single ones and filtered lists."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    func,
    or_,
    select,
    true,
)

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.hashes import HashColumns
from phoneprov_adapters.sql.stores.rows import Query, SqlNewestRows
from phoneprov_adapters.sql.tables import current_deployments, deployments
from phoneprov_core.deployments.model import (
    Action,
    Confirmation,
    Deployment,
    Outcome,
    Step,
    StepName,
    Wanted,
)

ENUMS: dict[str, type[Enum]] = {
    "action": Action,
    "outcome": Outcome,
    "failed_step": StepName,
    "confirmation": Confirmation,
}
PLAIN = [name for name in Deployment.__struct_fields__ if name != "sha256"]
NAMES = (*PLAIN, "sha256_key_id", "sha256_sealed")
COLUMNS = [deployments.c[name] for name in NAMES]
_OWNER = or_(
    deployments.c.owner_uuid == bindparam("owner"), deployments.c.user_uuid == bindparam("owner")
)
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "mac": deployments.c.mac == bindparam("mac"),
    "profile_uuid": deployments.c.profile_uuid == bindparam("profile_uuid"),
    "outcome": deployments.c.outcome == bindparam("outcome"),
    # In ``_from`` below.
    "current": true(),
}


def _from(statement: Select[Any], names: frozenset[str]) -> Select[Any]:
    statement = statement.where(*(_CONDITIONS[name] for name in sorted(names)))
    if "current" not in names:
        return statement
    if "mac" in names:
        statement = statement.where(current_deployments.c.mac == bindparam("mac"))
    return statement.join_from(
        current_deployments, deployments, deployments.c.uuid == current_deployments.c.uuid
    )


@cache
def _query(names: frozenset[str]) -> Query:
    count = select(func.count())
    order = current_deployments if "current" in names else deployments
    return Query(
        _from(select(*COLUMNS), names),
        (order.c.created_at, order.c.uuid),
        owner=_OWNER,
        counted=_from(count if "current" in names else count.select_from(deployments), names),
        quick_count=count.select_from(current_deployments) if names == {"current"} else None,
    )


def deployments_matching(
    connection: Connection, wanted: Wanted, entity_of: Callable[[Row], Deployment]
) -> SqlNewestRows[Deployment]:
    """The deployments that match the filter."""
    values = {
        name: value
        for name in wanted.__struct_fields__
        if (value := getattr(wanted, name)) is not None and value is not False
    }
    query = _query(frozenset(values))
    values.pop("current", None)
    return SqlNewestRows(connection, query, entity_of, **values)


def deployment_in(row: Row, hashes: HashColumns) -> Deployment:
    """The deployment in a row of ``COLUMNS``."""
    *plain, key_id, data = row
    fields = dict(zip(PLAIN, plain, strict=True))
    fields["sha256"] = hashes.opened(key_id, data, fields["uuid"])
    for name, kind in ENUMS.items():
        fields[name] = None if fields[name] is None else kind(fields[name])
    fields["steps"] = msgspec.json.decode(fields["steps"], type=tuple[Step, ...])
    return Deployment(**fields)
