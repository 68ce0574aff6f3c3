"""The directory that the whole company shares."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    NewCompanyContact,
)
from phoneprov_core.directory.use_cases import CompanyDirectory
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def company_directory_routes(requests: Requests, directory: CompanyDirectory) -> Router:
    """``/company-directory``."""

    @get(
        "/",
        opt=described(
            "List company contacts",
            "2 company contact(s) found",
            reply=list[CompanyContact],
            listed=True,
        ),
    )
    async def all_company_contacts(request: AnyRequest) -> ASGIResponse:
        """Every contact of the company, oldest first."""
        actor = await requests.caller(request)
        return await listed(await directory.all(actor, page(request)), "company contact")

    @get(
        "/{uuid:str}",
        opt=described(
            "Read a company contact",
            "Company contact found",
            reply=CompanyContact,
            errors=(404,),
        ),
    )
    async def get_company_contact(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One contact."""
        actor = await requests.caller(request)
        return done("Company contact found", await directory.get(actor, uuid))

    @post(
        "/",
        opt=described(
            "Create a company contact",
            "Company contact created",
            body=NewCompanyContact,
            reply=CompanyContact,
            status=201,
            errors=(403,),
        ),
    )
    async def create_company_contact(request: AnyRequest) -> ASGIResponse:
        """Record a contact; only its name is needed."""
        actor = await requests.caller(request)
        new = await requests.sent(request, NewCompanyContact)
        return created("Company contact created", await directory.create(actor, new))

    @put(
        "/{uuid:str}",
        opt=described(
            "Change a company contact",
            "Company contact updated",
            body=CompanyContactPatch,
            reply=CompanyContact,
            identifiers=("uuid",),
            errors=(403, 404),
        ),
    )
    async def update_company_contact(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; null clears one."""
        actor = await requests.caller(request)
        patch = await requests.sent(request, CompanyContactPatch)
        return done("Company contact updated", await directory.update(actor, uuid, patch))

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described("Delete a company contact", "Company contact deleted", errors=(403, 404)),
    )
    async def delete_company_contact(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete a contact."""
        await directory.delete(await requests.caller(request), uuid)
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
