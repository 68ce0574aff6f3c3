"""Which deployments retention must keep, as SQL conditions."""

from __future__ import annotations

from sqlalchemy import Text, and_, cast, distinct, exists, func, or_, select

from phoneprov_adapters.sql.tables import deployments
from phoneprov_core.deployments.model import Outcome

_OTHERS = 3  # See ``RetentionStore``.

_later = deployments.alias("later")
_newest = deployments.alias("newest")
_since = and_(
    _later.c.mac == deployments.c.mac,
    _later.c.number > deployments.c.number,
    _later.c.place.is_not(None),
)
_certain = _later.c.outcome != Outcome.UNKNOWN.value
_same = and_(
    _later.c.profile_uuid == deployments.c.profile_uuid,
    _later.c.revision == deployments.c.revision,
)
_others_since = (
    select(func.count(distinct(_later.c.profile_uuid + cast(_later.c.revision, Text))))
    .where(_since)
    .correlate(deployments)
    .scalar_subquery()
)
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
        exists().where(_since, _same, _certain).correlate(deployments),
        _others_since > _OTHERS,
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
