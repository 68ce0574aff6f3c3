"""Account of the caller, its phones, directories and API tokens."""

from phoneprov_core.features.identities.model import Identity
from phoneprov_core.features.identities.use_cases import Identities
from phoneprov_core.inventory.phones.use_cases import EnrichedPhone
from phoneprov_core.kernel.errors import AlreadyExists
from phoneprov_core.people.auth.accounts import ChangePassword
from phoneprov_core.people.auth.model import OpenSession, PasswordChange
from phoneprov_core.people.auth.sessions import Sessions
from phoneprov_core.people.directory.model import CompanyContact, PersonalContact
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.people.me import (
    ApiToken,
    ApiTokens,
    CreatedToken,
    CreateToken,
    Me,
    MeProfile,
    TooManyTokens,
)
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, Uuid


def me_routes(
    me: Me[EnrichedPhone],
    personal: PersonalDirectory,
    company: CompanyDirectory,
    tokens: ApiTokens,
    sessions: Sessions,
    identities: Identities,
    change_password: ChangePassword,
) -> Routes:
    """``/me``."""
    routes = Routes("Me")

    @routes.get("/me")
    async def get_me(request: ApiRequest) -> Envelope[MeProfile]:
        """Read the caller's account. With its permission and PIN."""
        return record("User found", await me.profile(request.user))

    @routes.get("/me/phones")
    async def my_phones(request: ApiRequest) -> Listed[EnrichedPhone]:
        """List phones for the caller. All phones of the inventory with their vendor flags and key
        expansion modules, oldest first."""
        return listed(await me.phones(request.user, request.page), "phone")

    @routes.get("/me/vendor-services/personal")
    async def my_personal_contacts(request: ApiRequest) -> Listed[PersonalContact]:
        """List the caller's personal contacts. Oldest first."""
        found = await personal.of_user(request.user, request.user.user_uuid, request.page)
        return listed(found, "personal contact")

    @routes.get("/me/vendor-services/company")
    async def my_company_contacts(request: ApiRequest) -> Listed[CompanyContact]:
        """List company contacts for the caller. All of them, oldest first."""
        return listed(await company.all(request.user, request.page), "company contact")

    @routes.put("/me/password", opt={RULES: lambda: change_password.policy.rules})
    async def change_own_password(request: ApiRequest, data: Body[PasswordChange]) -> Done:
        """Change the caller's password. Ends the other sessions of the account. Needs a login."""
        await change_password(request.user, data)
        return done("Password updated")

    @routes.get("/me/sessions")
    async def my_sessions(request: ApiRequest) -> Listed[OpenSession]:
        """List the caller's sessions. Open sessions, oldest first."""
        return listed(await sessions.all(request.user, request.page), "session")

    @routes.delete("/me/sessions/{uuid:str}")
    async def end_session(request: ApiRequest, uuid: Uuid) -> Done:
        """End a session of the caller. Its tokens are no longer valid. Needs a login."""
        await sessions.end(request.user, uuid)
        return done("Session ended")

    @routes.get("/me/identities")
    async def my_identities(request: ApiRequest) -> Listed[Identity]:
        """List the caller's identities at sign-in providers. Oldest first."""
        return listed(await identities.all(request.user, request.page), "identity")

    @routes.delete("/me/identities/{uuid:str}")
    async def remove_identity(request: ApiRequest, uuid: Uuid) -> Done:
        """Disconnect the caller from a sign-in provider. Ends the other sessions of the account.
        Needs a login."""
        await identities.remove(request.user, uuid)
        return done("Identity removed")

    @routes.get("/me/tokens")
    async def my_tokens(request: ApiRequest) -> Listed[ApiToken]:
        """List the caller's API tokens. Oldest first."""
        return listed(await tokens.all(request.user, request.page), "API token")

    @routes.post("/me/tokens", raises=[AlreadyExists, TooManyTokens])
    async def create_token(request: ApiRequest, data: Body[CreateToken]) -> Envelope[CreatedToken]:
        """Create an API token. The response alone contains the token. Needs a login."""
        return record("API token created", await tokens.create(request.user, data))

    @routes.delete("/me/tokens/{uuid:str}")
    async def delete_token(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete an API token of the caller. It is no longer valid. Needs a login."""
        await tokens.delete(request.user, uuid)
        return done("API token deleted")

    return routes
