"""Permissions and assignments."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

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


class CreatePermission(Command, frozen=True, kw_only=True):
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


class CreateAssignment(Command, frozen=True, kw_only=True):
    """An assignment to be made in place of the user's current one."""

    user_uuid: UserUuid
    perm_uuid: PermissionUuid
