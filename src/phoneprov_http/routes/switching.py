"""Deployments, rollback and restart; callers without level 0 see their own deployments."""

from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.switching.deployments.model import Deployment, DeploymentFilter
from phoneprov_core.switching.deployments.rollback import Rollback, RollbackRequest
from phoneprov_core.switching.deployments.use_cases import Deployments, Restarted, RestartPhone
from phoneprov_core.switching.errors import OF_A_RESTART, OF_A_SWITCH, RightsChanged
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Mac, Query, Routes, Uuid, people


def deployment_routes(
    deployments: Deployments, rollback: Rollback, restart: RestartPhone
) -> Routes:
    """``/deployments``, and the deployments of ``/phones/{mac}``."""
    routes = Routes("Deployments")

    @routes.get("/deployments", raises=[NotFound])
    async def all_deployments(
        request: ApiRequest, wanted: Query[DeploymentFilter]
    ) -> Listed[Deployment]:
        """List deployments. All of them, oldest first. Callers without level 0 see deployments
        that they started or whose profile was theirs at the time, and helpdesks deployments to
        phones in their scope."""
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
        """Roll a phone back. A complete switch to an earlier configuration. Without a body: to the
        configuration before the current deployment. With `deployment_uuid`: to the revision of this
        deployment. With `profile_uuid` and `revision`: to this revision. 409 `rights_changed` if
        the user of the configuration is inactive or no longer has one of its numbers; level 0 can
        override this with `force`."""
        return record("Configuration put back", await rollback(request.user, mac, data))

    @routes.post("/phones/{mac:str}/restart", status_code=200, guards=[people], raises=OF_A_RESTART)
    async def restart_phone(request: ApiRequest, mac: Mac) -> Envelope[Restarted]:
        """Restart a phone. The phone reads its configuration again. A phone in a call is
        not restarted: 409 `phone_in_call`. 504 `reply_lost`: the phone did not confirm the command,
        and may still carry it out. Counts like a switch. Needs level 0, or a helpdesk with the
        phone in its scope."""
        return record("Phone restarted", await restart(request.user, mac))

    return routes
