"""Service definitions. Every account reads them, level 0 writes them."""

from phoneprov_core.inventory.vendor_services import (
    CreateVendorService,
    VendorService,
    VendorServicePatch,
    VendorServices,
)
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Guard, Routes, Uuid


def vendor_service_routes(services: VendorServices, shared_write: Guard) -> Routes:
    """``/vendor-services``."""
    routes = Routes("Vendor services", writing=shared_write)

    @routes.get("/vendor-services")
    async def all_services(request: ApiRequest) -> Listed[VendorService]:
        """List services. All of them, oldest first."""
        return listed(await services.all(request.user, request.page), "service")

    @routes.get("/vendor-services/{uuid:str}")
    async def get_service(request: ApiRequest, uuid: Uuid) -> Envelope[VendorService]:
        """Read a service."""
        return record("Service found", await services.get(request.user, uuid))

    @routes.post("/vendor-services")
    async def create_service(
        request: ApiRequest, data: Body[CreateVendorService]
    ) -> Envelope[VendorService]:
        """Create a service. phoneprov never fetches the URL of a service; phones do."""
        return record("Service created", await services.create(request.user, data))

    @routes.put("/vendor-services/{uuid:str}")
    async def update_service(
        request: ApiRequest, uuid: Uuid, data: Body[VendorServicePatch]
    ) -> Envelope[VendorService]:
        """Update a service. Change the fields that are sent; null clears a field."""
        return record("Service updated", await services.update(request.user, uuid, data))

    @routes.delete("/vendor-services/{uuid:str}")
    async def delete_service(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a service."""
        await services.delete(request.user, uuid)
        return done("Service deleted")

    return routes
