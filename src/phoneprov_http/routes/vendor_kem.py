"""Key expansion modules."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.kems.model import Kem, KemPatch, NewKem
from phoneprov_core.kems.use_cases import Kems
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def kem_routes(requests: Requests, kems: Kems) -> Router:
    """``/vendor-kem``."""

    @get(
        "/",
        opt=described("List key expansion modules", "2 KEM(s) found", reply=list[Kem], listed=True),
    )
    async def all_kems(request: AnyRequest) -> ASGIResponse:
        """Every key expansion module, oldest first."""
        actor = await requests.caller(request)
        return await listed(await kems.all(actor, page(request)), "KEM")

    @get(
        "/{uuid:str}",
        opt=described("Read a key expansion module", "KEM found", reply=Kem, errors=(404,)),
    )
    async def get_kem(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One key expansion module."""
        actor = await requests.caller(request)
        return done("KEM found", await kems.get(actor, uuid))

    @post(
        "/",
        opt=described(
            "Record a key expansion module",
            "KEM created",
            body=NewKem,
            reply=Kem,
            status=201,
            errors=(403,),
        ),
    )
    async def create_kem(request: AnyRequest) -> ASGIResponse:
        """Record a key expansion module; its phone need not be recorded yet."""
        actor = await requests.caller(request)
        kem = await kems.create(actor, await requests.sent(request, NewKem))
        return created("KEM created", kem)

    @put(
        "/{uuid:str}",
        opt=described(
            "Change a key expansion module",
            "KEM updated",
            body=KemPatch,
            reply=Kem,
            identifiers=("uuid",),
            errors=(403, 404),
        ),
    )
    async def update_kem(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; null clears one."""
        actor = await requests.caller(request)
        kem = await kems.update(actor, uuid, await requests.sent(request, KemPatch))
        return done("KEM updated", kem)

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Delete a key expansion module", "KEM deleted", errors=(403, 404)),
    )
    async def delete_kem(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete a key expansion module."""
        await kems.delete(await requests.caller(request), uuid)
        return done("KEM deleted")

    return Router(
        "/vendor-kem",
        route_handlers=[all_kems, get_kem, create_kem, update_kem, delete_kem],
        tags=["Vendor KEM"],
    )
