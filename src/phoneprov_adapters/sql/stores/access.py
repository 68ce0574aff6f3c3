"""Permissions and assignments in SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, delete, select

from phoneprov_adapters.sql.engines.connection import Connection, InsertFactory
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import assignments, permissions, users
from phoneprov_core.access.model import Assignment
from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.actor import LevelRule

_OF_USER = (
    select(
        assignments.c.uuid,
        assignments.c.user_uuid,
        assignments.c.perm_uuid,
        permissions.c.level,
        permissions.c.name,
        assignments.c.created_at,
    )
    .join(permissions, permissions.c.uuid == assignments.c.perm_uuid)
    .where(assignments.c.user_uuid == bindparam("user_uuid"))
)
_REMOVE = (
    delete(assignments)
    .where(assignments.c.user_uuid == bindparam("user_uuid"))
    .returning(assignments.c.uuid)
)
_ANOTHER_SUPERADMIN = (
    select(assignments.c.user_uuid)
    .join(permissions, permissions.c.uuid == assignments.c.perm_uuid)
    .join(users, users.c.uuid == assignments.c.user_uuid)
    .where(
        assignments.c.user_uuid != bindparam("besides"),
        users.c.is_active.is_(True),
        permissions.c.level <= bindparam("largest_level"),
    )
    .limit(1)
)
_ANY_LEVEL = 2**63 - 1


@cache
def _assign(insert: InsertFactory) -> Statement:
    statement = insert(assignments)
    return statement.on_conflict_do_update(
        index_elements=["user_uuid"],
        set_={
            "uuid": statement.excluded.uuid,
            "perm_uuid": statement.excluded.perm_uuid,
            "created_at": statement.excluded.created_at,
        },
    )


class SqlAssignments(AssignmentStore):
    """Assignments; level and name come from the permission when they are read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def of_user(self, user_uuid: str) -> Assignment | None:
        row = await self._connection.row(_OF_USER, user_uuid=user_uuid)
        return None if row is None else Assignment(*row)

    async def assign(self, assignment: Assignment) -> None:
        row = {
            "uuid": assignment.uuid,
            "user_uuid": assignment.user_uuid,
            "perm_uuid": assignment.perm_uuid,
            "created_at": assignment.created_at,
        }
        trail = self._connection.trail
        before = await self.of_user(assignment.user_uuid) if trail.active else None
        await self._connection.rows(_assign(self._connection.insert), **row)
        trail.changed(assignment.user_uuid, before, assignment)

    async def remove(self, user_uuid: str) -> bool:
        trail = self._connection.trail
        before = await self.of_user(user_uuid) if trail.active else None
        removed = bool(await self._connection.rows(_REMOVE, user_uuid=user_uuid))
        if removed:
            trail.changed(user_uuid, before, None)
        return removed

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        await self._connection.one_at_a_time()
        largest = rule.largest_that_holds_superadmin()
        row = await self._connection.row(
            _ANOTHER_SUPERADMIN,
            besides=besides,
            largest_level=_ANY_LEVEL if largest is None else largest,
        )
        return row is not None
