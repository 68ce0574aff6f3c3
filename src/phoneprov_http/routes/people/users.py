"""Accounts, and the PINs of users for vendor phones."""

from phoneprov_core.features.identities.model import Identity
from phoneprov_core.features.identities.use_cases import Identities
from phoneprov_core.inventory.notes import Note, Notes, WriteNote
from phoneprov_core.kernel.errors import AlreadyExists, Forbidden
from phoneprov_core.people.access import LastSuperadmin
from phoneprov_core.people.auth.model import OpenSession
from phoneprov_core.people.auth.sessions import Sessions
from phoneprov_core.people.me import ApiToken, ApiTokens
from phoneprov_core.people.users.model import CreateUser, User, UserPatch, UserSearch
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.people.vendor_users import CreatePin, PinState, VendorUser, VendorUsers
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import (
    ApiRequest,
    Body,
    Query,
    Routes,
    UserUuid,
    Uuid,
    level_0,
    people,
)


def user_routes(
    users: Users, sessions: Sessions, identities: Identities, tokens: ApiTokens, notes: Notes
) -> Routes:
    """``/users``. Accounts; level 0. Helpdesks read them."""
    routes = Routes("Users", writing=level_0)

    @routes.get("/users", guards=[people])
    async def all_users(request: ApiRequest, wanted: Query[UserSearch]) -> Listed[User]:
        """List users. All accounts, oldest first."""
        return listed(await users.all(request.user, request.page, wanted), "user")

    @routes.get("/users/{uuid:str}", guards=[people])
    async def get_user(request: ApiRequest, uuid: Uuid) -> Envelope[User]:
        """Read a user."""
        return record("User found", await users.get(request.user, uuid))

    @routes.post("/users", opt={RULES: lambda: users.policy.rules_of_new}, raises=[AlreadyExists])
    async def create_user(request: ApiRequest, data: Body[CreateUser]) -> Envelope[User]:
        """Create a user."""
        return record("User created", await users.create(request.user, data))

    @routes.put(
        "/users/{uuid:str}",
        opt={RULES: lambda: users.policy.rules},
        raises=[AlreadyExists, LastSuperadmin],
    )
    async def update_user(request: ApiRequest, uuid: Uuid, data: Body[UserPatch]) -> Envelope[User]:
        """Update a user. Change the fields that are sent; null clears a field. A new password ends
        the other sessions of the account and all its API tokens, `is_active: false` ends both."""
        return record("User updated", await users.update(request.user, uuid, data))

    @routes.delete("/users/{uuid:str}", raises=[LastSuperadmin])
    async def delete_user(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a user. Deletes all records of the account too."""
        await users.delete(request.user, uuid)
        return done("User deleted")

    @routes.get("/users/{uuid:str}/note", guards=[people])
    async def get_note_on_user(request: ApiRequest, uuid: Uuid) -> Envelope[Note]:
        """Read the note on a user."""
        return record("Note found", await notes.of_user(request.user, uuid))

    @routes.put("/users/{uuid:str}/note")
    async def put_note_on_user(
        request: ApiRequest, uuid: Uuid, data: Body[WriteNote]
    ) -> Envelope[Note]:
        """Write the note on a user. Null removes it. Searches of users find it."""
        return record("Note saved", await notes.put_on_user(request.user, uuid, data))

    @routes.get("/users/{uuid:str}/sessions", guards=[level_0])
    async def sessions_of_user(request: ApiRequest, uuid: Uuid) -> Listed[OpenSession]:
        """List the sessions of a user. Open sessions, oldest first."""
        return listed(await sessions.all(request.user, request.page, uuid), "session")

    @routes.delete("/users/{uuid:str}/sessions/{session_uuid:str}")
    async def end_session_of_user(request: ApiRequest, uuid: Uuid, session_uuid: Uuid) -> Done:
        """End a session of a user. Its tokens are no longer valid. Needs a login."""
        await sessions.end(request.user, session_uuid, uuid)
        return done("Session ended")

    @routes.get("/users/{uuid:str}/identities", guards=[level_0])
    async def identities_of_user(request: ApiRequest, uuid: Uuid) -> Listed[Identity]:
        """List the identities of a user at sign-in providers. Oldest first."""
        found = await identities.all(request.user, request.page, uuid)
        return listed(found, "identity")

    @routes.delete("/users/{uuid:str}/identities/{identity_uuid:str}")
    async def remove_identity_of_user(request: ApiRequest, uuid: Uuid, identity_uuid: Uuid) -> Done:
        """Disconnect a user from a sign-in provider. Ends the sessions of the account. Needs a
        login."""
        await identities.remove(request.user, identity_uuid, uuid)
        return done("Identity removed")

    @routes.get("/users/{uuid:str}/tokens", guards=[level_0])
    async def tokens_of_user(request: ApiRequest, uuid: Uuid) -> Listed[ApiToken]:
        """List the API tokens of a user. Oldest first."""
        return listed(await tokens.all(request.user, request.page, uuid), "API token")

    @routes.delete("/users/{uuid:str}/tokens/{token_uuid:str}")
    async def end_token_of_user(request: ApiRequest, uuid: Uuid, token_uuid: Uuid) -> Done:
        """Delete an API token of a user. It is no longer valid. Needs a login."""
        await tokens.delete(request.user, token_uuid, uuid)
        return done("API token deleted")

    return routes


def vendor_user_routes(vendor_users: VendorUsers) -> Routes:
    """``/vendor-users``. PINs for vendor phones; the user or level 0. Helpdesks set them."""
    routes = Routes("Vendor users")

    @routes.get("/vendor-users/by-user/{user_uuid:str}", raises=[Forbidden])
    async def get_vendor_user(request: ApiRequest, user_uuid: UserUuid) -> Envelope[VendorUser]:
        """Read a user's PIN. The PIN of one user, as a hash."""
        return record("Vendor user found", await vendor_users.get(request.user, user_uuid))

    @routes.put("/vendor-users/{user_uuid:str}", raises=[Forbidden])
    async def save_vendor_user(
        request: ApiRequest, user_uuid: UserUuid, data: Body[CreatePin]
    ) -> Envelope[VendorUser]:
        """Set a user's PIN. Create or replace the PIN of one user. Only its hash is stored."""
        return record("Vendor user saved", await vendor_users.save(request.user, user_uuid, data))

    @routes.get("/vendor-users/{user_uuid:str}/lock", raises=[Forbidden])
    async def get_pin_lock(request: ApiRequest, user_uuid: UserUuid) -> Envelope[PinState]:
        """Read the lock of a user's PIN. Whether the user has a PIN, and whether wrong ones locked
        it; never the PIN or its hash."""
        return record("PIN lock found", await vendor_users.state(request.user, user_uuid))

    @routes.delete("/vendor-users/{user_uuid:str}/lock", raises=[Forbidden])
    async def open_pin_lock(request: ApiRequest, user_uuid: UserUuid) -> Envelope[PinState]:
        """Open the lock of a user's PIN. Forgets the wrong PINs; the PIN stays."""
        return record("PIN lock opened", await vendor_users.unlock(request.user, user_uuid))

    @routes.delete("/vendor-users/{user_uuid:str}", raises=[Forbidden])
    async def delete_vendor_user(request: ApiRequest, user_uuid: UserUuid) -> Done:
        """Delete a user's PIN."""
        await vendor_users.delete(request.user, user_uuid)
        return done("Vendor user deleted")

    return routes
