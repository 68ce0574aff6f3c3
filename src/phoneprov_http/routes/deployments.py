"""Deployments: the record of switches, and rollback."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar import Router
from litestar.params import JSONBody, QueryParameter

from phoneprov_core.deployments.model import Deployment, Wanted
from phoneprov_core.deployments.rollback import Rollback, RollbackRequest
from phoneprov_core.deployments.use_cases import Deployments
from phoneprov_core.kernel.fields import MAC
from phoneprov_core.kernel.ids import UUID
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.failures import OF_A_SWITCH, failures
from phoneprov_http.openapi.document import EXAMPLE
from phoneprov_http.routes.handlers import get, post
from phoneprov_http.routes.parameters import ApiRequest, Before, Limit, Mac, Offset, Uuid, page

OfPhone = Annotated[
    str | None,
    QueryParameter(description="Only deployments to this phone", pattern=MAC),
]
AgreeingMac = Annotated[
    str | None, QueryParameter(name="mac", pattern=MAC, include_in_schema=False)
]
OfProfile = Annotated[
    str | None,
    QueryParameter(
        description="Only deployments of this profile",
        pattern=UUID,
        schema_extra={"format": "uuid"},
    ),
]
WithOutcome = Annotated[
    Literal["running", "deployed", "failed", "unknown", "interrupted"] | None,
    QueryParameter(description="Only deployments with this outcome"),
]
Current = Annotated[
    Literal["true", "false"],
    QueryParameter(
        description="Only what is on each phone now, as far as is known",
        schema_extra={"type": "boolean", "enum": [True, False]},
    ),
]


def deployment_routes(deployments: Deployments, rollback: Rollback) -> list[Router]:
    """``/deployments``, and the deployments of ``/phones/{mac}``."""

    @get("/", summary="List deployments", responses=failures(404))
    async def all_deployments(
        request: ApiRequest,
        limit: Limit = None,
        offset: Offset = None,
        mac: OfPhone = None,
        profile_uuid: OfProfile = None,
        outcome: WithOutcome = None,
        current: Current = "false",
        before: Before = None,
    ) -> Listed[Deployment]:
        """All deployments, oldest first. Callers without level 0 see the deployments that they
        started, and those of profiles that were theirs at the time."""
        wanted = Wanted(
            mac=mac,
            profile_uuid=profile_uuid,
            outcome=outcome,
            current=current == "true",
            before=before,
        )
        return listed(
            await deployments.all(request.user, wanted, page(limit, offset)), "deployment"
        )

    @get("/{uuid:str}", summary="Read a deployment", responses=failures(404))
    async def get_deployment(request: ApiRequest, uuid: Uuid) -> Envelope[Deployment]:
        """One deployment. `confirmation` is `pending` until the phone registers again, or does
        not in time."""
        return record("Deployment found", await deployments.get(request.user, uuid))

    @get("/{mac:str}/deployments", summary="List a phone's deployments", responses=failures(404))
    async def deployments_of_phone(
        request: ApiRequest,
        mac: Mac,
        limit: Limit = None,
        offset: Offset = None,
        profile_uuid: OfProfile = None,
        outcome: WithOutcome = None,
        current: Current = "false",
        before: Before = None,
        same_mac: AgreeingMac = None,
    ) -> Listed[Deployment]:
        """The deployments to one phone that the caller may see, oldest first."""
        wanted = Wanted(
            mac=same_mac,
            profile_uuid=profile_uuid,
            outcome=outcome,
            current=current == "true",
            before=before,
        )
        return listed(
            await deployments.of_phone(request.user, mac, wanted, page(limit, offset)), "deployment"
        )

    @post(
        "/{mac:str}/rollback",
        status_code=200,
        summary="Roll a phone back",
        responses=failures(404, 429, 502, 504, conflicts=OF_A_SWITCH),
        opt={EXAMPLE: {"deployment_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"}},
    )
    async def roll_back(
        request: ApiRequest,
        mac: Mac,
        data: JSONBody[RollbackRequest] = RollbackRequest(),  # noqa: B008
    ) -> Envelope[Deployment]:
        """A switch, with all its steps, to an earlier revision. Without a body: to what was on
        the phone before the current deployment. With `deployment_uuid`: to the revision of that
        deployment. With `profile_uuid` and `revision`: to that revision."""
        return record("Configuration put back", await rollback(request.user, mac, data))

    return [
        Router(
            "/deployments", route_handlers=[all_deployments, get_deployment], tags=["Deployments"]
        ),
        Router("/phones", route_handlers=[deployments_of_phone, roll_back], tags=["Deployments"]),
    ]
