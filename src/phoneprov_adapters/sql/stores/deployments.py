"""Deployments and leases in SQL."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from sqlalchemy import bindparam, exists, or_, select, update

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, InsertFactory, Row
from phoneprov_adapters.sql.engines.statements import Statement, is_over, now_ms
from phoneprov_adapters.sql.stores.deployment_rows import (
    COLUMNS,
    ENUMS,
    NAMES,
    deployment_in,
    deployments_matching,
)
from phoneprov_adapters.sql.stores.hashes import HashColumns
from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import current_deployments, deployments, leases, phones
from phoneprov_core.deployments.model import Deployment, Outcome, Wanted
from phoneprov_core.deployments.ports import DeploymentStore, LeaseStore
from phoneprov_core.kernel.store import NewestRows

_INTERRUPT = (
    update(deployments)
    .where(
        deployments.c.outcome == Outcome.RUNNING.value,
        ~exists().where(
            leases.c.mac == deployments.c.mac,
            leases.c.holder == deployments.c.uuid,
            ~is_over(leases.c.expires_at),
        ),
    )
    .values(outcome=Outcome.INTERRUPTED.value, ended_at=bindparam("now"))
    .returning(deployments.c.mac, deployments.c.number)
)
_REMEMBER = (
    update(phones)
    .where(
        phones.c.mac == bindparam("the_mac"),
        or_(phones.c.last_number.is_(None), phones.c.last_number <= bindparam("the_number")),
    )
    .values(last_outcome=bindparam("the_outcome"), last_number=bindparam("the_number"))
)


@cache
def _is_current(insert: InsertFactory) -> Statement:
    names = current_deployments.columns.keys()
    statement = insert(current_deployments).values({name: bindparam(name) for name in names})
    return statement.on_conflict_do_update(
        index_elements=["mac"],
        set_={name: statement.excluded[name] for name in names},
        where=current_deployments.c.number < statement.excluded.number,
    )


_PLACED = (
    select(*COLUMNS)
    .where(deployments.c.mac == bindparam("mac"), deployments.c.place.is_not(None))
    .order_by(deployments.c.number.desc())
    .limit(bindparam("limit"))
)
_BEFORE = _PLACED.where(deployments.c.number < bindparam("number"))
_FIRST_PIECE, _LARGEST_PIECE = 4, 1024


class SqlDeployments(SqlStore[Deployment], DeploymentStore):
    """Deployments, by uuid."""

    records = Records(Deployment, deployments, columns=NAMES, one_name="deployment")

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection)
        self._hashes = HashColumns(deployments.name, box)

    def _row_of(self, entity: Deployment) -> dict[str, Any]:
        row = super()._row_of(entity)
        for name in ENUMS:
            row[name] = None if row[name] is None else row[name].value
        row |= self._hashes.sealed(row.pop("sha256"), entity.uuid)
        row["steps"] = msgspec.json.encode(entity.steps).decode()
        return row

    def _entity_of(self, row: Row) -> Deployment:
        return deployment_in(row, self._hashes)

    async def add(self, entity: Deployment) -> None:
        await super().add(entity)
        await self._remember(entity.mac, entity.number, entity.outcome)
        await self._is_current(entity)

    async def put(self, entity: Deployment) -> None:
        await super().put(entity)
        await self._remember(entity.mac, entity.number, entity.outcome)
        await self._is_current(entity)

    def matching(self, wanted: Wanted) -> NewestRows[Deployment]:
        return deployments_matching(self._connection, wanted, self._entity_of)

    async def current(self, mac: str) -> Deployment | None:
        row = await self._connection.row(_PLACED, mac=mac, limit=1)
        return None if row is None else deployment_in(row, self._hashes)

    async def previous(self, current: Deployment) -> Deployment | None:
        number, limit = current.number, _FIRST_PIECE
        while True:
            found = await self._connection.rows(
                _BEFORE, mac=current.mac, number=number, limit=limit
            )
            for row in found:
                earlier = deployment_in(row, self._hashes)
                if earlier.brought_other_than(current):
                    return earlier
                number = earlier.number
            if len(found) < limit:
                return None
            limit = min(4 * limit, _LARGEST_PIECE)

    async def interrupt_abandoned(self, now: str) -> int:
        interrupted = await self._connection.rows(_INTERRUPT, now=now)
        for mac, number in sorted(tuple(row) for row in interrupted):
            await self._remember(mac, number, Outcome.INTERRUPTED)
        return len(interrupted)

    async def _is_current(self, entity: Deployment) -> None:
        """Keep a deployment with a place as the current one of its MAC, unless it is older."""
        if entity.place is not None:
            await self._connection.soon(
                _is_current(self._connection.insert),
                mac=entity.mac,
                number=entity.number,
                created_at=entity.created_at,
                uuid=entity.uuid,
            )

    async def _remember(self, mac: str, number: int, outcome: Outcome) -> None:
        """Keep the outcome of the newest deployment beside the phone, for the list of phones."""
        values = {"the_mac": mac, "the_number": number, "the_outcome": outcome.value}
        await self._connection.soon(_REMEMBER, **values)


@cache
def _take(insert: InsertFactory) -> Statement:
    statement = insert(leases).values(
        mac=bindparam("mac"),
        holder=bindparam("holder"),
        fence=1,
        expires_at=now_ms() + bindparam("lifetime_ms", type_=leases.c.expires_at.type),
    )
    return statement.on_conflict_do_update(
        index_elements=["mac"],
        set_={
            "holder": statement.excluded.holder,
            "fence": leases.c.fence + 1,
            "expires_at": statement.excluded.expires_at,
        },
        where=is_over(leases.c.expires_at),
    ).returning(leases.c.fence)


_RELEASE = (
    update(leases)
    .where(
        leases.c.mac == bindparam("the_mac"),
        leases.c.holder == bindparam("the_holder"),
        leases.c.fence == bindparam("the_fence"),
        leases.c.expires_at > now_ms(),
    )
    .values(expires_at=0)
    .returning(leases.c.mac)
)

_HOLDER = select(leases.c.holder).where(
    leases.c.mac == bindparam("mac"), ~is_over(leases.c.expires_at)
)

_RELEASE_ALL = update(leases).where(leases.c.expires_at != 0).values(expires_at=0)


class SqlLeases(LeaseStore):
    """Leases, by MAC. The row of a released lease is kept, so that its fence continues to grow."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        row = await self._connection.row(
            _take(self._connection.insert), mac=mac, holder=holder, lifetime_ms=seconds * 1000
        )
        return None if row is None else int(row[0])

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        return bool(
            await self._connection.rows(_RELEASE, the_mac=mac, the_holder=holder, the_fence=fence)
        )

    async def holder(self, mac: str) -> str | None:
        row = await self._connection.row(_HOLDER, mac=mac)
        return None if row is None else str(row[0])

    async def release_all(self) -> None:
        await self._connection.rows(_RELEASE_ALL)
