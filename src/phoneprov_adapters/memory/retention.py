"""Old records in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from phoneprov_adapters.memory.audit import AUDIT
from phoneprov_adapters.memory.auth import COUNTED, SESSIONS
from phoneprov_adapters.memory.batches import BATCHES
from phoneprov_adapters.memory.deployments import DEPLOYMENTS, target_on
from phoneprov_adapters.memory.provisioning import FETCHES
from phoneprov_adapters.memory.records import EVERY, Kind
from phoneprov_adapters.memory.revisions import REVISIONS, KeptRevision
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.deployments.model import Deployment, Outcome
from phoneprov_core.retention.model import Kept, Moment, Piece, Place
from phoneprov_core.retention.ports import RetentionStore

_OTHERS = 3  # See the port.


class MemoryRetention(RetentionStore):
    """Old records, by their position in the order of their kind."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def look(
        self, kind: Kept, before: Moment, limit: int, *, after: Place | None = None
    ) -> Piece | None:
        found = sorted(
            (place, removable)
            for place, removable in self._old(kind, before)
            if after is None or place > after
        )[:limit]
        return Piece(found[-1][0], sum(removable for _, removable in found)) if found else None

    async def remove(
        self, kind: Kept, before: Moment, piece: Piece, *, after: Place | None = None
    ) -> int:
        removable = [
            str(place[-1])
            for place, is_removable in self._old(kind, before)
            if is_removable and place <= piece.last and (after is None or place > after)
        ]
        for key in removable:
            self._tables.remove(_KINDS[kind], key)
        return len(removable)

    def _old(self, kind: Kept, before: Any) -> Iterator[tuple[Place, bool]]:
        for one in self._tables.of(_KINDS[kind]).group(EVERY):
            if kind is Kept.DEPLOYMENTS and one.created_at < before:
                yield (one.created_at, one.uuid), not self._is_needed(one)
            elif kind is Kept.BATCHES and (one.batch.ended_at or before) < before:
                yield (one.batch.ended_at, one.uuid), True
            elif kind is Kept.FETCHES and one.created_at < before:
                yield (one.created_at, one.uuid), True
            elif kind is Kept.AUDIT and one.at < before:
                yield (one.at, one.uuid), True
            elif kind is Kept.REVISIONS:
                yield (one.uuid,), self._is_replaced(one, before) and not self._is_named(one)
            elif kind is Kept.SESSIONS:
                ends = min(one.session.expires_at, one.session.ends_at)
                yield (one.uuid,), ends < before
            elif kind is Kept.ATTEMPTS and one.last_at < before:
                yield (one.last_at, one.key), not one.attempts.known

    def _is_needed(self, deployment: Deployment) -> bool:
        if deployment.outcome is Outcome.RUNNING:
            return True
        mine = (deployment.profile_uuid, deployment.revision)
        newer = [
            one
            for one in self._tables.of(DEPLOYMENTS).group(("mac", deployment.mac))
            if one.number > deployment.number
        ]
        if not newer:
            return True
        since = [one for one in newer if one.place is not None]
        later = {(one.profile_uuid, one.revision) for one in since}
        certain = {
            (one.profile_uuid, one.revision) for one in since if one.outcome is not Outcome.UNKNOWN
        }
        return deployment == target_on(self._tables, deployment.mac) or (
            deployment.place is not None and mine not in certain and len(later) <= _OTHERS
        )

    def _is_replaced(self, kept: KeptRevision, before: str) -> bool:
        return any(
            one.number > kept.number and one.revision.created_at < before
            for one in self._tables.of(REVISIONS).group(("profile_uuid", kept.profile_uuid))
        )

    def _is_named(self, kept: KeptRevision) -> bool:
        key = (kept.profile_uuid, kept.number)
        return any(
            (one.profile_uuid, one.revision) == key
            for one in self._tables.of(DEPLOYMENTS).group(EVERY)
        ) or any(
            (one.batch.profile_uuid, one.batch.revision) == key and one.batch.ended_at is None
            for one in self._tables.of(BATCHES).group(EVERY)
        )


_KINDS: dict[Kept, Kind[Any]] = {
    Kept.DEPLOYMENTS: DEPLOYMENTS,
    Kept.BATCHES: BATCHES,
    Kept.FETCHES: FETCHES,
    Kept.AUDIT: AUDIT,
    Kept.REVISIONS: REVISIONS,
    Kept.SESSIONS: SESSIONS,
    Kept.ATTEMPTS: COUNTED,
}
