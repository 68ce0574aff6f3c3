"""The caller's own records."""

from __future__ import annotations

from litestar import Router

from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.me.model import EnrichedPhone, MeProfile
from phoneprov_core.me.use_cases import Me
from phoneprov_http.envelope import Envelope, Listed, listed, record
from phoneprov_http.routes.handlers import get
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, page


def me_routes(me: Me, personal: PersonalDirectory, company: CompanyDirectory) -> Router:
    """``/me``."""

    @get("/", summary="Read the caller's account")
    async def get_me(request: ApiRequest) -> Envelope[MeProfile]:
        """The caller's account with its permission and PIN."""
        return record("User found", await me.profile(request.user))

    @get("/phones", summary="List phones for the caller")
    async def my_phones(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[EnrichedPhone]:
        """All phones of the inventory with their vendor flags and key expansion modules, oldest
        first."""
        return listed(await me.phones(request.user, page(limit, offset)), "phone")

    @get("/vendor-services/personal", summary="List the caller's personal contacts")
    async def my_personal_contacts(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[PersonalContact]:
        """The caller's own contacts, oldest first."""
        actor = request.user
        return listed(
            await personal.of_user(actor, actor.user_uuid, page(limit, offset)), "personal contact"
        )

    @get("/vendor-services/company", summary="List company contacts for the caller")
    async def my_company_contacts(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[CompanyContact]:
        """All contacts of the company, oldest first."""
        return listed(await company.all(request.user, page(limit, offset)), "company contact")

    return Router(
        "/me",
        route_handlers=[get_me, my_phones, my_personal_contacts, my_company_contacts],
        tags=["Me"],
    )
