"""Telephone extensions; level 0."""

from phoneprov_core.features.lines.use_cases import Lines
from phoneprov_core.inventory.extensions import (
    CreateExtension,
    ExtensionPatch,
    Extensions,
    ExtensionSearch,
    ShownExtension,
    without_password,
)
from phoneprov_core.kernel.errors import AlreadyExists, InUse
from phoneprov_http.envelope import Envelope, Listed, Shown, listed, record, shown_on
from phoneprov_http.routes.handlers import ApiRequest, Body, Query, Routes, Uuid, level_0


def extension_routes(extensions: Extensions, lines: Lines) -> Routes:
    """``/extensions``."""
    routes = Routes("Extensions", guards=[level_0])

    @routes.get("/extensions")
    async def all_extensions(
        request: ApiRequest, wanted: Query[ExtensionSearch]
    ) -> Listed[ShownExtension]:
        """List extensions. All of them, oldest first."""
        found = await extensions.all(request.user, request.page, wanted)
        return listed(found.mapped(without_password), "extension")

    @routes.get("/extensions/{uuid:str}")
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
        those of its users, which show the line after their next restart."""
        phones = await lines.showing_any(request.user, uuid)
        extension = await extensions.update(request.user, uuid, data)
        phones = phones or await lines.showing_any(request.user, uuid)
        return shown_on(phones, "Extension updated", without_password(extension))

    @routes.delete("/extensions/{uuid:str}", raises=[InUse])
    async def delete_extension(request: ApiRequest, uuid: Uuid) -> Shown[None]:
        """Delete an extension. Deletes its links to users too. No phone is restarted:
        `metadata.phones` are those that show the line until their next restart."""
        phones = await lines.showing_any(request.user, uuid)
        await extensions.delete(request.user, uuid)
        return shown_on(phones, "Extension deleted", None)

    return routes
