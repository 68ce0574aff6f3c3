"""Permissions and their assignment to users; level 0."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody

from phoneprov_core.access.model import (
    Assignment,
    NewAssignment,
    NewPermission,
    Permission,
    PermissionPatch,
)
from phoneprov_core.access.use_cases import Permissions, UserPermissions
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.failures import failures
from phoneprov_http.guards import level_0
from phoneprov_http.routes.handlers import delete, get, post, put
from phoneprov_http.routes.parameters import ApiRequest, Limit, Offset, UserUuid, Uuid, page


def permission_routes(permissions: Permissions) -> Router:
    """``/permissions``."""

    @get("/", summary="List permissions")
    async def all_permissions(
        request: ApiRequest, limit: Limit = None, offset: Offset = None
    ) -> Listed[Permission]:
        """All permissions, oldest first."""
        return listed(await permissions.all(request.user, page(limit, offset)), "permission")

    @get("/{uuid:str}", summary="Read a permission", responses=failures(404))
    async def get_permission(request: ApiRequest, uuid: Uuid) -> Envelope[Permission]:
        """One permission."""
        return record("Permission found", await permissions.get(request.user, uuid))

    @post("/", summary="Create a permission", responses=failures(conflicts=["already_exists"]))
    async def create_permission(
        request: ApiRequest, data: JSONBody[NewPermission]
    ) -> Envelope[Permission]:
        """Create a permission. Its level and name together are unique."""
        return record("Permission created", await permissions.create(request.user, data))

    @put(
        "/{uuid:str}",
        summary="Update a permission",
        responses=failures(404, conflicts=["already_exists"]),
    )
    async def update_permission(
        request: ApiRequest, uuid: Uuid, data: JSONBody[PermissionPatch]
    ) -> Envelope[Permission]:
        """Change the fields that are sent. The level cannot be changed."""
        return record("Permission updated", await permissions.update(request.user, uuid, data))

    @delete(
        "/{uuid:str}",
        summary="Delete a permission",
        responses=failures(404, conflicts=["in_use"]),
    )
    async def delete_permission(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a permission that is not assigned to a user."""
        await permissions.delete(request.user, uuid)
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
        guards=[level_0],
        tags=["Permissions"],
    )


def user_permission_routes(user_permissions: UserPermissions) -> Router:
    """``/user-perms``."""

    @get("/{user_uuid:str}", summary="Read a user's permission", responses=failures(404))
    async def get_assignment(request: ApiRequest, user_uuid: UserUuid) -> Envelope[Assignment]:
        """The permission that is assigned to a user."""
        return record("Permission found", await user_permissions.get(request.user, user_uuid))

    @post(
        "/",
        status_code=200,
        summary="Assign a permission",
        responses=failures(404, conflicts=["last_superadmin"]),
    )
    async def assign_permission(
        request: ApiRequest, data: JSONBody[NewAssignment]
    ) -> Envelope[Assignment]:
        """Assign a permission to a user. It replaces the current assignment."""
        return record("Permission assigned", await user_permissions.assign(request.user, data))

    @delete(
        "/{user_uuid:str}",
        summary="Remove a user's permission",
        responses=failures(404, conflicts=["last_superadmin"]),
    )
    async def remove_assignment(request: ApiRequest, user_uuid: UserUuid) -> Done:
        """Remove the permission of a user."""
        await user_permissions.remove(request.user, user_uuid)
        return done("Permission removed")

    return Router(
        "/user-perms",
        route_handlers=[get_assignment, assign_permission, remove_assignment],
        guards=[level_0],
        tags=["Permissions"],
    )
