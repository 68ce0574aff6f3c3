"""Deployments and leases in memory."""

import msgspec

from phoneprov_adapters.memory.kinds import DEPLOYMENTS, LEASES, Lease
from phoneprov_adapters.memory.records import EVERY
from phoneprov_adapters.memory.store import MemoryNewestRows, MemoryQueries, MemoryStore, itself
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.deployments.model import Deployment, Outcome, Wanted
from phoneprov_core.deployments.ports import DeploymentStore, LeaseStore
from phoneprov_core.kernel.store import NewestRows


def current_on(tables: Tables, mac: str) -> Deployment | None:
    """The current deployment of a phone."""
    return next(iter(_placed(tables, mac)), None)


def target_on(tables: Tables, mac: str) -> Deployment | None:
    """What a rollback of a phone deploys again."""
    placed = _placed(tables, mac)
    others = (one for one in placed if one.brought_other_than(placed[0]))
    return next((one for one in others if one.outcome is not Outcome.UNKNOWN), None)


def _placed(tables: Tables, mac: str) -> list[Deployment]:
    """The deployments of a phone with a place, newest first."""
    placed = [one for one in tables.of(DEPLOYMENTS).group(("mac", mac)) if one.place is not None]
    return sorted(placed, key=lambda one: one.number, reverse=True)


def holder_of(tables: Tables, mac: str) -> str | None:
    """The holder of a phone whose lease has not expired."""
    lease = tables.of(LEASES).get(mac)
    return lease.holder if lease is not None and lease.expires_at > tables.clock() else None


class MemoryDeployments(MemoryStore[Deployment], DeploymentStore):
    """Deployments, by uuid."""

    kind = DEPLOYMENTS

    def matching(self, wanted: Wanted) -> NewestRows[Deployment]:
        def matches(one: Deployment, owner: str | None) -> bool:
            return (
                (wanted.profile_uuid is None or one.profile_uuid == wanted.profile_uuid)
                and (wanted.outcome is None or one.outcome.value == wanted.outcome)
                and (owner is None or owner in {one.owner_uuid, one.user_uuid})
                and (not wanted.current or current_on(self._tables, one.mac) == one)
            )

        group = EVERY if wanted.mac is None else ("mac", wanted.mac)
        return MemoryNewestRows(self._tables, DEPLOYMENTS, itself, group=group, matches=matches)

    async def current(self, mac: str) -> Deployment | None:
        return current_on(self._tables, mac)

    async def previous(self, current: Deployment) -> Deployment | None:
        earlier = [
            one
            for one in self._tables.of(DEPLOYMENTS).group(("mac", current.mac))
            if one.place is not None
            and one.number < current.number
            and one.brought_other_than(current)
        ]
        return max(earlier, key=lambda one: one.number, default=None)

    async def interrupt_abandoned(self, now: str) -> int:
        running = list(self._tables.of(DEPLOYMENTS).group(("outcome", Outcome.RUNNING)))
        abandoned = [one for one in running if holder_of(self._tables, one.mac) != one.uuid]
        for deployment in abandoned:
            await self.put(
                msgspec.structs.replace(deployment, outcome=Outcome.INTERRUPTED, ended_at=now)
            )
        return len(abandoned)


class MemoryLeases(MemoryQueries, LeaseStore):
    """Leases, by MAC."""

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        if holder_of(self._tables, mac) is not None:
            return None
        lease = self._tables.of(LEASES).get(mac)
        fence = 1 if lease is None else lease.fence + 1
        ends = self._tables.clock() + seconds * 1000
        self._tables.put(LEASES, Lease(mac, holder, fence, ends))
        return fence

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        lease = self._tables.of(LEASES).get(mac)
        if lease is None or lease.fence != fence or holder_of(self._tables, mac) != holder:
            return False
        self._tables.put(LEASES, msgspec.structs.replace(lease, expires_at=0))
        return True

    async def holder(self, mac: str) -> str | None:
        return holder_of(self._tables, mac)

    async def release_all(self) -> None:
        for lease in list(self._tables.of(LEASES).group()):
            self._tables.put(LEASES, msgspec.structs.replace(lease, expires_at=0))
