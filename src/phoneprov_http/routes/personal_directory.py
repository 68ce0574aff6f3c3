"""The directories of single users."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.directory.model import (
    NewPersonalContact,
    PersonalContact,
    PersonalContactPatch,
)
from phoneprov_core.directory.use_cases import PersonalDirectory
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def personal_directory_routes(requests: Requests, directory: PersonalDirectory) -> Router:
    """``/personal-directory``."""

    @get(
        "/{user_uuid:str}",
        opt=described(
            "List a user's personal contacts",
            "2 personal contact(s) found",
            reply=list[PersonalContact],
            listed=True,
            errors=(403, 404),
        ),
    )
    async def personal_contacts_of_user(
        request: AnyRequest, user_uuid: FromPath[str]
    ) -> ASGIResponse:
        """The contacts of one user, oldest first."""
        actor = await requests.caller(request)
        found = await directory.of_user(actor, user_uuid, page(request))
        return await listed(found, "personal contact")

    @post(
        "/{user_uuid:str}",
        opt=described(
            "Create a personal contact",
            "Personal contact created",
            body=NewPersonalContact,
            reply=PersonalContact,
            identifiers=("user_uuid",),
            status=201,
            errors=(403, 404),
        ),
    )
    async def create_personal_contact(
        request: AnyRequest, user_uuid: FromPath[str]
    ) -> ASGIResponse:
        """Record a contact for one user; only its name is needed."""
        actor = await requests.caller(request)
        new = await requests.sent(request, NewPersonalContact)
        return created("Personal contact created", await directory.create(actor, user_uuid, new))

    @put(
        "/contact/{uuid:str}",
        opt=described(
            "Change a personal contact",
            "Personal contact updated",
            body=PersonalContactPatch,
            reply=PersonalContact,
            identifiers=("uuid", "user_uuid"),
            errors=(404,),
        ),
    )
    async def update_personal_contact(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; null clears one."""
        actor = await requests.caller(request)
        patch = await requests.sent(request, PersonalContactPatch)
        return done("Personal contact updated", await directory.update(actor, uuid, patch))

    @delete(
        "/contact/{uuid:str}",
        status_code=200,
        opt=described("Delete a personal contact", "Personal contact deleted", errors=(404,)),
    )
    async def delete_personal_contact(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete a contact."""
        await directory.delete(await requests.caller(request), uuid)
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
