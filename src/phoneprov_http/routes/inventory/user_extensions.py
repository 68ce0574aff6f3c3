"""Links between users and extensions; level 0."""

from phoneprov_core.features.lines.use_cases import Lines
from phoneprov_core.inventory.links import CreateLink, FullLink, LinkedExtension, LinkedUser, Links
from phoneprov_core.kernel.errors import AlreadyExists, NotFound
from phoneprov_http.envelope import Listed, Shown, listed, shown_on
from phoneprov_http.routes.handlers import (
    ApiRequest,
    Body,
    ExtensionUuid,
    Routes,
    UserUuid,
    Uuid,
    level_0,
)


def user_extension_routes(links: Links, lines: Lines) -> Routes:
    """``/user-extensions``."""
    routes = Routes("User extensions", guards=[level_0])

    @routes.get("/user-extensions")
    async def all_links(request: ApiRequest) -> Listed[FullLink]:
        """List links. All links with their users and extensions, oldest first."""
        return listed(await links.all(request.user, request.page), "link")

    @routes.get("/user-extensions/by-user/{user_uuid:str}")
    async def extensions_of_user(
        request: ApiRequest, user_uuid: UserUuid
    ) -> Listed[LinkedExtension]:
        """List a user's extensions. In the order of their links."""
        found = await links.of_user(request.user, user_uuid, request.page)
        return listed(found, "extension", "linked to user")

    @routes.get("/user-extensions/by-extension/{extension_uuid:str}")
    async def users_of_extension(
        request: ApiRequest, extension_uuid: ExtensionUuid
    ) -> Listed[LinkedUser]:
        """List an extension's users. The users linked to one extension, in the order of their
        links."""
        found = await links.of_extension(request.user, extension_uuid, request.page)
        return listed(found, "user", "linked to extension")

    @routes.post("/user-extensions", raises=[NotFound, AlreadyExists])
    async def create_link(request: ApiRequest, data: Body[CreateLink]) -> Shown[FullLink]:
        """Link an extension to a user. Both may have many links. No phone is restarted:
        `metadata.phones` are those that show the line after their next restart."""
        link = await links.create(request.user, data)
        phones = await lines.showing(request.user, link.user_uuid, link.extension_uuid)
        return shown_on(phones, "User linked to extension", link)

    @routes.delete("/user-extensions/{uuid:str}")
    async def delete_link(request: ApiRequest, uuid: Uuid) -> Shown[None]:
        """Delete a link. The user and the extension stay. No phone is restarted: `metadata.phones`
        are those that show the line until their next restart."""
        link = await links.delete(request.user, uuid)
        phones = await lines.showing(request.user, link.user_uuid, link.extension_uuid)
        return shown_on(phones, "Link deleted", None)

    return routes
