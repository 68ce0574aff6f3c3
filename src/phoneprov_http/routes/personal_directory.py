"""The directories of single users."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody

from phoneprov_core.directory.model import (
    NewPersonalContact,
    PersonalContact,
    PersonalContactPatch,
)
from phoneprov_core.directory.use_cases import PersonalDirectory
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, UserUuid, Uuid, page


def personal_directory_routes(directory: PersonalDirectory) -> Router:
    """``/personal-directory``."""

    @get(
        "/{user_uuid:str}", summary="List a user's personal contacts", responses=failures(403, 404)
    )
    async def personal_contacts_of_user(
        request: ApiRequest, user_uuid: UserUuid, limit: Limit = None, offset: Offset = None
    ) -> Listed[PersonalContact]:
        """The contacts of one user, oldest first."""
        return listed(
            await directory.of_user(request.user, user_uuid, page(limit, offset)),
            "personal contact",
        )

    @post("/{user_uuid:str}", summary="Create a personal contact", responses=failures(403, 404))
    async def create_personal_contact(
        request: ApiRequest, user_uuid: UserUuid, data: JSONBody[NewPersonalContact]
    ) -> Envelope[PersonalContact]:
        """Add a contact of one user. Only the name is required."""
        contact = await directory.create(request.user, user_uuid, data)
        return record("Personal contact created", contact)

    @put("/contact/{uuid:str}", summary="Update a personal contact", responses=failures(404))
    async def update_personal_contact(
        request: ApiRequest, uuid: Uuid, data: JSONBody[PersonalContactPatch]
    ) -> Envelope[PersonalContact]:
        """Change the fields that are sent; null clears a field."""
        return record("Personal contact updated", await directory.update(request.user, uuid, data))

    @delete(
        "/contact/{uuid:str}",
        summary="Delete a personal contact",
        responses=failures(404),
    )
    async def delete_personal_contact(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a contact."""
        await directory.delete(request.user, uuid)
        return done("Personal contact deleted")

    return Router(
        "/personal-directory",
        route_handlers=[
            personal_contacts_of_user,
            create_personal_contact,
            update_personal_contact,
            delete_personal_contact,
        ],
        tags=["Personal directory"],
    )
