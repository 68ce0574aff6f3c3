"""Permissions and their assignment to users; level 0."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.access.model import (
    Assignment,
    NewAssignment,
    NewPermission,
    Permission,
    PermissionPatch,
)
from phoneprov_core.access.use_cases import Permissions, UserPermissions
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def permission_routes(requests: Requests, permissions: Permissions) -> Router:
    """``/permissions``."""

    @get(
        "/",
        opt=described(
            "List permissions",
            "2 permission(s) found",
            reply=list[Permission],
            listed=True,
            errors=(403,),
        ),
    )
    async def all_permissions(request: AnyRequest) -> ASGIResponse:
        """Every permission, oldest first."""
        actor = await requests.caller(request)
        return await listed(await permissions.all(actor, page(request)), "permission")

    @get(
        "/{uuid:str}",
        opt=described("Read a permission", "Permission found", reply=Permission, errors=(403, 404)),
    )
    async def get_permission(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """One permission."""
        actor = await requests.caller(request)
        return done("Permission found", await permissions.get(actor, uuid))

    @post(
        "/",
        opt=described(
            "Create a permission",
            "Permission created",
            body=NewPermission,
            reply=Permission,
            status=201,
            errors=(403,),
            conflicts=("already_exists",),
        ),
    )
    async def create_permission(request: AnyRequest) -> ASGIResponse:
        """Create a permission; its level and name together are unique."""
        actor = await requests.caller(request)
        permission = await permissions.create(actor, await requests.sent(request, NewPermission))
        return created("Permission created", permission)

    @put(
        "/{uuid:str}",
        opt=described(
            "Change a permission",
            "Permission updated",
            body=PermissionPatch,
            reply=Permission,
            identifiers=("uuid", "level"),
            errors=(403, 404),
            conflicts=("already_exists",),
        ),
    )
    async def update_permission(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Change the fields that are sent; the level stays."""
        actor = await requests.caller(request)
        patch = await requests.sent(request, PermissionPatch)
        return done("Permission updated", await permissions.update(actor, uuid, patch))

    @delete(
        "/{uuid:str}",
        status_code=200,
        opt=described(
            "Delete a permission", "Permission deleted", errors=(403, 404), conflicts=("in_use",)
        ),
    )
    async def delete_permission(request: AnyRequest, uuid: FromPath[str]) -> ASGIResponse:
        """Delete a permission that nobody is assigned."""
        await permissions.delete(await requests.caller(request), uuid)
        return done("Permission deleted")

    return Router(
        "/permissions",
        route_handlers=[
            all_permissions,
            get_permission,
            create_permission,
            update_permission,
            delete_permission,
        ],
        tags=["Permissions"],
    )


def user_permission_routes(requests: Requests, user_permissions: UserPermissions) -> Router:
    """``/user-perms``."""

    @get(
        "/{user_uuid:str}",
        opt=described(
            "Read a user's permission", "Permission found", reply=Assignment, errors=(403, 404)
        ),
    )
    async def get_assignment(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """The one permission of a user."""
        actor = await requests.caller(request)
        return done("Permission found", await user_permissions.get(actor, user_uuid))

    @post(
        "/",
        status_code=200,
        opt=described(
            "Assign a permission",
            "Permission assigned",
            body=NewAssignment,
            reply=Assignment,
            errors=(403, 404),
            conflicts=("last_superadmin",),
        ),
    )
    async def assign_permission(request: AnyRequest) -> ASGIResponse:
        """Put a permission in the place of the user's current one."""
        actor = await requests.caller(request)
        new = await requests.sent(request, NewAssignment)
        return done("Permission assigned", await user_permissions.assign(actor, new))

    @delete(
        "/{user_uuid:str}",
        status_code=200,
        opt=described(
            "Remove a user's permission",
            "Permission removed",
            errors=(403, 404),
            conflicts=("last_superadmin",),
        ),
    )
    async def remove_assignment(request: AnyRequest, user_uuid: FromPath[str]) -> ASGIResponse:
        """Take a user's permission away."""
        await user_permissions.remove(await requests.caller(request), user_uuid)
        return done("Permission removed")

    return Router(
        "/user-perms",
        route_handlers=[get_assignment, assign_permission, remove_assignment],
        tags=["Permissions"],
    )
