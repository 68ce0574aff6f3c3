"""Record of switches, and rollback; others than level 0 see their own."""

from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.switching.deployments.model import (
    OF_A_SWITCH,
    Deployment,
    DeploymentFilter,
    RightsChanged,
)
from phoneprov_core.switching.deployments.rollback import Rollback, RollbackRequest
from phoneprov_core.switching.deployments.use_cases import Deployments
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Mac, Query, Routes, Uuid


def deployment_routes(deployments: Deployments, rollback: Rollback) -> Routes:
    """``/deployments``, and the deployments of ``/phones/{mac}``."""
    routes = Routes("Deployments")

    @routes.get("/deployments", raises=[NotFound])
    async def all_deployments(
        request: ApiRequest, wanted: Query[DeploymentFilter]
    ) -> Listed[Deployment]:
        """List deployments. All of them, oldest first. Callers without level 0 see those that they
        started, those of profiles that were theirs at the time, and helpdesks those of phones in
        their scope."""
        return listed(await deployments.all(request.user, wanted, request.page), "deployment")

    @routes.get("/deployments/{uuid:str}")
    async def get_deployment(request: ApiRequest, uuid: Uuid) -> Envelope[Deployment]:
        """Read a deployment. `confirmation` is `pending` until the phone registers again, or does
        not in time."""
        return record("Deployment found", await deployments.get(request.user, uuid))

    @routes.get("/phones/{mac:str}/deployments")
    async def deployments_of_phone(
        request: ApiRequest, mac: Mac, wanted: Query[DeploymentFilter]
    ) -> Listed[Deployment]:
        """List a phone's deployments. Those that the caller may see, oldest first."""
        found = await deployments.of_phone(request.user, mac, wanted, request.page)
        return listed(found, "deployment")

    @routes.post(
        "/phones/{mac:str}/rollback", status_code=200, raises=[*OF_A_SWITCH, RightsChanged]
    )
    async def roll_back(
        request: ApiRequest, mac: Mac, data: Body[RollbackRequest] = RollbackRequest()
    ) -> Envelope[Deployment]:
        """Roll a phone back. A switch, with all its steps, to an earlier revision. Without a body:
        to what was on the phone before the current deployment. With `deployment_uuid`: to the
        revision of that deployment. With `profile_uuid` and `revision`: to that revision. A number
        that was taken away does not come back: 409 `rights_changed`, unless level 0 sends
        `force`."""
        return record("Configuration put back", await rollback(request.user, mac, data))

    return routes
