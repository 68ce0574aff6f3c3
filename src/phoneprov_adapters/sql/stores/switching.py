"""Deployments and leases of phones in SQL."""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
    update,
)

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import (
    Query,
    at_places,
    held,
    is_over,
    json_items,
    now_ms,
    release_of,
    upsert,
)
from phoneprov_adapters.sql.stores.store import SqlNewestRows, SqlQueries, SqlStore
from phoneprov_adapters.sql.tables.columns import json_text
from phoneprov_adapters.sql.tables.inventory import phones
from phoneprov_adapters.sql.tables.switching import (
    DEPLOYMENTS,
    current_deployments,
    deployments,
    leases,
    templates,
)
from phoneprov_core.features.desks.occupancy import UsesOfDeployments
from phoneprov_core.features.desks.records import EarlierUse
from phoneprov_core.kernel.ports import NewestRows
from phoneprov_core.switching.deployments.model import (
    Action,
    Confirmation,
    Deployment,
    DeploymentFilter,
    Outcome,
)
from phoneprov_core.switching.deployments.ports import LeaseStore

_OWNER = or_(
    deployments.c.owner_uuid == bindparam("owner"), deployments.c.user_uuid == bindparam("owner")
)
_IN_PLACES = deployments.c.mac.in_(select(phones.c.mac).where(at_places(phones)))
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "mac": deployments.c.mac == bindparam("mac"),
    "macs": deployments.c.mac.in_(
        select(json_items(bindparam("macs", type_=Text())).table_valued("value").c.value)
    ),
    "profile_uuid": deployments.c.profile_uuid == bindparam("profile_uuid"),
    "outcome": deployments.c.outcome == bindparam("outcome"),
    "since": deployments.c.created_at >= bindparam("since"),
    "until": deployments.c.created_at < bindparam("until"),
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
def _query(names: frozenset[str], *, in_places: bool = False) -> Query:
    count = select(func.count())
    order = current_deployments if "current" in names else deployments
    return Query(
        _from(select(*DEPLOYMENTS.fields.columns), names),
        (order.c.created_at, order.c.uuid),
        owner=or_(_OWNER, _IN_PLACES) if in_places else _OWNER,
        counted=_from(count if "current" in names else count.select_from(deployments), names),
        quick_count=count.select_from(current_deployments) if names == {"current"} else None,
    )


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
    .values(
        outcome=Outcome.INTERRUPTED.value,
        ended_at=bindparam("now"),
        confirmation=case(
            (deployments.c.confirmation_by.is_not(None), Confirmation.PENDING.value),
            else_=deployments.c.confirmation,
        ),
    )
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
_KEEP_CURRENT = upsert(
    current_deployments,
    ["mac"],
    *("number", "created_at", "uuid", "owner_uuid", "profile_name"),
    where=lambda new: current_deployments.c.number < new.number,
)
_PLACED = (
    select(*DEPLOYMENTS.fields.columns)
    .where(deployments.c.mac == bindparam("mac"), deployments.c.place.is_not(None))
    .order_by(deployments.c.number.desc())
    .limit(bindparam("limit"))
)
_later = deployments.alias("later")
IS_IN_PLACE = and_(
    deployments.c.uuid == current_deployments.c.uuid,
    deployments.c.outcome != Outcome.UNKNOWN.value,
    deployments.c.created_at >= phones.c.created_at,
    ~exists().where(
        _later.c.mac == deployments.c.mac,
        _later.c.number > deployments.c.number,
        or_(
            _later.c.outcome == Outcome.RUNNING.value,
            _later.c.outcome == Outcome.INTERRUPTED.value,
        ),
    ),
)
"""The condition that a deployment is in place: see ``DeploymentStore.in_place``."""
_IN_PLACE = (
    select(*DEPLOYMENTS.fields.columns)
    .join_from(phones, current_deployments, current_deployments.c.mac == phones.c.mac)
    .join(deployments, IS_IN_PLACE)
    .where(phones.c.mac == bindparam("mac"))
)
_BEFORE = _PLACED.where(deployments.c.number < bindparam("number"))
_before = deployments.alias("before")
_KEEP_USE = (
    update(deployments)
    .where(
        deployments.c.uuid
        == select(_before.c.uuid)
        .where(
            _before.c.mac == bindparam("the_mac"),
            _before.c.number < bindparam("the_number"),
            _before.c.place.is_not(None),
            _before.c.outcome != Outcome.UNKNOWN.value,
        )
        .order_by(_before.c.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    .values(used_by=bindparam("use"))
)
_USE_WITH = select(deployments.c.used_by).where(deployments.c.uuid == bindparam("uuid"))
_LOGGED_IN_SINCE = (
    select(deployments.c.uuid)
    .where(
        deployments.c.owner_uuid == bindparam("user"),
        deployments.c.created_at > bindparam("since"),
        # The condition of an index, word by word.
        deployments.c.action == literal_column(f"'{Action.LOGIN.value}'"),
        deployments.c.place.is_not(None),
        deployments.c.mac != bindparam("besides"),
    )
    .limit(1)
)
_of_variant = templates.c.uuid == deployments.c.template_uuid
_RENDERED_FROM = (
    select(current_deployments.c.mac)
    .join(deployments, deployments.c.uuid == current_deployments.c.uuid)
    .outerjoin(templates, _of_variant)
    .where(bindparam("name").in_([templates.c.name, deployments.c.template_name]))
)
_FIRST_PIECE, _LARGEST_PIECE = 4, 1024


class SqlDeployments(SqlStore[Deployment], UsesOfDeployments):
    """Deployments, by uuid."""

    records = DEPLOYMENTS

    async def add(self, entity: Deployment) -> None:
        await super().add(entity)
        await self._derive(entity)

    async def put(self, entity: Deployment) -> None:
        await super().put(entity)
        await self._derive(entity)

    def matching(
        self,
        wanted: DeploymentFilter,
        *,
        also: Sequence[str] = (),
        places: Sequence[str] | None = None,
    ) -> NewestRows[Deployment]:
        values = {
            name: value
            for name in wanted.__struct_fields__
            if (value := getattr(wanted, name)) is not None and value is not False
        }
        if also:
            values["macs"] = json_text([values.pop("mac"), *also])
        query = _query(frozenset(values), in_places=places is not None)
        values.pop("current", None)
        if places is not None:
            values["places"] = json_text(places)
        return SqlNewestRows(self._connection, query, self._entity_of, **values)

    async def current(self, mac: str) -> Deployment | None:
        return await self._found(_PLACED, mac=mac, limit=1)

    async def in_place(self, mac: str) -> Deployment | None:
        return await self._found(_IN_PLACE, mac=mac)

    async def previous(self, current: Deployment) -> Deployment | None:
        number, limit = current.number, _FIRST_PIECE
        while True:
            found = await self._connection.fetch_all(
                _BEFORE, mac=current.mac, number=number, limit=limit
            )
            for row in found:
                earlier = self._entity_of(row)
                if earlier.brought_other_than(current):
                    return earlier
                number = earlier.number
            if len(found) < limit:
                return None
            limit = min(4 * limit, _LARGEST_PIECE)

    async def placed_before(self, deployment: Deployment) -> Deployment | None:
        return await self._found(_BEFORE, mac=deployment.mac, number=deployment.number, limit=1)

    async def keep_use(self, following: Deployment, use: EarlierUse) -> None:
        values = {"the_mac": following.mac, "the_number": following.number}
        text = msgspec.json.encode(use).decode()
        await self._connection.execute(_KEEP_USE, **values, use=text)

    async def use_with(self, deployment: Deployment) -> EarlierUse | None:
        row = await self._connection.fetch_one(_USE_WITH, uuid=deployment.uuid)
        text = None if row is None else row[0]
        return None if text is None else msgspec.json.decode(text, type=EarlierUse)

    async def logged_in_since(self, user_uuid: str, since: str, besides: str) -> bool:
        values = {"user": user_uuid, "since": since, "besides": besides}
        return await self._connection.fetch_one(_LOGGED_IN_SINCE, **values) is not None

    async def rendered_from(self, name: str) -> set[str]:
        return set(await self._all(str, _RENDERED_FROM, name=name))

    async def interrupt_abandoned(self, now: str) -> int:
        interrupted = await self._connection.fetch_all(_INTERRUPT, now=now)
        for mac, number in sorted(tuple(row) for row in interrupted):
            await self._remember(mac, number, Outcome.INTERRUPTED)
        return len(interrupted)

    async def _derive(self, entity: Deployment) -> None:
        """Keep the outcome, and a deployment with a place as the current one of its MAC, unless it
        is older."""
        await self._remember(entity.mac, entity.number, entity.outcome)
        if entity.place is not None:
            await self._connection.execute(_KEEP_CURRENT, **msgspec.structs.asdict(entity))

    async def _remember(self, mac: str, number: int, outcome: Outcome) -> None:
        """Keep the outcome of the newest deployment beside the phone, for the list of phones."""
        values = {"the_mac": mac, "the_number": number, "the_outcome": outcome.value}
        await self._connection.execute(_REMEMBER, **values)


_TAKE = (
    upsert(
        leases,
        ["mac"],
        *("holder", "process", "expires_at"),
        fence=leases.c.fence + 1,
        where=lambda _: is_over(leases.c.expires_at),
    )
    .values(
        mac=bindparam("mac"),
        holder=bindparam("holder"),
        process=bindparam("process"),
        fence=1,
        expires_at=now_ms() + bindparam("lifetime_ms", type_=leases.c.expires_at.type),
    )
    .returning(leases.c.fence)
)
_RELEASE = update(leases).where(*held(leases, "mac")).values(expires_at=0).returning(leases.c.mac)
_HOLDER = select(leases.c.holder).where(
    leases.c.mac == bindparam("mac"), ~is_over(leases.c.expires_at)
)
_IS_LAST = select(is_over(leases.c.expires_at).label("is_over")).where(
    leases.c.mac == bindparam("mac"),
    leases.c.holder == bindparam("holder"),
    leases.c.fence == bindparam("fence"),
)
_RELEASE_OF = release_of(leases)
_CONTINUE = (
    update(leases)
    .where(leases.c.mac == bindparam("the_mac"), leases.c.fence < bindparam("the_fence"))
    .values(fence=bindparam("the_fence"))
)


class SqlLeases(SqlQueries, LeaseStore):
    """Leases, by MAC. The row of a released lease is kept, so that its fence continues to grow.
    The process of the connection acquires them."""

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        values = {"process": self._connection.process, "lifetime_ms": seconds * 1000}
        return await self._one(int, _TAKE, mac=mac, holder=holder, **values)

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        values = {"the_mac": mac, "the_holder": holder, "the_fence": fence}
        return bool(await self._connection.fetch_all(_RELEASE, **values))

    async def is_held(
        self, mac: str, holder: str, fence: int, *, even_expired: bool = False
    ) -> bool:
        row = await self._connection.fetch_one(
            self._held(_IS_LAST), mac=mac, holder=holder, fence=fence
        )
        return row is not None and (even_expired or not row[0])

    async def holder(self, mac: str) -> str | None:
        return await self._one(str, _HOLDER, mac=mac)

    async def continue_after(self, mac: str, fence: int) -> None:
        await self._connection.execute(_CONTINUE, the_mac=mac, the_fence=fence)

    async def release_of(self, process: str) -> None:
        await self._connection.fetch_all(_RELEASE_OF, the_process=process)


class SwitchingStores:
    """The stores of deployments and leases."""

    _connection: Connection

    deployments = cached_property(lambda self: SqlDeployments(self._connection))
    leases = cached_property(lambda self: SqlLeases(self._connection))
