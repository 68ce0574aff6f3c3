"""User accounts; level 0."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.users.model import NewUser, User, UserPatch
from phoneprov_core.users.use_cases import Users
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def user_routes(requests: Requests, users: Users) -> Router:
    """``/users``."""

    @get(
        "/",
        opt=described(
            "List users", "2 user(s) found", reply=list[User], listed=True, errors=(403,)
        ),
    )
    async def all_users(request: AnyRequest) -> ASGIResponse:
        """Every account, oldest first."""
        actor = await requests.caller(request)
        return await listed(await users.all(actor, page(request)), "user")

    @get("/{uuid:str}", opt=described("Read a user", "User found", reply=User, errors=(403, 404)))
    async def get_user(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One account."""
        actor = await requests.caller(request)
        return done("User found", await users.get(actor, uuid))

    @post(
        "/",
        opt=described(
            "Create a user",
            "User created",
            body=NewUser,
            reply=User,
            status=201,
            errors=(403,),
            conflicts=("already_exists",),
        ),
    )
    async def create_user(request: AnyRequest) -> ASGIResponse:
        """Create an account."""
        actor = await requests.caller(request)
        return created(
            "User created", await users.create(actor, await requests.sent(request, NewUser))
        )

    @put(
        "/{uuid:str}",
        opt=described(
            "Change a user",
            "User updated",
            body=UserPatch,
            reply=User,
            identifiers=("uuid",),
            errors=(403, 404),
            conflicts=("already_exists", "last_superadmin"),
        ),
    )
    async def update_user(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent."""
        actor = await requests.caller(request)
        user = await users.update(actor, uuid, await requests.sent(request, UserPatch))
        return done("User updated", user)

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described(
            "Delete a user", "User deleted", errors=(403, 404), conflicts=("last_superadmin",)
        ),
    )
    async def delete_user(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete an account and everything that is its own."""
        await users.delete(await requests.caller(request), uuid)
        return done("User deleted")

    return Router(
        "/users",
        route_handlers=[all_users, get_user, create_user, update_user, delete_user],
        tags=["Users"],
    )
