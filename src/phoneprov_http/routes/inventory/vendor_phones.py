"""Vendor flags of phones. Every account reads them, level 0 writes them."""

from phoneprov_core.inventory.vendor_phones import VendorPhone, VendorPhoneFlag, VendorPhones
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.openapi.document import UPSERT
from phoneprov_http.routes.handlers import ApiRequest, Body, Guard, Mac, Routes


def vendor_phone_routes(vendor_phones: VendorPhones, shared_write: Guard) -> Routes:
    """``/vendor-phones``."""
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
