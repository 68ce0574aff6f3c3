"""Service definitions."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.vendor_services.model import (
    NewVendorService,
    VendorService,
    VendorServicePatch,
)
from phoneprov_core.vendor_services.use_cases import VendorServices
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def vendor_service_routes(requests: Requests, services: VendorServices) -> Router:
    """``/vendor-services``."""

    @get(
        "/",
        opt=described(
            "List services", "2 service(s) found", reply=list[VendorService], listed=True
        ),
    )
    async def all_services(request: AnyRequest) -> ASGIResponse:
        """Every service, oldest first."""
        actor = await requests.caller(request)
        return await listed(await services.all(actor, page(request)), "service")

    @get(
        "/{uuid:str}",
        opt=described("Read a service", "Service found", reply=VendorService, errors=(404,)),
    )
    async def get_service(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One service."""
        actor = await requests.caller(request)
        return done("Service found", await services.get(actor, uuid))

    @post(
        "/",
        opt=described(
            "Define a service",
            "Service created",
            body=NewVendorService,
            reply=VendorService,
            status=201,
            errors=(403,),
        ),
    )
    async def create_service(request: AnyRequest) -> ASGIResponse:
        """Define a service; its address is kept for phones and never fetched from here."""
        actor = await requests.caller(request)
        service = await services.create(actor, await requests.sent(request, NewVendorService))
        return created("Service created", service)

    @put(
        "/{uuid:str}",
        opt=described(
            "Change a service",
            "Service updated",
            body=VendorServicePatch,
            reply=VendorService,
            identifiers=("uuid",),
            errors=(403, 404),
        ),
    )
    async def update_service(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; null clears one."""
        actor = await requests.caller(request)
        sent = await requests.sent(request, VendorServicePatch)
        return done("Service updated", await services.update(actor, uuid, sent))

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Delete a service", "Service deleted", errors=(403, 404)),
    )
    async def delete_service(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete a service."""
        await services.delete(await requests.caller(request), uuid)
        return done("Service deleted")

    return Router(
        "/vendor-services",
        route_handlers=[all_services, get_service, create_service, update_service, delete_service],
        tags=["Vendor services"],
    )
