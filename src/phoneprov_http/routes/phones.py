"""The inventory of phones."""

from __future__ import annotations

from litestar import Router
from litestar.di import NamedDependency
from litestar.params import JSONBody
from litestar.types import Guard

from phoneprov_core.phones.model import NewPhone, Phone, PhonePatch
from phoneprov_core.phones.search import PhoneSearch
from phoneprov_core.phones.use_cases import Phones
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Mac, Offset, page
from phoneprov_http.routes.searches import phone_search, searched


def phone_routes(phones: Phones, shared_write: Guard) -> Router:
    """``/phones``."""

    @get(
        "/",
        summary="List phones",
        dependencies=searched(phone_search),
        responses=failures(403),
    )
    async def all_phones(
        request: ApiRequest,
        wanted: NamedDependency[PhoneSearch],
        limit: Limit = None,
        offset: Offset = None,
    ) -> Listed[Phone]:
        """The phones of the inventory, oldest first."""
        return listed(await phones.all(request.user, page(limit, offset), wanted), "phone")

    @get("/{mac:str}", summary="Read a phone", responses=failures(404))
    async def get_phone(request: ApiRequest, mac: Mac) -> Envelope[Phone]:
        """One phone, by its MAC address in any notation."""
        return record("Phone found", await phones.get(request.user, mac))

    @post(
        "/",
        summary="Create a phone",
        guards=[shared_write],
        responses=failures(conflicts=["already_exists"]),
    )
    async def create_phone(request: ApiRequest, data: JSONBody[NewPhone]) -> Envelope[Phone]:
        """Add a phone to the inventory. Only the MAC address is required."""
        return record("Phone created", await phones.create(request.user, data))

    @put("/{mac:str}", summary="Update a phone", guards=[shared_write], responses=failures(404))
    async def update_phone(
        request: ApiRequest, mac: Mac, data: JSONBody[PhonePatch]
    ) -> Envelope[Phone]:
        """Change the fields that are sent; null clears a field."""
        return record("Phone updated", await phones.update(request.user, mac, data))

    @delete(
        "/{mac:str}",
        summary="Delete a phone",
        guards=[shared_write],
        responses=failures(404),
    )
    async def delete_phone(request: ApiRequest, mac: Mac) -> Done:
        """Delete a phone and its vendor flag. Its key expansion modules are disconnected."""
        await phones.delete(request.user, mac)
        return done("Phone deleted")

    return Router(
        "/phones",
        route_handlers=[all_phones, get_phone, create_phone, update_phone, delete_phone],
        tags=["Phones"],
    )
