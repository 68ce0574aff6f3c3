"""The deployment that a rollback without a body deploys again."""

import msgspec

from phoneprov_core.deployments.model import Deployment, Outcome
from phoneprov_core.deployments.ports import DeploymentStore


async def rollback_target(deployments: DeploymentStore, mac: str) -> Deployment | None:
    """The last deployment of the phone before the current one that certainly had another
    configuration, or None."""
    current = await deployments.current(mac)
    if current is None:
        return None
    earlier = await deployments.previous(current)
    while earlier is not None and earlier.outcome is Outcome.UNKNOWN:
        since = msgspec.structs.replace(current, number=earlier.number)
        earlier = await deployments.previous(since)
    return earlier
