"""Key expansion modules."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody
from litestar.types import Guard

from phoneprov_core.kems.model import Kem, KemPatch, NewKem
from phoneprov_core.kems.use_cases import Kems
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, Uuid, page


def kem_routes(kems: Kems, shared_write: Guard) -> Router:
    """``/vendor-kem``."""

    @get("/", summary="List key expansion modules")
    async def all_kems(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[Kem]:
        """All key expansion modules, oldest first."""
        return listed(await kems.all(request.user, page(limit, offset)), "KEM")

    @get("/{uuid:str}", summary="Read a key expansion module", responses=failures(404))
    async def get_kem(request: ApiRequest, uuid: Uuid) -> Envelope[Kem]:
        """One key expansion module."""
        return record("KEM found", await kems.get(request.user, uuid))

    @post("/", summary="Create a key expansion module", guards=[shared_write])
    async def create_kem(request: ApiRequest, data: JSONBody[NewKem]) -> Envelope[Kem]:
        """Add a key expansion module. Its phone may be added later."""
        return record("KEM created", await kems.create(request.user, data))

    @put(
        "/{uuid:str}",
        summary="Update a key expansion module",
        guards=[shared_write],
        responses=failures(404),
    )
    async def update_kem(
        request: ApiRequest, uuid: Uuid, data: JSONBody[KemPatch]
    ) -> Envelope[Kem]:
        """Change the fields that are sent; null clears a field."""
        return record("KEM updated", await kems.update(request.user, uuid, data))

    @delete(
        "/{uuid:str}",
        summary="Delete a key expansion module",
        guards=[shared_write],
        responses=failures(404),
    )
    async def delete_kem(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a key expansion module."""
        await kems.delete(request.user, uuid)
        return done("KEM deleted")

    return Router(
        "/vendor-kem",
        route_handlers=[all_kems, get_kem, create_kem, update_kem, delete_kem],
        tags=["Vendor KEM"],
    )
