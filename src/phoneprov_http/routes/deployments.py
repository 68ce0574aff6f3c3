"""What was put onto which phone, and putting back what was there before."""

from __future__ import annotations

from litestar import get, post
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.deployments.model import Deployment, Wanted
from phoneprov_core.deployments.rollback import Rollback, RollbackRequest
from phoneprov_core.deployments.use_cases import Deployments
from phoneprov_http.describe import OF_A_SWITCH, described
from phoneprov_http.replies import done, listed
from phoneprov_http.requests import AnyRequest, Requests, filters, page
from phoneprov_http.routes.router import Router

_TAGS = ["Deployments"]


def deployment_routes(
    requests: Requests, deployments: Deployments, rollback: Rollback
) -> list[Router]:
    """``/deployments``, and what of them stands under ``/phones/{mac}``."""

    @get(
        "/",
        opt=described(
            "List deployments",
            "2 deployment(s) found",
            reply=list[Deployment],
            listed=True,
            filters=Wanted,
        ),
    )
    async def all_deployments(request: AnyRequest) -> ASGIResponse:
        """Oldest first; without level 0 only what one asked for oneself, and what brought a
        profile that was one's own. `current` leaves what is on each phone now."""
        actor = await requests.caller(request)
        found = await deployments.all(actor, filters(request, Wanted), page(request))
        return await listed(found, "deployment")

    @get(
        "/{uuid:str}",
        opt=described("Read a deployment", "Deployment found", reply=Deployment, errors=(404,)),
    )
    async def get_deployment(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One deployment. Its `confirmation` is `pending` until the phone was seen to come
        back, or was not."""
        actor = await requests.caller(request)
        return done("Deployment found", await deployments.get(actor, uuid))

    @get(
        "/{mac:str}/deployments",
        opt=described(
            "List a phone's deployments",
            "2 deployment(s) found",
            reply=list[Deployment],
            listed=True,
            filters=Wanted,
            errors=(404,),
        ),
    )
    async def deployments_of_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """The history of one phone, oldest first: what of it the caller may see. `current`
        leaves what is on the phone now."""
        actor = await requests.caller(request)
        found = await deployments.of_phone(actor, mac, filters(request, Wanted), page(request))
        return await listed(found, "deployment")

    @post(
        "/{mac:str}/rollback",
        status_code=200,
        opt=described(
            "Put back what was on a phone",
            "Configuration put back",
            body=RollbackRequest,
            body_optional=True,
            example={"deployment_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"},
            reply=Deployment,
            errors=(404, 429, 502, 504),
            conflicts=OF_A_SWITCH,
        ),
    )
    async def roll_back(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """An ordinary switch, with all its steps, to a revision from before. Without a body, to
        what was on the phone before what is there now; with `deployment_uuid`, to what that
        deployment brought; with `profile_uuid` and `revision`, to that revision."""
        actor = await requests.caller(request)
        sent = await requests.sent(request, RollbackRequest, optional=True)
        return done("Configuration put back", await rollback(actor, mac, sent))

    return [
        Router("/deployments", route_handlers=[all_deployments, get_deployment], tags=_TAGS),
        Router("/phones", route_handlers=[deployments_of_phone, roll_back], tags=_TAGS),
    ]
