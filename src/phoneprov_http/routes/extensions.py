"""Extensions; level 0."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse
from msgspec import Struct

from phoneprov_core.extensions.model import (
    Extension,
    ExtensionPatch,
    ExtensionType,
    NewExtension,
)
from phoneprov_core.extensions.use_cases import Extensions
from phoneprov_core.kernel.fields import ExtensionNumber, Uuid, schema
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.times import Timestamp
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


class ShownExtension(Struct, frozen=True):
    """An extension as it is answered: without its password."""

    uuid: Uuid
    type: ExtensionType
    extension: ExtensionNumber
    name: str
    password: Annotated[None, schema(description="Never answered")]
    description: str | None
    voicemail: bool
    voicemail_passcode: str | None
    is_active: bool
    created_at: Timestamp
    created_by: Uuid | None
    updated_at: Timestamp
    updated_by: Uuid | None
    created_ip: str
    updated_ip: str

    def __repr__(self) -> str:
        return redacted(self, "password", "voicemail_passcode")


def shown(extension: Extension) -> ShownExtension:
    """What is answered of an extension."""
    return ShownExtension(**{**msgspec.structs.asdict(extension), "password": None})


def extension_routes(requests: Requests, extensions: Extensions) -> Router:
    """``/extensions``."""

    @get(
        "/",
        opt=described(
            "List extensions",
            "2 extension(s) found",
            reply=list[ShownExtension],
            listed=True,
            errors=(403,),
        ),
    )
    async def all_extensions(request: AnyRequest) -> ASGIResponse:
        """Every extension, oldest first."""
        actor = await requests.caller(request)
        found = await extensions.all(actor, page(request))
        return await listed(found, "extension", view=shown)

    @get(
        "/{uuid:str}",
        opt=described(
            "Read an extension", "Extension found", reply=ShownExtension, errors=(403, 404)
        ),
    )
    async def get_extension(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One extension."""
        actor = await requests.caller(request)
        return done("Extension found", shown(await extensions.get(actor, uuid)))

    @post(
        "/",
        opt=described(
            "Create an extension",
            "Extension created",
            body=NewExtension,
            reply=ShownExtension,
            status=201,
            errors=(403,),
            conflicts=("already_exists",),
        ),
    )
    async def create_extension(request: AnyRequest) -> ASGIResponse:
        """Record an extension; its number is unique."""
        actor = await requests.caller(request)
        extension = await extensions.create(actor, await requests.sent(request, NewExtension))
        return created("Extension created", shown(extension))

    @put(
        "/{uuid:str}",
        opt=described(
            "Change an extension",
            "Extension updated",
            body=ExtensionPatch,
            reply=ShownExtension,
            identifiers=("uuid",),
            errors=(403, 404),
            conflicts=("already_exists",),
        ),
    )
    async def update_extension(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; a null password leaves the stored one alone."""
        actor = await requests.caller(request)
        patch = await requests.sent(request, ExtensionPatch)
        return done("Extension updated", shown(await extensions.update(actor, uuid, patch)))

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Delete an extension", "Extension deleted", errors=(403, 404)),
    )
    async def delete_extension(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete an extension and its links to users."""
        await extensions.delete(await requests.caller(request), uuid)
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
        tags=["Extensions"],
    )
