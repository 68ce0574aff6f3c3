"""Old records in SQL: which ones are not needed, finding and removing them in pieces."""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Table,
    Text,
    and_,
    bindparam,
    case,
    delete,
    exists,
    or_,
    select,
    true,
    tuple_,
)

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, json_items
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.columns import SealedColumn, json_text
from phoneprov_adapters.sql.tables.inventory import (
    deployment_days,
    drills,
    fetches,
    phone_state_changes,
)
from phoneprov_adapters.sql.tables.people import audit, login_attempts, sessions
from phoneprov_adapters.sql.tables.switching import batches, deployments, profile_revisions
from phoneprov_core.features.retention import (
    Expiring,
    Moment,
    PastDeployment,
    Piece,
    Place,
    RetentionStore,
    unneeded,
)
from phoneprov_core.switching.deployments.model import Outcome

_later = deployments.alias("later")
_newest = deployments.alias("newest")
_since = and_(
    _later.c.mac == deployments.c.mac,
    _later.c.number > deployments.c.number,
    _later.c.place.is_not(None),
)
_certain = _later.c.outcome != Outcome.UNKNOWN.value
_current_size = (
    select(_newest.c.size)
    .where(_newest.c.mac == deployments.c.mac, _newest.c.place.is_not(None))
    .order_by(_newest.c.number.desc())
    .limit(1)
    .correlate(deployments)
    .scalar_subquery()
)

# Configurations are encrypted, so that SQL compares their sizes. Another size since then, with a
# certain outcome, is another configuration: a rollback finds the newer first.
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
_LARGEST = 2**62
_next = phone_state_changes.alias("next")
_next_drill = drills.alias("next_drill")
_mark = deployment_days.alias("mark")
_before: ColumnElement[Any] = bindparam("before")

_REMOVABLE: dict[Expiring, ColumnElement[bool]] = {
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
        _next.c.at <= _before,
        tuple_(_next.c.at, _next.c.uuid)
        > tuple_(phone_state_changes.c.at, phone_state_changes.c.uuid),
    )
    .correlate(phone_state_changes),
    Expiring.DRILLS: exists()
    .where(
        _next_drill.c.mac == drills.c.mac,
        tuple_(_next_drill.c.created_at, _next_drill.c.uuid)
        > tuple_(drills.c.created_at, drills.c.uuid),
    )
    .correlate(drills),
    # The row without an outcome says how far days are counted.
    Expiring.DAYS: or_(
        deployment_days.c.outcome != "",
        exists()
        .where(_mark.c.outcome == "", _mark.c.day > deployment_days.c.day)
        .correlate(deployment_days),
    ),
}
_ORDER: dict[Expiring, tuple[Column[Any], ...]] = {
    Expiring.BATCHES: (batches.c.ended_at, batches.c.uuid),
    Expiring.FETCHES: (fetches.c.created_at, fetches.c.uuid),
    Expiring.AUDIT: (audit.c.at, audit.c.uuid),
    Expiring.REVISIONS: (profile_revisions.c.uuid,),
    Expiring.SESSIONS: (sessions.c.uuid,),
    Expiring.ATTEMPTS: (login_attempts.c.last_at, login_attempts.c.account_key),
    Expiring.STATES: (phone_state_changes.c.at, phone_state_changes.c.uuid),
    Expiring.DRILLS: (drills.c.created_at, drills.c.uuid),
    Expiring.DAYS: (deployment_days.c.day, deployment_days.c.outcome),
}
"""Ordered by time if it is indexed; the last column is the key, of days both are."""


_DEPLOYMENT = (deployments.c.mac, deployments.c.number)
_SHA256 = SealedColumn(deployments, "sha256")
_PAST = (
    select(
        *_DEPLOYMENT,
        *(deployments.c.uuid, deployments.c.created_at, deployments.c.outcome),
        case((deployments.c.place.is_not(None), deployments.c.profile_uuid)),
        *(deployments.c.revision, deployments.c.size, _SHA256.key_id, _SHA256.sealed),
    )
    .where(tuple_(*_DEPLOYMENT) > tuple_(bindparam("after_0"), bindparam("after_1")))
    .order_by(*_DEPLOYMENT)
    .limit(bindparam("limit"))
)
_KEYS = json_items(bindparam("keys", type_=Text())).table_valued("value")
_REMOVE_KEYS = (
    delete(deployments)
    .where(
        deployments.c.uuid.in_(
            select(deployments.c.uuid)
            .where(
                deployments.c.uuid.in_(select(_KEYS.c.value)),
                deployments.c.outcome != Outcome.RUNNING.value,
            )
            # Another process may remove the same rows at the same time, and hold some of them.
            .with_for_update(skip_locked=True, of=deployments)
        )
    )
    .returning(deployments.c.uuid)
)


