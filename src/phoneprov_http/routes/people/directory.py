"""The directories of the company and of each user: the routes."""

from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.people.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    ContactSearch,
    CreateCompanyContact,
    CreatePersonalContact,
    PersonalContact,
    PersonalContactPatch,
    TooManyContacts,
)
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Guard, Query, Routes, UserUuid, Uuid


def company_directory_routes(directory: CompanyDirectory, shared_write: Guard) -> Routes:
    """``/company-directory``."""
    routes = Routes("Company directory", writing=shared_write)

    @routes.get("/company-directory")
    async def all_company_contacts(
        request: ApiRequest, wanted: Query[ContactSearch]
    ) -> Listed[CompanyContact]:
        """List company contacts. All of them, oldest first."""
        return listed(await directory.all(request.user, request.page, wanted), "company contact")

    @routes.get("/company-directory/{uuid:str}")
    async def get_company_contact(request: ApiRequest, uuid: Uuid) -> Envelope[CompanyContact]:
        """Read a company contact."""
        return record("Company contact found", await directory.get(request.user, uuid))

    @routes.post("/company-directory")
    async def create_company_contact(
        request: ApiRequest, data: Body[CreateCompanyContact]
    ) -> Envelope[CompanyContact]:
        """Create a company contact. Only the name is required."""
        return record("Company contact created", await directory.create(request.user, data))

    @routes.put("/company-directory/{uuid:str}")
    async def update_company_contact(
        request: ApiRequest, uuid: Uuid, data: Body[CompanyContactPatch]
    ) -> Envelope[CompanyContact]:
        """Update a company contact. Change the fields that are sent; null clears a field."""
        return record("Company contact updated", await directory.update(request.user, uuid, data))

    @routes.delete("/company-directory/{uuid:str}")
    async def delete_company_contact(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a company contact."""
        await directory.delete(request.user, uuid)
        return done("Company contact deleted")

    return routes


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
