"""Desks: who is logged in at which phone."""

from __future__ import annotations

from litestar import Router, get, post, put
from litestar.params import JSONBody

from phoneprov_core.desks.model import Desk, DeskPatch
from phoneprov_core.desks.use_cases import Desks
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.failures import OF_A_SWITCH, failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes.parameters import ApiRequest, Limit, Mac, Offset, page


def desk_routes(desks: Desks) -> list[Router]:
    """``/desks``, and the desk of ``/phones/{mac}``."""

    @get("/", summary="List desks")
    async def all_desks(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[Desk]:
        """The desk of every phone, the oldest phone first. Callers without level 0 see the desks
        where they are logged in."""
        return listed(await desks.all(request.user, page(limit, offset)), "desk")

    @get("/{mac:str}/desk", summary="Read a desk", responses=failures(404))
    async def get_desk(request: ApiRequest, mac: Mac) -> Envelope[Desk]:
        """The default profile of a phone, and the user that is logged in there. Callers without
        level 0 see it while they are logged in there."""
        return record("Desk found", await desks.get(request.user, mac))

    @put(
        "/{mac:str}/desk",
        summary="Configure a desk",
        guards=[level_0],
        responses=failures(404, conflicts=["profile_does_not_fit"]),
    )
    async def update_desk(
        request: ApiRequest, mac: Mac, data: JSONBody[DeskPatch]
    ) -> Envelope[Desk]:
        """Change the default profile (null for none), and whether users can log in. The phone
        keeps its configuration until the next logout. Opens the lock of the phone after wrong
        PINs."""
        return record("Desk updated", await desks.update(request.user, mac, data))

    @post(
        "/{mac:str}/desk/logout",
        status_code=200,
        summary="Log the user of a desk out",
        responses=failures(
            404, 429, 502, 504, conflicts=["not_logged_in", "desk_changed", *OF_A_SWITCH]
        ),
    )
    async def log_out_desk(request: ApiRequest, mac: Mac) -> Envelope[Desk]:
        """Deploy the default profile of a phone, and end the login there. A phone in a call is
        left alone until the call is over. Needs level 0, or the user that is logged in."""
        return record("Desk logged out", await desks.log_out(request.user, mac))

    return [
        Router("/desks", route_handlers=[all_desks], tags=["Desks"]),
        Router("/phones", route_handlers=[get_desk, update_desk, log_out_desk], tags=["Desks"]),
    ]
