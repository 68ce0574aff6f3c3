"""Service definitions."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody
from litestar.types import Guard

from phoneprov_core.vendor_services.model import (
    NewVendorService,
    VendorService,
    VendorServicePatch,
)
from phoneprov_core.vendor_services.use_cases import VendorServices
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, Uuid, page


def vendor_service_routes(services: VendorServices, shared_write: Guard) -> Router:
    """``/vendor-services``."""

    @get("/", summary="List services")
    async def all_services(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[VendorService]:
        """All services, oldest first."""
        return listed(await services.all(request.user, page(limit, offset)), "service")

    @get("/{uuid:str}", summary="Read a service", responses=failures(404))
    async def get_service(request: ApiRequest, uuid: Uuid) -> Envelope[VendorService]:
        """One service."""
        return record("Service found", await services.get(request.user, uuid))

    @post("/", summary="Create a service", guards=[shared_write])
    async def create_service(
        request: ApiRequest, data: JSONBody[NewVendorService]
    ) -> Envelope[VendorService]:
        """Define a service. This service never fetches its URL."""
        return record("Service created", await services.create(request.user, data))

    @put("/{uuid:str}", summary="Update a service", guards=[shared_write], responses=failures(404))
    async def update_service(
        request: ApiRequest, uuid: Uuid, data: JSONBody[VendorServicePatch]
    ) -> Envelope[VendorService]:
        """Change the fields that are sent; null clears a field."""
        return record("Service updated", await services.update(request.user, uuid, data))

    @delete(
        "/{uuid:str}",
        summary="Delete a service",
        guards=[shared_write],
        responses=failures(404),
    )
    async def delete_service(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a service."""
        await services.delete(request.user, uuid)
        return done("Service deleted")

    return Router(
        "/vendor-services",
        route_handlers=[all_services, get_service, create_service, update_service, delete_service],
        tags=["Vendor services"],
    )
