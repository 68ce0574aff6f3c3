"""The switch, and reading the record of deployments."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from phoneprov_core.inventory.profiles.model import Switched, SwitchRequest
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.commands import require_same
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.paging import NEWEST, Listing, Page, limit_by_key, listing
from phoneprov_core.kernel.store import NewestRows, ReadAndWrite
from phoneprov_core.kernel.system import Clock, known_id, timestamp
from phoneprov_core.kernel.values import known_mac
from phoneprov_core.people.access import covers, may_act_for, may_see_people, places_of
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import RESTARTED, Deployment, DeploymentFilter
from phoneprov_core.switching.deployments.order import order_of
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction
from phoneprov_core.switching.deployments.steps import Progress, no_progress


@dataclass(frozen=True)
class SwitchProfile:
    """Deploy the newest revision of a profile, clear the phone's service session, restart."""

    database: ReadAndWrite[DeploymentsTransaction]
    deploy: Deploy

    async def __call__(self, actor: Actor, request: SwitchRequest) -> Switched:
        """The short result of the switch. Raises like ``deployment``."""
        made = await self.deployment(actor, request)
        return Switched(made.profile_name, made.mac, made.restart or RESTARTED)

    async def deployment(
        self, actor: Actor, request: SwitchRequest, progress: Progress = no_progress
    ) -> Deployment:
        """The record of the switch, after the restart command. Raises ``NotFound`` if the phone
        does not exist or the caller may not see the profile, and the errors of ``Deploy``."""
        order = await order_of(self.database, actor, request)
        return shown_to(actor, await self.deploy(actor, order, progress))


@dataclass(frozen=True)
class Deployments:
    """Reads the record. Level 0 sees all deployments; other users see deployments that they
    requested, deployments of profiles that they owned at the time, and with a right those of the
    phones that are in its scope now."""

    database: ReadAndWrite[DeploymentsTransaction]
    clock: Clock

    async def all(
        self, actor: Actor, wanted: DeploymentFilter | None = None, page: Page = None
    ) -> Listing[Deployment]:
        """The deployments that match the filter and that the caller may see, oldest first. With
        ``before``, a page by key after that deployment, newest first, without a total."""
        return await self._listing(actor, wanted or DeploymentFilter(), page)

    async def get(self, actor: Actor, uuid: str) -> Deployment:
        """Raises ``NotFound``, also if the caller may not see it."""
        async with self.database.read() as tx:
            return await self._shown(tx, actor, await tx.deployments.find(known_id(uuid)))

    async def of_phone(
        self, actor: Actor, mac: str, wanted: DeploymentFilter | None = None, page: Page = None
    ) -> Listing[Deployment]:
        """The deployments of one phone that the caller may see, oldest first, with those of the
        phones that it replaced. Raises ``NotFound`` for an unknown phone without any."""
        mac = require(known_mac(mac), "phone")
        async with self.database.read() as tx:
            also = await tx.replacements.earlier(mac)
            places = await places_of(actor, tx.phones)
            history = tx.deployments.matching(DeploymentFilter(mac=mac), also=also, places=places)
            if not await history.count(_whose(actor)):
                require(await tx.phones.find(mac), "phone")
        chosen = wanted or DeploymentFilter()
        require_same("mac", chosen.mac or UNSET, mac)
        wanted = replace(chosen, mac=mac)
        return await self._listing(actor, wanted, page, () if chosen.current else also)

    async def current(self, actor: Actor, mac: str) -> Deployment:
        """The current deployment of a phone. Raises ``NotFound`` if the caller sees none."""
        async with self.database.read() as tx:
            return await self._shown(tx, actor, await tx.deployments.current(known_mac(mac)))

    async def _shown(
        self, tx: DeploymentsTransaction, actor: Actor, deployment: Deployment | None
    ) -> Deployment:
        visible = deployment if deployment and await sees(tx, actor, deployment) else None
        return shown_to(actor, require(visible, "deployment").as_of(timestamp(self.clock())))

    async def _listing(
        self, actor: Actor, wanted: DeploymentFilter, page: Page, also: Sequence[str] = ()
    ) -> Listing[Deployment]:
        """Raises ``NotFound`` without a deployment ``before`` that the caller may see."""
        now, before = timestamp(self.clock()), wanted.before
        wanted = replace(wanted, before=None)
        owner, places = _whose(actor), None
        if actor.scope:
            async with self.database.read() as tx:
                places = await places_of(actor, tx.phones)

        def matching(tx: DeploymentsTransaction) -> NewestRows[Deployment]:
            return tx.deployments.matching(wanted, also=also, places=places)

        if before is None:
            found = await listing(self.database.read, matching, page, owner=owner)
        else:
            limit, last = limit_by_key(page, "before"), None
            async with self.database.read() as tx:
                if before != NEWEST:
                    last = await self._shown(tx, actor, await tx.deployments.find(before))
                found = Listing(await matching(tx).newest(limit, before=last, owner=owner))
        return found.mapped(lambda deployment: shown_to(actor, deployment.as_of(now)))


def _whose(actor: Actor) -> str | None:
    """The account whose deployments the caller sees besides those in a scope; None for all."""
    return None if may_see_people(actor) and not actor.scope else actor.user_uuid


async def sees(tx: DeploymentsTransaction, actor: Actor, deployment: Deployment) -> bool:
    """Whether the caller may see a deployment, also by a right: its phone is in scope now."""
    if may_see(actor, deployment) or not may_see_people(actor):
        return may_see(actor, deployment)
    phone = await tx.phones.find(deployment.mac)
    return covers(actor.scope, phone.location if phone else None)


def may_see(actor: Actor, deployment: Deployment) -> bool:
    """Whether the caller may see a deployment without a right."""
    return may_act_for(actor, deployment.owner_uuid) or actor.user_uuid == deployment.user_uuid


def may_read(actor: Actor, deployment: Deployment) -> bool:
    """Whether the caller may read what was deployed: level 0 may, and the owner of a profile with a
    text of its own. A template holds secrets of the office, and passwords of lines are rendered
    into it."""
    is_own = deployment.template_uuid is None and actor.user_uuid == deployment.owner_uuid
    return is_own or actor.holds(SUPERADMIN)


def shown_to(actor: Actor, deployment: Deployment) -> Deployment:
    """The deployment without hash and size if the caller may not read what was deployed: a masked
    text and its hash are enough to try short secrets offline."""
    if may_read(actor, deployment):
        return deployment
    return replace(deployment, sha256=None, size=None)
