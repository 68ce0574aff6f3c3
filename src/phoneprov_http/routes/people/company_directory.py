"""Company contacts. Every account reads them, level 0 writes them."""

from phoneprov_core.people.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    ContactSearch,
    CreateCompanyContact,
)
from phoneprov_core.people.directory.use_cases import CompanyDirectory
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Guard, Query, Routes, Uuid


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
