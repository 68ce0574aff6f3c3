"""PINs for vendor phones; the user or level 0. Helpdesks set them."""

from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.people.vendor_users import CreatePin, PinState, VendorUser, VendorUsers
from phoneprov_http.envelope import Done, Envelope, done, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, UserUuid


def vendor_user_routes(vendor_users: VendorUsers) -> Routes:
    """``/vendor-users``."""
    routes = Routes("Vendor users")

    @routes.get("/vendor-users/by-user/{user_uuid:str}", raises=[Forbidden])
    async def get_vendor_user(request: ApiRequest, user_uuid: UserUuid) -> Envelope[VendorUser]:
        """Read a user's PIN. The PIN of one user, as a hash."""
        return record("Vendor user found", await vendor_users.get(request.user, user_uuid))

    @routes.put("/vendor-users/{user_uuid:str}", raises=[Forbidden])
    async def save_vendor_user(
        request: ApiRequest, user_uuid: UserUuid, data: Body[CreatePin]
    ) -> Envelope[VendorUser]:
        """Set a user's PIN. Create or replace the PIN of one user. Only its hash is stored."""
        return record("Vendor user saved", await vendor_users.save(request.user, user_uuid, data))

    @routes.get("/vendor-users/{user_uuid:str}/lock", raises=[Forbidden])
    async def get_pin_lock(request: ApiRequest, user_uuid: UserUuid) -> Envelope[PinState]:
        """Read the lock of a user's PIN. Whether the user has a PIN, and whether wrong ones locked
        it; never the PIN or its hash."""
        return record("PIN lock found", await vendor_users.state(request.user, user_uuid))

    @routes.delete("/vendor-users/{user_uuid:str}/lock", raises=[Forbidden])
    async def open_pin_lock(request: ApiRequest, user_uuid: UserUuid) -> Envelope[PinState]:
        """Open the lock of a user's PIN. Forgets the wrong PINs; the PIN stays."""
        return record("PIN lock opened", await vendor_users.unlock(request.user, user_uuid))

    @routes.delete("/vendor-users/{user_uuid:str}", raises=[Forbidden])
    async def delete_vendor_user(request: ApiRequest, user_uuid: UserUuid) -> Done:
        """Delete a user's PIN."""
        await vendor_users.delete(request.user, user_uuid)
        return done("Vendor user deleted")

    return routes
