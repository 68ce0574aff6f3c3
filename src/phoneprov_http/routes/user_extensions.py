"""Links between users and extensions; level 0."""

from __future__ import annotations

from litestar import delete, get, post
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.links.model import FullLink, LinkedExtension, LinkedUser, NewLink
from phoneprov_core.links.use_cases import Links
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def user_extension_routes(requests: Requests, links: Links) -> Router:
    """``/user-extensions``."""

    @get(
        "/",
        opt=described(
            "List links", "2 link(s) found", reply=list[FullLink], listed=True, errors=(403,)
        ),
    )
    async def all_links(request: AnyRequest) -> ASGIResponse:
        """Every link with its user and its extension, oldest first."""
        actor = await requests.caller(request)
        return await listed(await links.all(actor, page(request)), "link")

    @get(
        "/by-user/{user_uuid:str}",
        opt=described(
            "List a user's extensions",
            "2 extension(s) linked to user",
            reply=list[LinkedExtension],
            listed=True,
            errors=(403, 404),
        ),
    )
    async def extensions_of_user(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """The extensions linked to one user, in the order of their links."""
        actor = await requests.caller(request)
        found = await links.of_user(actor, user_uuid, page(request))
        return await listed(found, "extension", "linked to user")

    @get(
        "/by-extension/{extension_uuid:str}",
        opt=described(
            "List an extension's users",
            "2 user(s) linked to extension",
            reply=list[LinkedUser],
            listed=True,
            errors=(403, 404),
        ),
    )
    async def users_of_extension(
        request: AnyRequest, extension_uuid: FromPath[str]
    ) -> ASGIResponse:
        """The users linked to one extension, in the order of their links."""
        actor = await requests.caller(request)
        found = await links.of_extension(actor, extension_uuid, page(request))
        return await listed(found, "user", "linked to extension")

    @post(
        "/",
        opt=described(
            "Link an extension to a user",
            "User linked to extension",
            body=NewLink,
            reply=FullLink,
            status=201,
            errors=(403, 404),
            conflicts=("already_exists",),
        ),
    )
    async def create_link(request: AnyRequest) -> ASGIResponse:
        """Give a user an extension; both may have many."""
        actor = await requests.caller(request)
        link = await links.create(actor, await requests.sent(request, NewLink))
        return created("User linked to extension", link)

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Delete a link", "Link deleted", errors=(403, 404)),
    )
    async def delete_link(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Take an extension from a user; both stay."""
        await links.delete(await requests.caller(request), uuid)
        return done("Link deleted")

    return Router(
        "/user-extensions",
        route_handlers=[
            all_links,
            extensions_of_user,
            users_of_extension,
            create_link,
            delete_link,
        ],
        tags=["User extensions"],
    )
