"""The statements for processing batches."""

from functools import cache
from typing import Any

from sqlalchemy import (
    Text,
    Update,
    and_,
    bindparam,
    case,
    cast,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from phoneprov_adapters.sql.engines.statements import (
    Statement,
    held,
    is_over,
    json_field,
    json_items,
    now_ms,
    release_of,
)
from phoneprov_adapters.sql.tables.columns import Fields
from phoneprov_adapters.sql.tables.switching import (
    batch_phones as phones,
    batches,
    current_deployments,
    deployments,
    profile_revisions,
)
from phoneprov_core.features.batches.model import Batch, BatchState, PhoneState
from phoneprov_core.features.batches.ports import BatchItem, Claim
from phoneprov_core.switching.deployments.model import Confirmation

_WAITING, _RUNNING = PhoneState.WAITING.value, PhoneState.RUNNING.value
_MILLIS = batches.c.expires_at.type
_CLAIM = Fields(Claim, phones).columns

ADD = insert(batches)
BATCH = Fields(Batch, batches)


_ADDED = json_items(bindparam("phones", type_=Text())).table_valued("value")
_ITEM = Fields(BatchItem, phones).columns
ADD_PHONES = insert(phones).from_select(
    _ITEM,
    select(
        *(
            cast(json_field(_ADDED.c.value, literal_column(str(place))), column.type)
            for place, column in enumerate(_ITEM)
        )
    ),
)
"""The phones are a JSON list of lists."""

_PROFILE_ON_IT = (
    select(deployments.c.profile_uuid)
    .join_from(current_deployments, deployments, deployments.c.uuid == current_deployments.c.uuid)
    .where(current_deployments.c.mac == phones.c.mac)
    .correlate(phones)
    .scalar_subquery()
)
PIN_PROFILES = (
    update(phones)
    .where(phones.c.batch_uuid == bindparam("the_uuid"))
    .values(
        planned_profile=func.coalesce(
            phones.c.profile_uuid, bindparam("the_profile", type_=Text()), _PROFILE_ON_IT
        )
    )
)
PIN_REVISIONS = (
    update(phones)
    .where(phones.c.batch_uuid == bindparam("the_uuid"))
    .values(
        planned_revision=select(func.max(profile_revisions.c.number))
        .where(profile_revisions.c.profile_uuid == phones.c.planned_profile)
        .correlate(phones)
        .scalar_subquery()
    )
)
PIN_VARIANTS = (
    update(batches)
    .where(batches.c.uuid == bindparam("the_uuid"))
    .values(pinned=bindparam("the_variants"))
)
PINNED = select(batches.c.pinned).where(batches.c.uuid == bindparam("the_uuid"))

STATE = select(batches.c.state).where(batches.c.uuid == bindparam("the_uuid"))
PUT = (
    update(batches)
    .where(batches.c.uuid == bindparam("the_uuid"))
    .values({name: bindparam(name) for name in BATCH.names if name != "uuid"})
    .returning(batches.c.uuid)
)

_FREE = (
    batches.c.ended_at.is_(None),
    is_over(batches.c.expires_at),
    or_(batches.c.state != BatchState.PLANNED.value, batches.c.begins_at <= now_ms()),
)
ANY_FREE = select(batches.c.uuid).where(*_FREE).limit(1)
_until = now_ms() + bindparam("lifetime_ms", type_=_MILLIS)
_oldest = (
    select(batches.c.uuid)
    .where(*_FREE)
    .order_by(batches.c.created_at, batches.c.uuid)
    .limit(1)
    # Of two concurrent workers the second takes the next batch; SQLite has one writer at a time.
    .with_for_update(skip_locked=True)
)
TAKE = (
    update(batches)
    .where(batches.c.uuid == _oldest.scalar_subquery(), *_FREE)
    .values(
        holder=bindparam("the_holder"),
        process=bindparam("the_process"),
        fence=batches.c.fence + 1,
        expires_at=_until,
    )
    .returning(batches.c.uuid, batches.c.holder, batches.c.fence)
)
_HELD = held(batches, "uuid")
KEEP = (
    update(batches)
    .where(*_HELD, batches.c.ended_at.is_(None))
    .values(expires_at=_until)
    .returning(batches.c.state)
)
RELEASE = update(batches).where(*_HELD).values(expires_at=0)
RELEASE_OF = release_of(batches)

_CLAIMS = (
    select(*_CLAIM)
    .where(phones.c.batch_uuid == bindparam("the_uuid"))
    .order_by(phones.c.position)
    .limit(bindparam("most"))
)
ABANDONED = _CLAIMS.where(phones.c.state == _RUNNING, phones.c.fence < bindparam("the_fence"))
LAST_START = select(func.max(phones.c.started_at)).where(
    phones.c.batch_uuid == bindparam("the_uuid")
)
ITEMS = _CLAIMS.where(phones.c.position > bindparam("after"))
TRIED = _CLAIMS.where(phones.c.position > bindparam("after"), phones.c.tries > 0)
_is_lost = case(
    (phones.c.deployment_uuid.is_(None), 0),
    (deployments.c.uuid.is_(None), 1),
    (
        and_(
            deployments.c.confirmation == Confirmation.PENDING.value,
            deployments.c.confirmation_by < bindparam("now", type_=Text()),
        ),
        1,
    ),
    else_=0,
).label("is_lost")
FIRST_PHONES = (
    select(
        phones.c.state,
        deployments.c.confirmation,
        _is_lost,
        func.min(phones.c.position),
        func.max(phones.c.ended_at),
    )
    .select_from(phones.outerjoin(deployments, deployments.c.uuid == phones.c.deployment_uuid))
    .where(
        phones.c.batch_uuid == bindparam("the_uuid"), phones.c.position <= bindparam("the_first")
    )
    .group_by(phones.c.state, deployments.c.confirmation, literal_column("is_lost"))
)

_IN_BATCH = phones.c.batch_uuid == bindparam("the_uuid")
_CLAIMED = (
    phones.c.position == bindparam("the_position"),
    phones.c.fence == bindparam("the_fence"),
)


Shape = tuple[str, tuple[str, ...], int, bool]
"""What transitions with the same statements have in common: the state they begin with, the fields
that they set, the tries that they add, and whether the phone is due later."""


@cache
def move(shape: Shape) -> Statement:
    """Apply a transition to one claimed phone."""
    return _moved(shape).where(_IN_BATCH, *_CLAIMED).returning(phones.c.position)


@cache
def move_all(shape: Shape) -> Statement:
    """Apply a transition to every phone of a batch."""
    return _moved(shape).where(_IN_BATCH)


@cache
def claim(shape: Shape) -> Statement:
    """Apply a transition to the phones that are due."""
    due = (
        select(phones.c.position)
        .where(
            _IN_BATCH,
            phones.c.state == shape[0],
            is_over(phones.c.not_before),
            phones.c.position <= bindparam("last"),
        )
        .order_by(phones.c.not_before, phones.c.position)
        .limit(bindparam("most"))
    )
    claimed = phones.c.position.in_(due.scalar_subquery())
    return _moved(shape).where(_IN_BATCH, claimed).returning(*_CLAIM)


def _moved(transition: Shape) -> Update:
    of, sets, tries, is_due_later = transition
    values: dict[str, Any] = {name: bindparam(name) for name in ("state", *sets)}
    if tries:
        values["tries"] = phones.c.tries + tries
    if is_due_later:
        values["not_before"] = now_ms() + bindparam("rest_ms", type_=_MILLIS)
    return update(phones).where(phones.c.state == of).values(values)
