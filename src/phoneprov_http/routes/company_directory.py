"""The directory of the company."""

from __future__ import annotations

from litestar import Router
from litestar.di import NamedDependency
from litestar.params import JSONBody
from litestar.types import Guard

from phoneprov_core.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    NewCompanyContact,
)
from phoneprov_core.directory.search import ContactSearch
from phoneprov_core.directory.use_cases import CompanyDirectory
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, Uuid, page
from phoneprov_http.routes.searches import contact_search, searched


def company_directory_routes(directory: CompanyDirectory, shared_write: Guard) -> Router:
    """``/company-directory``."""

    @get("/", summary="List company contacts", dependencies=searched(contact_search))
    async def all_company_contacts(
        request: ApiRequest,
        wanted: NamedDependency[ContactSearch],
        limit: Limit = None,
        offset: Offset = None,
    ) -> Listed[CompanyContact]:
        """All contacts of the company, oldest first."""
        return listed(
            await directory.all(request.user, page(limit, offset), wanted), "company contact"
        )

    @get("/{uuid:str}", summary="Read a company contact", responses=failures(404))
    async def get_company_contact(request: ApiRequest, uuid: Uuid) -> Envelope[CompanyContact]:
        """One contact."""
        return record("Company contact found", await directory.get(request.user, uuid))

    @post("/", summary="Create a company contact", guards=[shared_write])
    async def create_company_contact(
        request: ApiRequest, data: JSONBody[NewCompanyContact]
    ) -> Envelope[CompanyContact]:
        """Add a contact. Only the name is required."""
        return record("Company contact created", await directory.create(request.user, data))

    @put(
        "/{uuid:str}",
        summary="Update a company contact",
        guards=[shared_write],
        responses=failures(404),
    )
    async def update_company_contact(
        request: ApiRequest, uuid: Uuid, data: JSONBody[CompanyContactPatch]
    ) -> Envelope[CompanyContact]:
        """Change the fields that are sent; null clears a field."""
        return record("Company contact updated", await directory.update(request.user, uuid, data))

    @delete(
        "/{uuid:str}",
        summary="Delete a company contact",
        guards=[shared_write],
        responses=failures(404),
    )
    async def delete_company_contact(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a contact."""
        await directory.delete(request.user, uuid)
        return done("Company contact deleted")

    return Router(
        "/company-directory",
        route_handlers=[
            all_company_contacts,
            get_company_contact,
            create_company_contact,
            update_company_contact,
            delete_company_contact,
        ],
        tags=["Company directory"],
    )
