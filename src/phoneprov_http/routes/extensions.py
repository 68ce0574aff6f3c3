"""Extensions; level 0."""

from __future__ import annotations

import msgspec
from litestar import Router
from litestar.di import NamedDependency
from litestar.params import JSONBody
from msgspec import Struct

from phoneprov_core.extensions.model import (
    Active,
    Extension,
    ExtensionName,
    ExtensionPatch,
    ExtensionType,
    NewExtension,
    Voicemail,
    VoicemailPasscode,
)
from phoneprov_core.extensions.search import ExtensionSearch
from phoneprov_core.extensions.use_cases import Extensions
from phoneprov_core.kernel.fields import (
    CreatedAt,
    CreatedBy,
    CreatedIp,
    ExtensionNumber,
    Notes,
    RecordUuid,
    UpdatedAt,
    UpdatedBy,
    UpdatedIp,
)
from phoneprov_core.kernel.redaction import redacted
from phoneprov_http.envelope import Done, Envelope, Listed, Nothing, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes import parameters
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, page
from phoneprov_http.routes.searches import extension_search, searched


class ShownExtension(Struct, frozen=True):
    """An extension as it is shown, without its password."""

    uuid: RecordUuid
    type: ExtensionType
    extension: ExtensionNumber
    name: ExtensionName
    password: Nothing
    description: Notes | None
    voicemail: Voicemail
    voicemail_passcode: VoicemailPasscode | None
    is_active: Active
    created_at: CreatedAt
    created_by: CreatedBy | None
    updated_at: UpdatedAt
    updated_by: UpdatedBy | None
    created_ip: CreatedIp
    updated_ip: UpdatedIp

    def __repr__(self) -> str:
        return redacted(self, "password", "voicemail_passcode")


def shown(extension: Extension) -> ShownExtension:
    """The extension without its password."""
    return ShownExtension(**{**msgspec.structs.asdict(extension), "password": None})


def extension_routes(extensions: Extensions) -> Router:
    """``/extensions``."""

    @get("/", summary="List extensions", dependencies=searched(extension_search))
    async def all_extensions(
        request: ApiRequest,
        wanted: NamedDependency[ExtensionSearch],
        limit: Limit = None,
        offset: Offset = None,
    ) -> Listed[ShownExtension]:
        """All extensions, oldest first."""
        return listed(
            (await extensions.all(request.user, page(limit, offset), wanted)).mapped(shown),
            "extension",
        )

    @get("/{uuid:str}", summary="Read an extension", responses=failures(404))
    async def get_extension(request: ApiRequest, uuid: parameters.Uuid) -> Envelope[ShownExtension]:
        """One extension."""
        return record("Extension found", shown(await extensions.get(request.user, uuid)))

    @post("/", summary="Create an extension", responses=failures(conflicts=["already_exists"]))
    async def create_extension(
        request: ApiRequest, data: JSONBody[NewExtension]
    ) -> Envelope[ShownExtension]:
        """Create an extension. Its number is unique."""
        return record("Extension created", shown(await extensions.create(request.user, data)))

    @put(
        "/{uuid:str}",
        summary="Update an extension",
        responses=failures(404, conflicts=["already_exists"]),
    )
    async def update_extension(
        request: ApiRequest, uuid: parameters.Uuid, data: JSONBody[ExtensionPatch]
    ) -> Envelope[ShownExtension]:
        """Change the fields that are sent; null clears a field. A null password leaves the
        stored password unchanged."""
        extension = await extensions.update(request.user, uuid, data)
        return record("Extension updated", shown(extension))

    @delete("/{uuid:str}", summary="Delete an extension", responses=failures(404))
    async def delete_extension(request: ApiRequest, uuid: parameters.Uuid) -> Done:
        """Delete an extension and its links to users."""
        await extensions.delete(request.user, uuid)
        return done("Extension deleted")

    return Router(
        "/extensions",
        route_handlers=[
            all_extensions,
            get_extension,
            create_extension,
            update_extension,
            delete_extension,
        ],
        guards=[level_0],
        tags=["Extensions"],
    )
