"""The PINs by which users log in on phones."""

from __future__ import annotations

from litestar import delete, get, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.vendor_users.model import NewPin, VendorUser
from phoneprov_core.vendor_users.use_cases import VendorUsers
from phoneprov_http.describe import described
from phoneprov_http.replies import done
from phoneprov_http.requests import AnyRequest, Requests
from phoneprov_http.routes.router import Router


def vendor_user_routes(requests: Requests, vendor_users: VendorUsers) -> Router:
    """``/vendor-users``."""

    @get(
        "/by-user/{user_uuid:str}",
        opt=described(
            "Read a user's PIN", "Vendor user found", reply=VendorUser, errors=(403, 404)
        ),
    )
    async def get_vendor_user(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """The PIN of one user, as a hash."""
        actor = await requests.caller(request)
        return done("Vendor user found", await vendor_users.get(actor, user_uuid))

    @put(
        "/{user_uuid:str}",
        opt=described(
            "Set a user's PIN",
            "Vendor user saved",
            body=NewPin,
            reply=VendorUser,
            identifiers=("user_uuid",),
            errors=(403, 404),
        ),
    )
    async def save_vendor_user(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """Set the PIN of one user, whether or not there was one. Only its hash is kept."""
        actor = await requests.caller(request)
        new = await requests.sent(request, NewPin)
        return done("Vendor user saved", await vendor_users.save(actor, user_uuid, new))

    @delete(
        "/{user_uuid:str}",
        status_code=200,
        opt=described("Delete a user's PIN", "Vendor user deleted", errors=(403, 404)),
    )
    async def delete_vendor_user(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """Delete the PIN of one user."""
        await vendor_users.delete(await requests.caller(request), user_uuid)
        return done("Vendor user deleted")

    return Router(
        "/vendor-users",
        route_handlers=[get_vendor_user, save_vendor_user, delete_vendor_user],
        tags=["Vendor users"],
    )
