"""Permissions and assignments in memory."""

from __future__ import annotations

import msgspec

from phoneprov_adapters.memory.records import EVERY, Kind, OnRemove, Reference, Unique
from phoneprov_adapters.memory.tables import Tables
from phoneprov_adapters.memory.users import USERS
from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.actor import SUPERADMIN, LevelRule

PERMISSIONS: Kind[Permission] = Kind(
    "permission",
    unique=(Unique("name", "name", lambda permission: (permission.level, permission.name)),),
)
ASSIGNMENTS: Kind[Assignment] = Kind(
    "assignment",
    key="user_uuid",
    unique=(Unique("uuid", "uuid", lambda assignment: (assignment.uuid,)),),
    references=(
        Reference("user_uuid", USERS, OnRemove.GO_ALONG),
        Reference("perm_uuid", PERMISSIONS, OnRemove.STAND_AGAINST),
    ),
)


class MemoryAssignments(AssignmentStore):
    """Assignments; level and name come from the permission when they are read."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def of_user(self, user_uuid: str) -> Assignment | None:
        assignment = self._tables.of(ASSIGNMENTS).get(user_uuid)
        if assignment is None:
            return None
        permission = self._permission(assignment)
        return msgspec.structs.replace(
            assignment, level=permission.level, perm_name=permission.name
        )

    async def assign(self, assignment: Assignment) -> None:
        before = await self.of_user(assignment.user_uuid)
        self._tables.put(ASSIGNMENTS, assignment)
        self._tables.trail.changed(assignment.user_uuid, before, assignment)

    async def remove(self, user_uuid: str) -> bool:
        before = await self.of_user(user_uuid)
        if not self._tables.remove(ASSIGNMENTS, user_uuid):
            return False
        self._tables.trail.changed(user_uuid, before, None)
        return True

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        # Writing transactions run one after the other.
        users = self._tables.of(USERS)
        for assignment in self._tables.of(ASSIGNMENTS).group(EVERY):
            user = users.get(assignment.user_uuid)
            if user is None or user.uuid == besides or not user.is_active:
                continue
            if rule.holds(self._permission(assignment).level, SUPERADMIN):
                return True
        return False

    def _permission(self, assignment: Assignment) -> Permission:
        permission = self._tables.of(PERMISSIONS).get(assignment.perm_uuid)
        assert permission is not None  # A permission that is assigned cannot be removed.
        return permission
