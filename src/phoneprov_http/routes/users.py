"""User accounts; level 0."""

from __future__ import annotations

from litestar import Router
from litestar.di import NamedDependency
from litestar.params import JSONBody

from phoneprov_core.users.model import NewUser, User, UserPatch
from phoneprov_core.users.search import UserSearch
from phoneprov_core.users.use_cases import Users
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, Uuid, page
from phoneprov_http.routes.searches import searched, user_search


def user_routes(users: Users) -> Router:
    """``/users``."""

    @get("/", summary="List users", dependencies=searched(user_search))
    async def all_users(
        request: ApiRequest,
        wanted: NamedDependency[UserSearch],
        limit: Limit = None,
        offset: Offset = None,
    ) -> Listed[User]:
        """All accounts, oldest first."""
        return listed(await users.all(request.user, page(limit, offset), wanted), "user")

    @get("/{uuid:str}", summary="Read a user", responses=failures(404))
    async def get_user(request: ApiRequest, uuid: Uuid) -> Envelope[User]:
        """One account."""
        return record("User found", await users.get(request.user, uuid))

    @post(
        "/",
        summary="Create a user",
        responses=failures(conflicts=["already_exists"]),
        opt={RULES: lambda: users.rules_of_new},
    )
    async def create_user(request: ApiRequest, data: JSONBody[NewUser]) -> Envelope[User]:
        """Create an account."""
        return record("User created", await users.create(request.user, data))

    @put(
        "/{uuid:str}",
        summary="Update a user",
        responses=failures(404, conflicts=["already_exists", "last_superadmin"]),
        opt={RULES: lambda: users.rules},
    )
    async def update_user(
        request: ApiRequest, uuid: Uuid, data: JSONBody[UserPatch]
    ) -> Envelope[User]:
        """Change the fields that are sent; null clears a field. A new password ends the other
        sessions of the account, `is_active: false` ends all of them."""
        return record("User updated", await users.update(request.user, uuid, data))

    @delete(
        "/{uuid:str}",
        summary="Delete a user",
        responses=failures(404, conflicts=["last_superadmin"]),
    )
    async def delete_user(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete an account and all its records."""
        await users.delete(request.user, uuid)
        return done("User deleted")

    return Router(
        "/users",
        route_handlers=[all_users, get_user, create_user, update_user, delete_user],
        guards=[level_0],
        tags=["Users"],
    )
