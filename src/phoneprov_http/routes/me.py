"""What the caller may read of themselves."""

from __future__ import annotations

from litestar import get
from litestar.response.base import ASGIResponse

from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.me.model import EnrichedPhone, MeProfile
from phoneprov_core.me.use_cases import Me
from phoneprov_http.describe import described
from phoneprov_http.replies import done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def me_routes(
    requests: Requests, me: Me, personal: PersonalDirectory, company: CompanyDirectory
) -> Router:
    """``/me``."""

    @get("/", opt=described("Read my account", "User found", reply=MeProfile))
    async def get_me(request: AnyRequest) -> ASGIResponse:
        """The caller's account with its permission and PIN."""
        return done("User found", await me.profile(await requests.caller(request)))

    @get(
        "/phones",
        opt=described(
            "List the phones I can take",
            "2 phone(s) found",
            reply=list[EnrichedPhone],
            listed=True,
        ),
    )
    async def my_phones(request: AnyRequest) -> ASGIResponse:
        """Every phone of the inventory with its vendor flag and its key expansion modules,
        oldest first."""
        actor = await requests.caller(request)
        return await listed(await me.phones(actor, page(request)), "phone")

    @get(
        "/vendor-services/personal",
        opt=described(
            "List my personal contacts",
            "2 personal contact(s) found",
            reply=list[PersonalContact],
            listed=True,
        ),
    )
    async def my_personal_contacts(request: AnyRequest) -> ASGIResponse:
        """The caller's own contacts, oldest first."""
        actor = await requests.caller(request)
        found = await personal.of_user(actor, actor.user_uuid, page(request))
        return await listed(found, "personal contact")

    @get(
        "/vendor-services/company",
        opt=described(
            "List company contacts for me",
            "2 company contact(s) found",
            reply=list[CompanyContact],
            listed=True,
        ),
    )
    async def my_company_contacts(request: AnyRequest) -> ASGIResponse:
        """Every contact of the company, oldest first."""
        actor = await requests.caller(request)
        return await listed(await company.all(actor, page(request)), "company contact")

    return Router(
        "/me",
        route_handlers=[get_me, my_phones, my_personal_contacts, my_company_contacts],
        tags=["Me"],
    )
