"""Permissions and assignments."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Description, Level, Line, Uuid, schema
from phoneprov_core.kernel.times import Timestamp


class Permission(Struct, frozen=True):
    """A named permission level. Level 0 is the superadmin level."""

    uuid: Uuid
    level: Level
    name: Annotated[str, schema(examples=["superadmin"])]
    description: str | None
    created_at: Timestamp


class NewPermission(Command, frozen=True, kw_only=True):
    """A permission to be created; level and name together are unique."""

    level: Level
    name: Annotated[Line, schema(examples=["desk admin"])]
    description: Description | None = None


class PermissionPatch(Command, frozen=True, kw_only=True):
    """Changes to a permission. Its level never changes: a level here must be the stored one."""

    name: Line | UnsetType = UNSET
    level: Annotated[Level, schema(description="Must agree with the stored level")] | UnsetType = (
        UNSET
    )
    description: Description | UnsetType | None = UNSET


class Assignment(Struct, frozen=True):
    """The one permission that a user is assigned."""

    uuid: Uuid
    user_uuid: Uuid
    perm_uuid: Uuid
    level: Level
    perm_name: str
    created_at: Timestamp


class NewAssignment(Command, frozen=True, kw_only=True):
    """An assignment to be made in place of the user's current one."""

    user_uuid: Uuid
    perm_uuid: Uuid
