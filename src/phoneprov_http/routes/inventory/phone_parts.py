"""Key expansion modules of phones, and their vendor flags."""

from phoneprov_core.inventory.phone_parts import (
    CreateKem,
    Kem,
    KemPatch,
    Kems,
    VendorPhone,
    VendorPhoneFlag,
    VendorPhones,
    WantedKems,
)
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.openapi.document import UPSERT
from phoneprov_http.routes.handlers import ApiRequest, Body, Guard, Mac, Query, Routes, Uuid


def kem_routes(kems: Kems, shared_write: Guard) -> Routes:
    """``/vendor-kem``. Key expansion modules. Every account reads them, level 0 writes them."""
    routes = Routes("Vendor KEM", writing=shared_write)

    @routes.get("/vendor-kem")
    async def all_kems(request: ApiRequest, wanted: Query[WantedKems]) -> Listed[Kem]:
        """List key expansion modules. All modules, or the modules of one phone, oldest first."""
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


def vendor_phone_routes(vendor_phones: VendorPhones, shared_write: Guard) -> Routes:
    """``/vendor-phones``. Vendor flags of phones. Every account reads them, level 0 writes them."""
    routes = Routes("Vendor phones", writing=shared_write)

    @routes.get("/vendor-phones")
    async def all_vendor_phones(request: ApiRequest) -> Listed[VendorPhone]:
        """List vendor phone flags. All vendor phone flags, oldest first."""
        return listed(await vendor_phones.all(request.user, request.page), "vendor phone")

    @routes.get("/vendor-phones/{mac:str}")
    async def get_vendor_phone(request: ApiRequest, mac: Mac) -> Envelope[VendorPhone]:
        """Read a vendor phone flag. The flag of one phone, by its MAC address in any notation."""
        return record("Vendor phone found", await vendor_phones.get(request.user, mac))

    @routes.put("/vendor-phones/{mac:str}", opt={UPSERT: True})
    async def save_vendor_phone(
        request: ApiRequest, mac: Mac, data: Body[VendorPhoneFlag]
    ) -> Envelope[VendorPhone]:
        """Set a vendor phone flag. Create or replace the flag of a phone. The phone may be added
        later."""
        return record("Vendor phone saved", await vendor_phones.save(request.user, mac, data))

    @routes.delete("/vendor-phones/{mac:str}")
    async def delete_vendor_phone(request: ApiRequest, mac: Mac) -> Done:
        """Delete a vendor phone flag. The phone stays."""
        await vendor_phones.delete(request.user, mac)
        return done("Vendor phone deleted")

    return routes
