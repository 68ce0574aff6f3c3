"""Links between users and extensions; level 0."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody

from phoneprov_core.links.model import FullLink, LinkedExtension, LinkedUser, NewLink
from phoneprov_core.links.use_cases import Links
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes.handlers import delete, get, post
from phoneprov_http.routes.parameters import (
    ApiRequest,
    ExtensionUuid,
    Limit,
    Offset,
    UserUuid,
    Uuid,
    page,
)


def user_extension_routes(links: Links) -> Router:
    """``/user-extensions``."""

    @get("/", summary="List links")
    async def all_links(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[FullLink]:
        """All links with their users and extensions, oldest first."""
        return listed(await links.all(request.user, page(limit, offset)), "link")

    @get("/by-user/{user_uuid:str}", summary="List a user's extensions", responses=failures(404))
    async def extensions_of_user(
        request: ApiRequest, user_uuid: UserUuid, limit: Limit = None, offset: Offset = None
    ) -> Listed[LinkedExtension]:
        """The extensions linked to one user, in the order of their links."""
        found = await links.of_user(request.user, user_uuid, page(limit, offset))
        return listed(found, "extension", "linked to user")

    @get(
        "/by-extension/{extension_uuid:str}",
        summary="List an extension's users",
        responses=failures(404),
    )
    async def users_of_extension(
        request: ApiRequest,
        extension_uuid: ExtensionUuid,
        limit: Limit = None,
        offset: Offset = None,
    ) -> Listed[LinkedUser]:
        """The users linked to one extension, in the order of their links."""
        found = await links.of_extension(request.user, extension_uuid, page(limit, offset))
        return listed(found, "user", "linked to extension")

    @post(
        "/",
        summary="Link an extension to a user",
        responses=failures(404, conflicts=["already_exists"]),
    )
    async def create_link(request: ApiRequest, data: JSONBody[NewLink]) -> Envelope[FullLink]:
        """Link an extension to a user. Both may have many links."""
        return record("User linked to extension", await links.create(request.user, data))

    @delete("/{uuid:str}", summary="Delete a link", responses=failures(404))
    async def delete_link(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a link. The user and the extension stay."""
        await links.delete(request.user, uuid)
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
        guards=[level_0],
        tags=["User extensions"],
    )
