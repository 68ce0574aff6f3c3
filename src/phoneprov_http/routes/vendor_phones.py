"""Vendor phone flags."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody
from litestar.types import Guard

from phoneprov_core.vendor_phones.model import VendorPhone, VendorPhoneFlag
from phoneprov_core.vendor_phones.use_cases import VendorPhones
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Mac, Offset, page


def vendor_phone_routes(vendor_phones: VendorPhones, shared_write: Guard) -> Router:
    """``/vendor-phones``."""

    @get("/", summary="List vendor phone flags")
    async def all_vendor_phones(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[VendorPhone]:
        """All vendor phone flags, oldest first."""
        return listed(await vendor_phones.all(request.user, page(limit, offset)), "vendor phone")

    @get("/{mac:str}", summary="Read a vendor phone flag", responses=failures(404))
    async def get_vendor_phone(request: ApiRequest, mac: Mac) -> Envelope[VendorPhone]:
        """The flag of one phone, by its MAC address in any notation."""
        return record("Vendor phone found", await vendor_phones.get(request.user, mac))

    @put("/{mac:str}", summary="Set a vendor phone flag", guards=[shared_write])
    async def save_vendor_phone(
        request: ApiRequest, mac: Mac, data: JSONBody[VendorPhoneFlag]
    ) -> Envelope[VendorPhone]:
        """Create or replace the flag of a phone. The phone may be added later."""
        return record("Vendor phone saved", await vendor_phones.save(request.user, mac, data))

    @delete(
        "/{mac:str}",
        summary="Delete a vendor phone flag",
        guards=[shared_write],
        responses=failures(404),
    )
    async def delete_vendor_phone(request: ApiRequest, mac: Mac) -> Done:
        """Delete the flag of a phone. The phone stays."""
        await vendor_phones.delete(request.user, mac)
        return done("Vendor phone deleted")

    return Router(
        "/vendor-phones",
        route_handlers=[
            all_vendor_phones,
            get_vendor_phone,
            save_vendor_phone,
            delete_vendor_phone,
        ],
        tags=["Vendor phones"],
    )
