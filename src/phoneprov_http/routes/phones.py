"""The inventory of phones."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.phones.model import NewPhone, Phone, PhonePatch
from phoneprov_core.phones.use_cases import Phones
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def phone_routes(requests: Requests, phones: Phones) -> Router:
    """``/phones``."""

    @get("/", opt=described("List phones", "2 phone(s) found", reply=list[Phone], listed=True))
    async def all_phones(request: AnyRequest) -> ASGIResponse:
        """Every phone of the inventory, oldest first."""
        actor = await requests.caller(request)
        return await listed(await phones.all(actor, page(request)), "phone")

    @get("/{mac:str}", opt=described("Read a phone", "Phone found", reply=Phone, errors=(404,)))
    async def get_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """One phone, its MAC in any spelling."""
        actor = await requests.caller(request)
        return done("Phone found", await phones.get(actor, mac))

    @post(
        "/",
        opt=described(
            "Record a phone",
            "Phone created",
            body=NewPhone,
            reply=Phone,
            status=201,
            errors=(403,),
            conflicts=("already_exists",),
        ),
    )
    async def create_phone(request: AnyRequest) -> ASGIResponse:
        """Record a phone; only its MAC is needed."""
        actor = await requests.caller(request)
        phone = await phones.create(actor, await requests.sent(request, NewPhone))
        return created("Phone created", phone)

    @put(
        "/{mac:str}",
        opt=described(
            "Change a phone",
            "Phone updated",
            body=PhonePatch,
            reply=Phone,
            identifiers=("mac",),
            errors=(403, 404),
        ),
    )
    async def update_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; null clears one."""
        actor = await requests.caller(request)
        phone = await phones.update(actor, mac, await requests.sent(request, PhonePatch))
        return done("Phone updated", phone)

    @delete(
        "/{mac:str}",
        status_code=200,
        opt=described("Delete a phone", "Phone deleted", errors=(403, 404)),
    )
    async def delete_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """Delete a phone and its vendor flag; its expansion modules lose their phone."""
        await phones.delete(await requests.caller(request), mac)
        return done("Phone deleted")

    return Router(
        "/phones",
        route_handlers=[all_phones, get_phone, create_phone, update_phone, delete_phone],
        tags=["Phones"],
    )
