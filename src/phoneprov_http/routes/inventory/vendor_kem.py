"""Key expansion modules. Every account reads them, level 0 writes them."""

from phoneprov_core.inventory.kems import CreateKem, Kem, KemPatch, Kems, WantedKems
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Guard, Query, Routes, Uuid


def kem_routes(kems: Kems, shared_write: Guard) -> Routes:
    """``/vendor-kem``."""
    routes = Routes("Vendor KEM", writing=shared_write)

    @routes.get("/vendor-kem")
    async def all_kems(request: ApiRequest, wanted: Query[WantedKems]) -> Listed[Kem]:
        """List key expansion modules. All of them, or those of one phone, oldest first."""
        return listed(await kems.all(request.user, request.page, wanted), "KEM")

    @routes.get("/vendor-kem/{uuid:str}")
    async def get_kem(request: ApiRequest, uuid: Uuid) -> Envelope[Kem]:
        """Read a key expansion module."""
        return record("KEM found", await kems.get(request.user, uuid))

    @routes.post("/vendor-kem")
    async def create_kem(request: ApiRequest, data: Body[CreateKem]) -> Envelope[Kem]:
        """Create a key expansion module. Its phone may be added later."""
        return record("KEM created", await kems.create(request.user, data))

    @routes.put("/vendor-kem/{uuid:str}")
    async def update_kem(request: ApiRequest, uuid: Uuid, data: Body[KemPatch]) -> Envelope[Kem]:
        """Update a key expansion module. Change the fields that are sent; null clears a field."""
        return record("KEM updated", await kems.update(request.user, uuid, data))

    @routes.delete("/vendor-kem/{uuid:str}")
    async def delete_kem(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a key expansion module."""
        await kems.delete(request.user, uuid)
        return done("KEM deleted")

    return routes