class SqlRetention(SqlQueries, RetentionStore):
    """Old records, read by key."""

    async def look(
        self, kind: Expiring, before: Moment, limit: int, *, after: Place | None = None
    ) -> Piece | None:
        if kind is Expiring.DEPLOYMENTS:
            return await self._look_at_phones(str(before), limit, after)
        rows = await self._connection.fetch_all(
            _look(kind, after=after is not None),
            before=before,
            limit=limit,
            **_values("after", after),
        )
        if not rows:
            return None
        width = len(_ORDER[kind])
        return Piece(tuple(rows[-1][:width]), sum(row[width] for row in rows))

    async def _look_at_phones(self, before: str, limit: int, after: Place | None) -> Piece | None:
        """Whole phones, in the order of their MACs."""
        keys: list[str] = []
        phone: list[Row] = []
        last = after
        for_next = ("", 0) if after is None else (after[0], _LARGEST)
        while True:
            rows = await self._connection.fetch_all(
                _PAST, limit=limit, **_values("after", for_next)
            )
            for row in rows:
                if phone and phone[0][0] != row[0]:
                    keys += self._unneeded(phone, before)
                    last, phone = (phone[0][0],), []
                phone.append(row)
            if len(rows) < limit:
                break
            if last != after:  # the rows of the phone after it are read again
                return Piece(last or (), len(keys), tuple(keys))
            for_next = (rows[-1][0], rows[-1][1])
        if phone:
            keys += self._unneeded(phone, before)
            last = (phone[0][0],)
        return None if last == after or last is None else Piece(last, len(keys), tuple(keys))

    def _unneeded(self, rows: Sequence[Row], before: str) -> list[str]:
        """The removable deployments of a phone; ``rows`` are in the order of their numbers."""
        if min(row[3] for row in rows) >= before:
            return []
        contents = {row[2]: row[7:] for row in rows}
        opened: dict[str, bytes] = {}

        def text(uuid: str) -> bytes:
            if uuid not in opened:
                _, key_id, sealed = contents[uuid]
                opened[uuid] = _SHA256.open(self._connection.box, key_id, sealed, uuid)
            return opened[uuid]

        def has_text_of(one: PastDeployment, other: PastDeployment) -> bool:
            same_size = contents[one.uuid][0] == contents[other.uuid][0]
            return bool(same_size) and text(one.uuid) == text(other.uuid)

        phone = [
            PastDeployment(
                row[2], row[3], Outcome(row[4]), (row[5], row[6]) if row[5] is not None else None
            )
            for row in reversed(rows)
        ]
        return unneeded(phone, before, has_text_of)

    async def remove(
        self, kind: Expiring, before: Moment, piece: Piece, *, after: Place | None = None
    ) -> int:
        if kind is Expiring.DEPLOYMENTS:
            removed = await self._connection.fetch_all(_REMOVE_KEYS, keys=json_text(piece.keys))
            return len(removed)
        removed = await self._connection.fetch_all(
            _remove(kind, after=after is not None),
            before=before,
            **_values("after", after),
            **_values("last", piece.last),
        )
        return len(removed)


def _values(name: str, place: Place | None) -> dict[str, Any]:
    return {f"{name}_{number}": value for number, value in enumerate(place or ())}


@cache
def _look(kind: Expiring, *, after: bool) -> Statement:
    order = _ORDER[kind]
    removable = case((_REMOVABLE.get(kind, true()), 1), else_=0)
    return (
        select(*order, removable)
        .where(*_within(kind, after))
        .order_by(*order)
        .limit(bindparam("limit"))
    )


@cache
def _remove(kind: Expiring, *, after: bool) -> Statement:
    order = _ORDER[kind]
    table, key = order[-1].table, order if kind is Expiring.DAYS else order[-1:]
    assert isinstance(table, Table)
    removable = (
        select(*key)
        .where(
            *_within(kind, after),
            tuple_(*order) <= tuple_(*_place("last", order)),
            _REMOVABLE.get(kind, true()),
        )
        # Another process may remove the same rows at the same time, and hold some of them.
        .with_for_update(skip_locked=True, of=table)
    )
    return delete(table).where(tuple_(*key).in_(removable)).returning(order[-1])


def _within(kind: Expiring, after: bool) -> list[ColumnElement[bool]]:
    order = _ORDER[kind]
    within: list[ColumnElement[bool]] = [order[0] < _before] if len(order) > 1 else []
    if after:
        within.append(tuple_(*order) > tuple_(*_place("after", order)))
    return within


def _place(name: str, order: Sequence[Column[Any]]) -> list[ColumnElement[Any]]:
    return [bindparam(f"{name}_{number}", type_=column.type) for number, column in enumerate(order)]


class RetentionStores:
    """The store of retention."""

    _connection: Connection

    retention = cached_property(lambda self: SqlRetention(self._connection))
