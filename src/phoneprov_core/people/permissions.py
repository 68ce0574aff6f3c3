"""Permissions and their assignment to users; every use case requires level 0."""

from dataclasses import dataclass

from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.commands import applied, record_of, require_same
from phoneprov_core.kernel.errors import NotFound, require
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, NewId, known_id, timestamp
from phoneprov_core.people.access import (
    AccessTransaction,
    Assignment,
    CreateAssignment,
    CreatePermission,
    Permission,
    PermissionPatch,
    require_another_superadmin,
    require_superadmin,
)


@dataclass(frozen=True)
class Permissions:
    """Create, read, change and delete permissions."""

    database: ReadAndWrite[AccessTransaction]
    clock: Clock
    new_id: NewId

    async def all(self, actor: Actor, page: Page = None) -> Listing[Permission]:
        """Every permission, oldest first."""
        require_superadmin(actor)
        return await listing(self.database.read, lambda tx: tx.permissions, page)

    async def get(self, actor: Actor, uuid: str) -> Permission:
        """Raises ``NotFound``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return require(await tx.permissions.find(known_id(uuid)), "permission")

    async def create(self, actor: Actor, new: CreatePermission) -> Permission:
        """Raises ``Conflict`` if a permission with this level and name exists."""
        require_superadmin(actor)
        permission = record_of(
            Permission, new, uuid=self.new_id(), created_at=timestamp(self.clock())
        )
        async with self.database.write(by=actor) as tx:
            await tx.permissions.add(permission)
        return permission

    async def update(self, actor: Actor, uuid: str, patch: PermissionPatch) -> Permission:
        """Raises ``NotFound``; ``Conflict`` if another permission of this level has the name."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            permission = require(await tx.permissions.find(known_id(uuid)), "permission")
            require_same("level", patch.level, permission.level)
            permission = applied(permission, patch)
            await tx.permissions.put(permission)
        return permission

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Raises ``NotFound``; ``Conflict`` if the permission is assigned to a user."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            require(await tx.permissions.remove(known_id(uuid)), "permission")


@dataclass(frozen=True)
class UserPermissions:
    """The one permission of each user."""

    database: ReadAndWrite[AccessTransaction]
    clock: Clock
    new_id: NewId

    async def get(self, actor: Actor, user_uuid: str) -> Assignment:
        """Raises ``NotFound`` if the user has no assignment."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return await _assignment(tx, user_uuid)

    async def assign(self, actor: Actor, new: CreateAssignment) -> Assignment:
        """Replace the user's assignment. Raises ``NotFound`` if the user or the permission does not
        exist; ``Conflict`` if the last account with level 0 would lose it."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            require(await tx.users.find(new.user_uuid), "user")
            permission = require(await tx.permissions.find(new.perm_uuid), "permission")
            if not actor.level_rule.holds(permission.level, SUPERADMIN):
                await require_another_superadmin(tx.assignments, actor, new.user_uuid)
            assignment = Assignment(
                uuid=self.new_id(),
                user_uuid=new.user_uuid,
                perm_uuid=permission.uuid,
                level=permission.level,
                perm_name=permission.name,
                created_at=timestamp(self.clock()),
            )
            await tx.assignments.assign(assignment)
        return assignment

    async def remove(self, actor: Actor, user_uuid: str) -> None:
        """Raises ``NotFound``; ``Conflict`` if this is the last account with level 0."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            # Locked, so that no other transaction assigns level 0 between the check and the
            # removal.
            await tx.users.find(known_id(user_uuid))
            assignment = await _assignment(tx, user_uuid)
            await require_another_superadmin(tx.assignments, actor, assignment.user_uuid)
            await tx.assignments.remove(assignment.user_uuid)


async def _assignment(tx: AccessTransaction, user_uuid: str) -> Assignment:
    assignment = await tx.assignments.of_user(known_id(user_uuid))
    if assignment is None:
        raise NotFound("This user has no permission assigned.")
    return assignment
