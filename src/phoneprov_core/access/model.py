"""Permissions and assignments, and where they are stored."""

from __future__ import annotations

from typing import Annotated, Protocol

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import (
    CreatedAt,
    Level,
    Line,
    Notes,
    RecordUuid,
    UserUuid,
    Uuid,
    schema,
)
from phoneprov_core.kernel.store import Store

PermissionLevel = Annotated[
    Level,
    schema(
        "Permission level. Level 0 is the superadmin level. A user at level N "
        "holds the levels 0 to N, unless `PHONEPROV_LEVEL_RULE` is `strict`"
    ),
]
PermissionName = Annotated[
    Line, schema("Name of the permission; unique together with its level", examples=["superadmin"])
]
PermissionUuid = Annotated[Uuid, schema("UUID of the permission")]


class Permission(Struct, frozen=True):
    """A named permission level. Level 0 is the superadmin level."""

    uuid: RecordUuid
    level: PermissionLevel
    name: PermissionName
    description: Notes | None
    created_at: CreatedAt


class NewPermission(Command, frozen=True, kw_only=True):
    """A permission to be created; level and name together are unique."""

    level: PermissionLevel
    name: PermissionName
    description: Notes | None = None


class PermissionPatch(Command, frozen=True, kw_only=True):
    """Changes to a permission. Its level never changes: a level in the patch must equal the stored
    one."""

    name: PermissionName | UnsetType = UNSET
    level: Annotated[Level, schema("Must agree with the stored level")] | UnsetType = UNSET
    description: Notes | UnsetType | None = UNSET


class Assignment(Struct, frozen=True):
    """The one permission that a user is assigned."""

    uuid: RecordUuid
    user_uuid: UserUuid
    perm_uuid: PermissionUuid
    level: PermissionLevel
    perm_name: PermissionName
    created_at: CreatedAt


class NewAssignment(Command, frozen=True, kw_only=True):
    """An assignment to be made in place of the user's current one."""

    user_uuid: UserUuid
    perm_uuid: PermissionUuid


class KnownUsers(Protocol):
    """Checks whether a user exists."""

    async def find(self, key: str) -> object | None:
        """The user, or None. In a writing transaction no other transaction changes the user or
        their assignment through ``find`` until it ends."""


class AssignmentStore(Protocol):
    """Assignments, by user; a user has at most one."""

    async def of_user(self, user_uuid: str) -> Assignment | None:
        """The user's assignment with its permission's level and name, or None."""

    async def assign(self, assignment: Assignment) -> None:
        """Replace the user's current assignment in one statement: of concurrent callers exactly one
        assignment remains. Level and name are stored as those of the permission, not as those
        given. Raises ``NotFound`` if the user or the permission does not exist, ``Conflict`` (code
        ``already_exists``) if another user's assignment has this uuid."""

    async def remove(self, user_uuid: str) -> bool:
        """Remove the user's assignment; False if there was none."""

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        """Whether an active user other than ``besides`` holds level 0 under ``rule``.

        Transactions that call this run one after the other, so the result is valid until this
        transaction ends.
        """


class AccessTransaction(Protocol):
    """Stores that the use cases of permissions and assignments use."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def permissions(self) -> Store[Permission]: ...
    @property
    def assignments(self) -> AssignmentStore: ...
