"""Permissions and rights, and their assignment to users; level 0."""

from phoneprov_core.kernel.errors import AlreadyExists, InUse, NotFound
from phoneprov_core.people.access import (
    Assignment,
    CreateAssignment,
    CreatePermission,
    LastSuperadmin,
    Permission,
    PermissionPatch,
)
from phoneprov_core.people.permissions import (
    GrantRight,
    HoldsLevel0,
    Permissions,
    Right,
    Rights,
    UserPermissions,
)
from phoneprov_http.envelope import Done, Envelope, Listed, done, listed, record
from phoneprov_http.routes.handlers import ApiRequest, Body, Routes, UserUuid, Uuid, level_0


def permission_routes(
    permissions: Permissions, user_permissions: UserPermissions, rights: Rights
) -> Routes:
    """``/permissions``, ``/user-perms``, ``/rights`` and ``/users/{uuid}/rights``."""
    routes = Routes("Permissions", guards=[level_0])

    @routes.get("/permissions")
    async def all_permissions(request: ApiRequest) -> Listed[Permission]:
        """List permissions. All of them, oldest first."""
        return listed(await permissions.all(request.user, request.page), "permission")

    @routes.get("/permissions/{uuid:str}")
    async def get_permission(request: ApiRequest, uuid: Uuid) -> Envelope[Permission]:
        """Read a permission."""
        return record("Permission found", await permissions.get(request.user, uuid))

    @routes.post("/permissions", raises=[AlreadyExists])
    async def create_permission(
        request: ApiRequest, data: Body[CreatePermission]
    ) -> Envelope[Permission]:
        """Create a permission. Its level and name together are unique."""
        return record("Permission created", await permissions.create(request.user, data))

    @routes.put("/permissions/{uuid:str}", raises=[AlreadyExists])
    async def update_permission(
        request: ApiRequest, uuid: Uuid, data: Body[PermissionPatch]
    ) -> Envelope[Permission]:
        """Update a permission. Change the fields that are sent. The level cannot be changed."""
        return record("Permission updated", await permissions.update(request.user, uuid, data))

    @routes.delete("/permissions/{uuid:str}", raises=[InUse])
    async def delete_permission(request: ApiRequest, uuid: Uuid) -> Done:
        """Delete a permission. It must not be assigned to a user."""
        await permissions.delete(request.user, uuid)
        return done("Permission deleted")

    @routes.get("/user-perms/{user_uuid:str}")
    async def get_assignment(request: ApiRequest, user_uuid: UserUuid) -> Envelope[Assignment]:
        """Read a user's permission."""
        return record("Permission found", await user_permissions.get(request.user, user_uuid))

    @routes.post("/user-perms", status_code=200, raises=[NotFound, LastSuperadmin])
    async def assign_permission(
        request: ApiRequest, data: Body[CreateAssignment]
    ) -> Envelope[Assignment]:
        """Assign a permission. It replaces the current assignment."""
        return record("Permission assigned", await user_permissions.assign(request.user, data))

    @routes.delete("/user-perms/{user_uuid:str}", raises=[LastSuperadmin])
    async def remove_assignment(request: ApiRequest, user_uuid: UserUuid) -> Done:
        """Remove a user's permission."""
        await user_permissions.remove(request.user, user_uuid)
        return done("Permission removed")

    @routes.get("/rights")
    async def all_rights(request: ApiRequest) -> Listed[Right]:
        """List rights. All of them, oldest first."""
        return listed(await rights.all(request.user, request.page), "right")

    @routes.get("/users/{uuid:str}/rights")
    async def get_right(request: ApiRequest, uuid: UserUuid) -> Envelope[Right]:
        """Read a user's right."""
        return record("Right found", await rights.get(request.user, uuid))

    @routes.put("/users/{uuid:str}/rights", raises=[HoldsLevel0])
    async def grant_right(
        request: ApiRequest, uuid: UserUuid, data: Body[GrantRight]
    ) -> Envelope[Right]:
        """Give a user a right. Replaces the right that the user has. It applies to phones at or
        within one of the `locations`; an empty list means all phones."""
        return record("Right saved", await rights.grant(request.user, uuid, data))

    @routes.delete("/users/{uuid:str}/rights")
    async def remove_right(request: ApiRequest, uuid: UserUuid) -> Done:
        """Remove a user's right."""
        await rights.remove(request.user, uuid)
        return done("Right removed")

    return routes
