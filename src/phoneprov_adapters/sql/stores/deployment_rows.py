"""Deployments as they are read: one by one, or those that somebody wants to see."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, bindparam, exists, func, or_, select, tuple_

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.hashes import HashColumns
from phoneprov_adapters.sql.tables import deployments
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
_later = deployments.alias("later")
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "mac": deployments.c.mac == bindparam("mac"),
    "profile_uuid": deployments.c.profile_uuid == bindparam("profile_uuid"),
    "outcome": deployments.c.outcome == bindparam("outcome"),
    "owner": or_(
        deployments.c.owner_uuid == bindparam("owner"),
        deployments.c.user_uuid == bindparam("owner"),
    ),
    "current": and_(
        deployments.c.place.is_not(None),
        ~exists()
        .where(
            _later.c.mac == deployments.c.mac,
            _later.c.number > deployments.c.number,
            _later.c.place.is_not(None),
        )
        .correlate(deployments),
    ),
}


@cache
def _rows(names: frozenset[str], *, after: bool) -> Statement:
    rows = select(*COLUMNS).where(*(_CONDITIONS[name] for name in sorted(names)))
    if after:
        behind = tuple_(bindparam("after_created_at"), bindparam("after_uuid"))
        rows = rows.where(tuple_(*_POSITION) > behind)
    return rows.order_by(*_POSITION).limit(bindparam("limit")).offset(bindparam("offset"))


@cache
def _count(names: frozenset[str]) -> Statement:
    count = select(func.count()).select_from(deployments)
    return count.where(*(_CONDITIONS[name] for name in sorted(names)))


class SqlDeploymentRows(DeploymentRows):
    """Those that agree with what is wanted."""

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
            values |= {"after_created_at": after.created_at, "after_uuid": after.uuid}
        statement = _rows(names, after=after is not None)
        found = await self._connection.rows(statement, **values)
        return [deployment_in(row, self._hashes) for row in found]

    def _narrowed(self, owner: str | None) -> tuple[frozenset[str], dict[str, Any]]:
        wanted = self._wanted if owner is None else {**self._wanted, "owner": owner}
        return frozenset(wanted), {n: v for n, v in wanted.items() if n != "current"}


def deployment_in(row: Row, hashes: HashColumns) -> Deployment:
    """The deployment in a row of ``COLUMNS``."""
    *plain, key_id, data = row
    fields = dict(zip(PLAIN, plain, strict=True))
    fields["sha256"] = hashes.opened(key_id, data, fields["uuid"])
    for name, kind in ENUMS.items():
        fields[name] = None if fields[name] is None else kind(fields[name])
    fields["steps"] = msgspec.json.decode(fields["steps"], type=tuple[Step, ...])
    return Deployment(**fields)
