"""The revisions of profiles in memory."""

from __future__ import annotations

from msgspec import Struct

from phoneprov_adapters.memory.batches import BATCHES
from phoneprov_adapters.memory.deployments import DEPLOYMENTS, target_on
from phoneprov_adapters.memory.profiles import PROFILES
from phoneprov_adapters.memory.records import EVERY, Kind, OnRemove, Reference, Unique
from phoneprov_adapters.memory.store import MemoryRows, searched
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.deployments.model import Deployment, Outcome
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows
from phoneprov_core.profiles.model import Profile, ProfileRecord, Revision, whole
from phoneprov_core.profiles.ports import RevisionStore, WholeProfileStore

_OTHERS = 3  # See the port.


class KeptRevision(Struct, frozen=True):
    """A revision with its configuration."""

    uuid: str
    profile_uuid: str
    number: int
    revision: Revision
    cnf_xml: str

    def __repr__(self) -> str:
        return redacted(self, "cnf_xml")


REVISIONS: Kind[KeptRevision] = Kind(
    "revision",
    created="number",
    owner="profile_uuid",
    references=(Reference("profile_uuid", PROFILES, OnRemove.GO_ALONG),),
    unique=(Unique("number", "number", lambda kept: (kept.profile_uuid, kept.number)),),
)


class MemoryRevisions(MemoryRows[KeptRevision, Revision], RevisionStore):
    """Revisions, by uuid; those of a profile by their numbers."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, REVISIONS, lambda kept: kept.revision, owner=REVISIONS.owner)

    async def add(self, revision: Revision, cnf_xml: str) -> None:
        kept = KeptRevision(
            revision.uuid, revision.profile_uuid, revision.number, revision, cnf_xml
        )
        self._tables.add(REVISIONS, kept)
        self._tables.trail.changed(revision.uuid, None, revision)

    async def find(self, profile_uuid: str, number: int) -> Revision | None:
        group = self._tables.of(REVISIONS).group(("number", (profile_uuid, number)))
        return next((kept.revision for kept in group), None)

    async def newest(self, profile_uuid: str) -> Revision | None:
        kept = newest_of(self._tables, profile_uuid)
        return None if kept is None else kept.revision

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
                or (one.place is not None and self._others_since(one) <= _OTHERS)
                or one == target_on(self._tables, one.mac)
            ):
                return True
        return any(
            (one.batch.profile_uuid, one.batch.revision) == key and one.batch.ended_at is None
            for one in self._tables.of(BATCHES).group(EVERY)
        )

    def _others_since(self, deployment: Deployment) -> int:
        """Number of other revisions that were put onto the phone later."""
        later = {
            (one.profile_uuid, one.revision)
            for one in self._tables.of(DEPLOYMENTS).group(("mac", deployment.mac))
            if one.number > deployment.number and one.place is not None
        }
        return len(later - {(deployment.profile_uuid, deployment.revision)})


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
