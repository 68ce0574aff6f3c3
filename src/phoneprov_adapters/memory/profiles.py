"""Profiles with their revisions, and the records that retention removes, in memory."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from phoneprov_adapters.memory.deployments import target_on
from phoneprov_adapters.memory.kinds import (
    AUDIT,
    BATCHES,
    COUNTED,
    DEPLOYMENTS,
    FETCHES,
    PROFILES,
    REVISIONS,
    SESSIONS,
    KeptRevision,
)
from phoneprov_adapters.memory.records import EVERY, Kind
from phoneprov_adapters.memory.store import MemoryQueries, MemoryRows, part, searched
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.deployments.model import Deployment, Outcome
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows
from phoneprov_core.profiles.model import Profile, ProfileRecord, Revision, whole
from phoneprov_core.profiles.ports import RevisionStore, WholeProfileStore
from phoneprov_core.retention import Kept, Moment, Piece, Place, RetentionStore

_OTHERS = 3  # See the ports.


class MemoryRevisions(MemoryRows[KeptRevision, Revision], RevisionStore):
    """Revisions, by uuid; those of a profile by their numbers."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, REVISIONS, partial(part, Revision), owner=REVISIONS.owner)

    async def add(self, revision: Revision, cnf_xml: str) -> None:
        self._tables.add(
            REVISIONS, KeptRevision(**msgspec.structs.asdict(revision), cnf_xml=cnf_xml)
        )
        self._tables.trail.changed(revision.uuid, None, revision)

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        group = self._tables.of(REVISIONS).group(("number", (profile_uuid, number)))
        return next((part(Revision, kept) for kept in group), None)

    async def newest(self, profile_uuid: str) -> Revision | None:
        kept = newest_of(self._tables, profile_uuid)
        return None if kept is None else part(Revision, kept)

    async def cnf_xml(self, uuid: str) -> str | None:
        kept = self._tables.of(REVISIONS).get(uuid)
        return None if kept is None else kept.cnf_xml

    async def remove_oldest(self, profile_uuid: str, most: int) -> int:
        kept = list(self._tables.of(REVISIONS).group(("profile_uuid", profile_uuid)))
        unneeded = [one for one in kept[:-1] if not self._is_needed(one)]
        removed = unneeded[: max(0, len(kept) - most)]
        for one in removed:
            self._tables.remove(REVISIONS, one.uuid)
        return len(removed)

    def _is_needed(self, kept: KeptRevision) -> bool:
        key = (kept.profile_uuid, kept.number)
        for one in self._tables.of(DEPLOYMENTS).group(EVERY):
            if (one.profile_uuid, one.revision) == key and (
                one.outcome is Outcome.RUNNING
                or (
                    one.place is not None
                    and len(_revisions(_later(self._tables, one)) - {key}) <= _OTHERS
                )
                or one == target_on(self._tables, one.mac)
            ):
                return True
        return _is_in_running_batch(self._tables, key)


def _later(tables: Tables, deployment: Deployment) -> list[Deployment]:
    """The later deployments of a phone."""
    of_phone = tables.of(DEPLOYMENTS).group(("mac", deployment.mac))
    return [one for one in of_phone if one.number > deployment.number]


def _revisions(deployments: Iterable[Deployment]) -> set[tuple[str, int]]:
    """The revisions that were put onto a phone."""
    return {(one.profile_uuid, one.revision) for one in deployments if one.place is not None}


def newest_of(tables: Tables, profile_uuid: str) -> KeptRevision | None:
    """The newest revision of a profile."""
    kept = list(tables.of(REVISIONS).group(("profile_uuid", profile_uuid)))
    return kept[-1] if kept else None


class MemoryWholeProfiles(MemoryRows[ProfileRecord, Profile], WholeProfileStore):
    """Profiles with their newest configuration."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, PROFILES, self._whole, owner=PROFILES.owner)

    async def find(self, key: str) -> Profile | None:
        record = self._tables.of(PROFILES).get(key)
        return None if record is None else self._whole(record)

    def matching(self, search: Search) -> Rows[Profile]:
        return searched(self._tables, PROFILES, search, self._whole)

    def _whole(self, record: ProfileRecord) -> Profile | None:
        kept = newest_of(self._tables, record.uuid)
        return None if kept is None else whole(record, kept.cnf_xml)


class MemoryRetention(MemoryQueries, RetentionStore):
    """Old records, by their position in the order of their kind."""

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
            elif kind is Kept.BATCHES and (one.ended_at or before) < before:
                yield (one.ended_at, one.uuid), True
            elif kind is Kept.FETCHES and one.created_at < before:
                yield (one.created_at, one.uuid), True
            elif kind is Kept.AUDIT and one.entry.at < before:
                yield (one.entry.at, one.entry.uuid), True
            elif kind is Kept.REVISIONS:
                removable = self._is_replaced(one, before) and not self._is_named(one)
                yield (one.uuid,), removable
            elif kind is Kept.SESSIONS:
                ends = min(one.expires_at, one.ends_at)
                yield (one.uuid,), ends < before
            elif kind is Kept.ATTEMPTS and one.attempts.last_at < before:
                yield (one.attempts.last_at, one.key), not one.attempts.known

    def _is_needed(self, deployment: Deployment) -> bool:
        if deployment.outcome is Outcome.RUNNING:
            return True
        later = _later(self._tables, deployment)
        if not later or deployment == target_on(self._tables, deployment.mac):
            return True
        mine = (deployment.profile_uuid, deployment.revision)
        certain = _revisions(one for one in later if one.outcome is not Outcome.UNKNOWN)
        is_last = mine not in certain and len(_revisions(later)) <= _OTHERS
        return deployment.place is not None and is_last

    def _is_replaced(self, kept: KeptRevision, before: str) -> bool:
        return any(
            one.number > kept.number and one.created_at < before
            for one in self._tables.of(REVISIONS).group(("profile_uuid", kept.profile_uuid))
        )

    def _is_named(self, kept: KeptRevision) -> bool:
        key = (kept.profile_uuid, kept.number)
        return any(
            (one.profile_uuid, one.revision) == key
            for one in self._tables.of(DEPLOYMENTS).group(EVERY)
        ) or _is_in_running_batch(self._tables, key)


def _is_in_running_batch(tables: Tables, revision: tuple[str, int]) -> bool:
    return any(
        (one.profile_uuid, one.revision) == revision and one.ended_at is None
        for one in tables.of(BATCHES).group(EVERY)
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
