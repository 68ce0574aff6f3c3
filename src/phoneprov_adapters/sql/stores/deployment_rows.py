"""Reading of deployments, single ones and filtered lists."""

from __future__ import annotations

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
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_adapters.sql.stores.hashes import HashColumns
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
from phoneprov_core.deployments.ports import DeploymentRows

ENUMS: dict[str, type[Enum]] = {
    "action": Action,
    "outcome": Outcome,
    "failed_step": StepName,
    "confirmation": Confirmation,
}
PLAIN = [name for name in Deployment.__struct_fields__ if name != "sha256"]
NAMES = (*PLAIN, "sha256_key_id", "sha256_sealed")
COLUMNS = [deployments.c[name] for name in NAMES]
_POSITION = (deployments.c.created_at, deployments.c.uuid)
_CURRENT_POSITION = (
    current_deployments.c.created_at,
    current_deployments.c.deployment_uuid,
)
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "mac": deployments.c.mac == bindparam("mac"),
    "profile_uuid": deployments.c.profile_uuid == bindparam("profile_uuid"),
    "outcome": deployments.c.outcome == bindparam("outcome"),
    "owner": or_(
        deployments.c.owner_uuid == bindparam("owner"),
        deployments.c.user_uuid == bindparam("owner"),
    ),
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
        current_deployments,
        deployments,
        deployments.c.uuid == current_deployments.c.deployment_uuid,
    )


@cache
def _rows(names: frozenset[str], *, after: bool, newest_first: bool = False) -> Statement:
    rows = _from(select(*COLUMNS), names)
    position = _CURRENT_POSITION if "current" in names else _POSITION
    return page(rows, position, after=after, newest_first=newest_first)


@cache
def _count(names: frozenset[str]) -> Statement:
    count = select(func.count())
    if names == {"current"}:
        return count.select_from(current_deployments)
    return _from(count if "current" in names else count.select_from(deployments), names)


class SqlDeploymentRows(DeploymentRows):
    """The deployments that match the filter."""

    def __init__(self, connection: Connection, hashes: HashColumns, wanted: Wanted) -> None:
        self._connection = connection
        self._hashes = hashes
        self._wanted = {
            name: value
            for name in wanted.__struct_fields__
            if (value := getattr(wanted, name)) is not None and value is not False
        }

    async def count(self, owner: str | None = None) -> int:
        names, values = self._narrowed(owner)
        return int((await self._connection.rows(_count(names), **values))[0][0])

    async def rows(
        self,
        limit: int,
        *,
        after: Deployment | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[Deployment]:
        names, values = self._narrowed(owner)
        values |= {"limit": limit, "offset": offset}
        if after is not None:
            values |= _place(after)
        statement = _rows(names, after=after is not None)
        found = await self._connection.rows(statement, **values)
        return [deployment_in(row, self._hashes) for row in found]

    async def newest(
        self, limit: int, *, before: Deployment | None = None, owner: str | None = None
    ) -> list[Deployment]:
        names, values = self._narrowed(owner)
        values |= {"limit": limit, "offset": 0}
        if before is not None:
            values |= _place(before)
        statement = _rows(names, after=before is not None, newest_first=True)
        found = await self._connection.rows(statement, **values)
        return [deployment_in(row, self._hashes) for row in found]

    def _narrowed(self, owner: str | None) -> tuple[frozenset[str], dict[str, Any]]:
        wanted = self._wanted if owner is None else {**self._wanted, "owner": owner}
        return frozenset(wanted), {n: v for n, v in wanted.items() if n != "current"}


def _place(deployment: Deployment) -> dict[str, Any]:
    return {"after_time": deployment.created_at, "after_key": deployment.uuid}


def deployment_in(row: Row, hashes: HashColumns) -> Deployment:
    """The deployment in a row of ``COLUMNS``."""
    *plain, key_id, data = row
    fields = dict(zip(PLAIN, plain, strict=True))
    fields["sha256"] = hashes.opened(key_id, data, fields["uuid"])
    for name, kind in ENUMS.items():
        fields[name] = None if fields[name] is None else kind(fields[name])
    fields["steps"] = msgspec.json.decode(fields["steps"], type=tuple[Step, ...])
    return Deployment(**fields)
