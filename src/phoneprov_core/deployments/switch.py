"""The switch: deploy a profile to a phone and restart the phone."""

from dataclasses import dataclass

from phoneprov_core.deployments.deploy import Deploy
from phoneprov_core.deployments.model import RESTARTED, Action, Deployment
from phoneprov_core.deployments.order import Order, load_order
from phoneprov_core.deployments.ports import DeploymentsTransaction
from phoneprov_core.deployments.steps import Progress, no_progress
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.profiles.model import Switched, SwitchRequest
from phoneprov_core.profiles.use_cases import profile_of


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
        self,
        actor: Actor,
        request: SwitchRequest,
        progress: Progress = no_progress,
    ) -> Deployment:
        """The record of the switch, after the restart command.

        Raises ``NotFound`` if the phone does not exist or the caller may not see the profile, and
        the errors of ``Deploy``.
        """
        order = await order_of(self.database, actor, request)
        return await self.deploy(actor, order, progress)


async def order_of(
    database: ReadAndWrite[DeploymentsTransaction],
    actor: Actor,
    request: SwitchRequest,
) -> Order:
    """The deployment of a request: the newest revision of the profile, and the phone.

    Raises ``NotFound`` if the phone does not exist or the caller may not see the profile.
    """
    async with database.read() as tx:
        profile = await profile_of(tx, actor, request.profile_uuid)
        phone = found(await tx.phones.find(request.mac), "phone")
        return found(await load_order(tx, Action.SWITCH, profile, phone), "profile")
