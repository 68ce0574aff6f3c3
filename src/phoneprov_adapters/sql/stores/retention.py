"""Old records in SQL: which ones are not needed, finding and removing them in pieces."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    ScalarSelect,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    distinct,
    exists,
    func,
    null,
    or_,
    select,
    true,
    tuple_,
)

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Statement, json_items
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.accounts import audit, login_attempts, sessions
from phoneprov_adapters.sql.tables.fields import json_text
from phoneprov_adapters.sql.tables.fleet import deployment_days, phone_state_changes
from phoneprov_adapters.sql.tables.provisioning import fetches
from phoneprov_adapters.sql.tables.switching import batches, deployments, profile_revisions
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.deployments.order import rollback_target
from phoneprov_core.deployments.ports import DeploymentStore
from phoneprov_core.retention import Expiring, Moment, Piece, Place, RetentionStore

OTHERS = 3
"""Number of other revisions after which one is no longer needed; see ``RetentionStore``."""

_later = deployments.alias("later")
_newest = deployments.alias("newest")
_since = and_(
    _later.c.mac == deployments.c.mac,
    _later.c.number > deployments.c.number,
    _later.c.place.is_not(None),
)
_certain = _later.c.outcome != Outcome.UNKNOWN.value
is_same_revision = and_(
    _later.c.profile_uuid == deployments.c.profile_uuid,
    _later.c.revision == deployments.c.revision,
)


def revisions_since(*conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    """Number of revisions that were put onto the phone of a deployment later."""
    revision = _later.c.profile_uuid + cast(_later.c.revision, Text)
    since = select(func.count(distinct(revision))).where(_since, *conditions)
    return since.correlate(deployments).scalar_subquery()


_current_size = (
    select(_newest.c.size)
    .where(_newest.c.mac == deployments.c.mac, _newest.c.place.is_not(None))
    .order_by(_newest.c.number.desc())
    .limit(1)
    .correlate(deployments)
    .scalar_subquery()
)

is_unneeded = and_(
    deployments.c.outcome != Outcome.RUNNING.value,
    exists()
    .where(_later.c.mac == deployments.c.mac, _later.c.number > deployments.c.number)
    .correlate(deployments),
    or_(
        deployments.c.place.is_(None),
        exists().where(_since, is_same_revision, _certain).correlate(deployments),
        revisions_since() > OTHERS,
    ),
)
"""Whether a deployment can be removed unless it is a rollback target."""

# Configurations are encrypted, so that SQL compares their sizes. Another size since then, with a
# certain outcome, is another configuration: a rollback finds that one first.
is_perhaps_target = and_(
    deployments.c.outcome != Outcome.RUNNING.value,
    deployments.c.outcome != Outcome.UNKNOWN.value,
    deployments.c.place.is_not(None),
    ~exists().where(_since, _certain, _later.c.size != _current_size).correlate(deployments),
)
"""Whether a rollback of the phone may deploy it again; the hash decides."""

is_in_running_batch = (
    exists()
    .where(
        batches.c.profile_uuid == profile_revisions.c.profile_uuid,
        batches.c.revision == profile_revisions.c.number,
        batches.c.ended_at.is_(None),
    )
    .correlate(profile_revisions)
)
"""Whether a batch that has not ended switches phones to a revision."""

_newer = profile_revisions.alias("newer")
_next = phone_state_changes.alias("next")
_mark = deployment_days.alias("mark")
_before: ColumnElement[Any] = bindparam("before")

_REMOVABLE: dict[Expiring, ColumnElement[bool]] = {
    Expiring.DEPLOYMENTS: is_unneeded,
    Expiring.REVISIONS: and_(
        exists()
        .where(
            _newer.c.profile_uuid == profile_revisions.c.profile_uuid,
            _newer.c.number > profile_revisions.c.number,
            _newer.c.created_at < _before,
        )
        .correlate(profile_revisions),
        ~exists()
        .where(
            deployments.c.profile_uuid == profile_revisions.c.profile_uuid,
            deployments.c.revision == profile_revisions.c.number,
        )
        .correlate(profile_revisions),
        ~is_in_running_batch,
    ),
    Expiring.SESSIONS: or_(sessions.c.expires_at < _before, sessions.c.ends_at < _before),
    Expiring.ATTEMPTS: login_attempts.c.known == 0,
    Expiring.STATES: exists()
    .where(
        _next.c.mac == phone_state_changes.c.mac,
        tuple_(_next.c.at, _next.c.uuid)
        > tuple_(phone_state_changes.c.at, phone_state_changes.c.uuid),
    )
    .correlate(phone_state_changes),
    # The row without an outcome says how far days are counted.
    Expiring.DAYS: or_(
        deployment_days.c.outcome != "",
        exists()
        .where(_mark.c.outcome == "", _mark.c.day > deployment_days.c.day)
        .correlate(deployment_days),
    ),
}
_KEEP = json_items(bindparam("keep", type_=Text())).table_valued("value")
_ORDER: dict[Expiring, tuple[Column[Any], ...]] = {
    Expiring.DEPLOYMENTS: (deployments.c.created_at, deployments.c.uuid),
    Expiring.BATCHES: (batches.c.ended_at, batches.c.uuid),
    Expiring.FETCHES: (fetches.c.created_at, fetches.c.uuid),
    Expiring.AUDIT: (audit.c.at, audit.c.uuid),
    Expiring.REVISIONS: (profile_revisions.c.uuid,),
    Expiring.SESSIONS: (sessions.c.uuid,),
    Expiring.ATTEMPTS: (login_attempts.c.last_at, login_attempts.c.account_key),
    Expiring.STATES: (phone_state_changes.c.at, phone_state_changes.c.uuid),
    Expiring.DAYS: (deployment_days.c.day, deployment_days.c.outcome),
}
"""Ordered by time if it is indexed; the last column is the key, of days both are."""


class SqlRetention(SqlQueries, RetentionStore):
    """Old records, read by key."""

    def __init__(self, connection: Connection, deployed: DeploymentStore) -> None:
        super().__init__(connection)
        self._deployed = deployed

    async def look(
        self, kind: Expiring, before: Moment, limit: int, *, after: Place | None = None
    ) -> Piece | None:
        rows = await self._connection.fetch_all(
            _look(kind, after=after is not None),
            before=before,
            limit=limit,
            **_values("after", after),
        )
        if not rows:
            return None
        keep = await self._targets({row[-1] for row in rows if row[-1] is not None})
        width = len(_ORDER[kind])
        removable = sum(row[width] for row in rows if row[width - 1] not in keep)
        return Piece(tuple(rows[-1][:width]), removable, keep)

    async def _targets(self, macs: set[str]) -> tuple[str, ...]:
        """What a rollback of each phone deploys again."""
        found = [await rollback_target(self._deployed, mac) for mac in sorted(macs)]
        return tuple(one.uuid for one in found if one is not None)

    async def remove(
        self, kind: Expiring, before: Moment, piece: Piece, *, after: Place | None = None
    ) -> int:
        keep = {"keep": json_text(piece.keep)} if piece.keep else {}
        removed = await self._connection.fetch_all(
            _remove(kind, after=after is not None, keep=bool(keep)),
            before=before,
            **_values("after", after),
            **_values("last", piece.last),
            **keep,
        )
        return len(removed)


def _values(name: str, place: Place | None) -> dict[str, Any]:
    return {f"{name}_{number}": value for number, value in enumerate(place or ())}


@cache
def _look(kind: Expiring, *, after: bool) -> Statement:
    order = _ORDER[kind]
    removable = case((_REMOVABLE.get(kind, true()), 1), else_=0)
    phone: ColumnElement[Any] = null()
    if kind is Expiring.DEPLOYMENTS:
        phone = case((and_(is_unneeded, is_perhaps_target), deployments.c.mac), else_=None)
    return (
        select(*order, removable, phone)
        .where(*_within(kind, after))
        .order_by(*order)
        .limit(bindparam("limit"))
    )


@cache
def _remove(kind: Expiring, *, after: bool, keep: bool) -> Statement:
    order = _ORDER[kind]
    table, key = order[-1].table, order if kind is Expiring.DAYS else order[-1:]
    assert isinstance(table, Table)
    unneeded = (
        select(*key)
        .where(
            *_within(kind, after),
            tuple_(*order) <= tuple_(*_place("last", order)),
            _REMOVABLE.get(kind, true()),
        )
        # Another process may remove the same rows at the same time, and hold some of them.
        .with_for_update(skip_locked=True, of=table)
    )
    if keep:
        unneeded = unneeded.where(order[-1].not_in(select(_KEEP.c.value)))
    return delete(table).where(tuple_(*key).in_(unneeded)).returning(order[-1])


def _within(kind: Expiring, after: bool) -> list[ColumnElement[bool]]:
    order = _ORDER[kind]
    within: list[ColumnElement[bool]] = [order[0] < _before] if len(order) > 1 else []
    if after:
        within.append(tuple_(*order) > tuple_(*_place("after", order)))
    return within


def _place(name: str, order: Sequence[Column[Any]]) -> list[ColumnElement[Any]]:
    return [bindparam(f"{name}_{number}", type_=column.type) for number, column in enumerate(order)]
