"""The PINs with which users log in on phones."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody

from phoneprov_core.vendor_users.model import NewPin, VendorUser
from phoneprov_core.vendor_users.use_cases import VendorUsers
from phoneprov_http.envelope import Done, Envelope, done, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, put
from phoneprov_http.routes.parameters import ApiRequest, UserUuid


def vendor_user_routes(vendor_users: VendorUsers) -> Router:
    """``/vendor-users``."""

    @get("/by-user/{user_uuid:str}", summary="Read a user's PIN", responses=failures(403, 404))
    async def get_vendor_user(request: ApiRequest, user_uuid: UserUuid) -> Envelope[VendorUser]:
        """The PIN of one user, as a hash."""
        return record("Vendor user found", await vendor_users.get(request.user, user_uuid))

    @put("/{user_uuid:str}", summary="Set a user's PIN", responses=failures(403, 404))
    async def save_vendor_user(
        request: ApiRequest, user_uuid: UserUuid, data: JSONBody[NewPin]
    ) -> Envelope[VendorUser]:
        """Create or replace the PIN of one user. Only its hash is stored."""
        return record("Vendor user saved", await vendor_users.save(request.user, user_uuid, data))

    @delete(
        "/{user_uuid:str}",
        summary="Delete a user's PIN",
        responses=failures(403, 404),
    )
    async def delete_vendor_user(request: ApiRequest, user_uuid: UserUuid) -> Done:
        """Delete the PIN of one user."""
        await vendor_users.delete(request.user, user_uuid)
        return done("Vendor user deleted")

    return Router(
        "/vendor-users",
        route_handlers=[get_vendor_user, save_vendor_user, delete_vendor_user],
        tags=["Vendor users"],
    )
