"""Extensions, and the links of users to them: the routes."""

from phoneprov_core.features.lines.use_cases import Lines
from phoneprov_core.inventory.extensions import (
    CreateExtension,
    ExtensionPatch,
    Extensions,
    ExtensionSearch,
    ShownExtension,
    without_password,
)
from phoneprov_core.inventory.links import CreateLink, FullLink, LinkedExtension, LinkedUser, Links
from phoneprov_core.kernel.errors import AlreadyExists, InUse, NotFound
from phoneprov_http.envelope import Envelope, Listed, Shown, listed, read_after, record, shown_on
from phoneprov_http.routes.handlers import (
    ApiRequest,
    Body,
    ExtensionUuid,
    Query,
    Routes,
    UserUuid,
    Uuid,
    level_0,
    people,
)


def extension_routes(extensions: Extensions, lines: Lines) -> Routes:
    """``/extensions``."""
    routes = Routes("Extensions", writing=level_0)

    @routes.get("/extensions", guards=[people])
    async def all_extensions(
        request: ApiRequest, wanted: Query[ExtensionSearch]
    ) -> Listed[ShownExtension]:
        """List extensions. All of them, oldest first."""
        found = await extensions.all(request.user, request.page, wanted)
        return listed(found.mapped(without_password), "extension")

    @routes.get("/extensions/{uuid:str}", guards=[people])
    async def get_extension(request: ApiRequest, uuid: Uuid) -> Envelope[ShownExtension]:
        """Read an extension."""
        return record("Extension found", without_password(await extensions.get(request.user, uuid)))

    @routes.post("/extensions", raises=[AlreadyExists])
    async def create_extension(
        request: ApiRequest, data: Body[CreateExtension]
    ) -> Envelope[ShownExtension]:
        """Create an extension. Its number is unique."""
        return record(
            "Extension created", without_password(await extensions.create(request.user, data))
        )

    @routes.put("/extensions/{uuid:str}", raises=[AlreadyExists, InUse])
    async def update_extension(
        request: ApiRequest, uuid: Uuid, data: Body[ExtensionPatch]
    ) -> Shown[ShownExtension]:
        """Update an extension. Change the fields that are sent; null clears a field. A null
        password leaves the stored password unchanged. No phone is restarted: `metadata.phones` are
        the phones of its users, which show the line after their next restart."""
        phones = await lines.showing_any(request.user, uuid)
        extension = await extensions.update(request.user, uuid, data)
        phones = phones or await read_after(lines.showing_any(request.user, uuid))
        return shown_on(phones, "Extension updated", without_password(extension))

    @routes.delete("/extensions/{uuid:str}", raises=[InUse])
    async def delete_extension(request: ApiRequest, uuid: Uuid) -> Shown[None]:
        """Delete an extension. Deletes its links to users too. No phone is restarted:
        `metadata.phones` are phones that show the line until their next restart."""
        phones = await lines.showing_any(request.user, uuid)
        await extensions.delete(request.user, uuid)
        return shown_on(phones, "Extension deleted", None)

    return routes


def user_extension_routes(links: Links, lines: Lines) -> Routes:
    """``/user-extensions``."""
    routes = Routes("User extensions", writing=level_0)

    @routes.get("/user-extensions", guards=[people])
    async def all_links(request: ApiRequest) -> Listed[FullLink]:
        """List links. All links with their users and extensions, oldest first."""
        return listed(await links.all(request.user, request.page), "link")

    @routes.get("/user-extensions/by-user/{user_uuid:str}", guards=[people])
    async def extensions_of_user(
        request: ApiRequest, user_uuid: UserUuid
    ) -> Listed[LinkedExtension]:
        """List a user's extensions. In the order of their links."""
        found = await links.of_user(request.user, user_uuid, request.page)
        return listed(found, "extension", "linked to user")

    @routes.get("/user-extensions/by-extension/{extension_uuid:str}", guards=[people])
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
        `metadata.phones` are phones that show the line after their next restart."""
        link = await links.create(request.user, data)
        showing = lines.showing(request.user, link.user_uuid, link.extension_uuid)
        return shown_on(await read_after(showing), "User linked to extension", link)

    @routes.delete("/user-extensions/{uuid:str}")
    async def delete_link(request: ApiRequest, uuid: Uuid) -> Shown[None]:
        """Delete a link. The user and the extension stay. No phone is restarted: `metadata.phones`
        are phones that show the line until their next restart."""
        link = await links.delete(request.user, uuid)
        showing = lines.showing(request.user, link.user_uuid, link.extension_uuid)
        return shown_on(await read_after(showing), "Link deleted", None)

    return routes
