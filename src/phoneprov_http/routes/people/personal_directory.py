"""Contacts of a user; the user or level 0."""

from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.people.directory.model import (
    CreatePersonalContact,
    PersonalContact,
    PersonalContactPatch,
    TooManyContacts,
)
from phoneprov_core.people.directory.use_cases import PersonalDirectory
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, UserUuid, Uuid


def personal_directory_routes(directory: PersonalDirectory) -> Routes:
    """``/personal-directory``."""
    routes = Routes("Personal directory")

    @routes.get("/personal-directory/{user_uuid:str}", raises=[Forbidden])
    async def personal_contacts_of_user(
        request: ApiRequest, user_uuid: UserUuid
    ) -> Listed[PersonalContact]:
        """List a user's personal contacts. Oldest first."""
        found = await directory.of_user(request.user, user_uuid, request.page)
        return listed(found, "personal contact")

    @routes.post("/personal-directory/{user_uuid:str}", raises=[Forbidden, TooManyContacts])
    async def create_personal_contact(
        request: ApiRequest, user_uuid: UserUuid, data: Body[CreatePersonalContact]
    ) -> Envelope[PersonalContact]:
        """Create a personal contact. Only the name is required."""
        contact = await directory.create(request.user, user_uuid, data)
        return record("Personal contact created", contact)

    @routes.put("/personal-directory/contact/{uuid:str}")
    async def update_personal_contact(
        request: ApiRequest, uuid: Uuid, data: Body[PersonalContactPatch]
    ) -> Envelope[PersonalContact]:
        """Update a personal contact. Change the fields that are sent; null clears a field."""
        return record("Personal contact updated", await directory.update(request.user, uuid, data))

    @routes.delete("/personal-directory/contact/{uuid:str}")
    async def delete_personal_contact(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a personal contact."""
        await directory.delete(request.user, uuid)
        return done("Personal contact deleted")

    return routes
