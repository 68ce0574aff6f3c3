"""Permissions, their assignment to users, and the rules that decide who may do what."""

from enum import Enum
from typing import Annotated, Protocol, TypeVar

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM, Actor, LevelRule
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import Conflict, Forbidden, require
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
from phoneprov_core.kernel.system import known_id

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
        assignment remains. Level and name are copied from the permission, not from the request.
        Raises ``NotFound`` if the user or the permission does not exist, ``Conflict`` (code
        ``already_exists``) if another user's assignment has this uuid."""

    async def remove(self, user_uuid: str) -> bool:
        """Remove the user's assignment; False if there was none."""

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        """Whether an active user other than ``besides`` holds level 0 under ``rule``. Transactions
        that call this run one after the other: the result is valid until this one ends."""


class AccessTransaction(Protocol):
    """Stores that the use cases of permissions and assignments use."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def permissions(self) -> Store[Permission]: ...
    @property
    def assignments(self) -> AssignmentStore: ...


class _Owned(Protocol):
    """A record that belongs to a user."""

    @property
    def user_uuid(self) -> str: ...


R = TypeVar("R", bound=_Owned)
R_co = TypeVar("R_co", bound=_Owned, covariant=True)


class _Finds(Protocol[R_co]):
    """A store of such records."""

    async def find(self, key: str, /) -> R_co | None:
        """The record, or None."""


class SharedWrite(Enum):
    """Who may write shared records: phones, their parts, services, the company directory."""

    SUPERADMIN = "superadmin"
    BEARER = "bearer"


def require_superadmin(actor: Actor) -> None:
    """Raises ``Forbidden`` unless the actor holds level 0."""
    if not actor.holds(SUPERADMIN):
        raise Forbidden("This needs permission level 0.")


def may_write_shared(actor: Actor, rule: SharedWrite) -> bool:
    """Whether the actor may write shared records."""
    return rule is SharedWrite.BEARER or actor.holds(SUPERADMIN)


def require_shared_write(actor: Actor, rule: SharedWrite) -> None:
    """Raises ``Forbidden`` unless the actor may write shared records."""
    if not may_write_shared(actor, rule):
        require_superadmin(actor)


def may_act_for(actor: Actor, user_uuid: str) -> bool:
    """Whether the caller may read and change records of this user."""
    return actor.user_uuid == user_uuid or actor.holds(SUPERADMIN)


async def visible(actor: Actor, records: _Finds[R], uuid: str, one: str) -> R:
    """The record with this identifier, if the caller may act for its user; raises ``NotFound`` as
    ``require``."""
    record = await records.find(known_id(uuid))
    return require(record if record and may_act_for(actor, record.user_uuid) else None, one)


def require_owner(actor: Actor, user_uuid: str) -> None:
    """Raises ``Forbidden`` unless the actor is the user or holds level 0."""
    if not may_act_for(actor, user_uuid):
        raise Forbidden("This belongs to another user.")


def require_login(actor: Actor) -> None:
    """Raises ``NeedsLogin`` for a caller with an API token: one that leaked must not become a
    password, a PIN or another token, and ends no session."""
    if actor.token is not None:
        raise NeedsLogin


class _Account(Protocol):
    """An account."""

    @property
    def is_active(self) -> bool: ...


class _Accounts(Protocol):
    """A store of accounts."""

    async def find(self, key: str, /) -> _Account | None:
        """The account, or None."""


async def still_holds(
    users: _Accounts, assignments: AssignmentStore, user_uuid: str, rule: LevelRule
) -> bool:
    """Whether an account is still active and holds level 0; ``SYSTEM`` always does."""
    if user_uuid == SYSTEM:
        return True
    user, current = await users.find(user_uuid), await assignments.of_user(user_uuid)
    is_active = user is not None and user.is_active
    return is_active and rule.holds(current.level if current else None, SUPERADMIN)


async def require_another_superadmin(
    assignments: AssignmentStore, actor: Actor, user_uuid: str
) -> None:
    """Raises ``LastSuperadmin`` if this user alone holds level 0; see ``another_superadmin``."""
    current = await assignments.of_user(user_uuid)
    if current is None or not actor.level_rule.holds(current.level, SUPERADMIN):
        return
    if not await assignments.another_superadmin(user_uuid, actor.level_rule):
        raise LastSuperadmin


class NeedsLogin(Forbidden):
    """An API token was sent with a request that needs a login."""

    code = "needs_login"
    usual = "API tokens cannot change passwords, PINs, tokens and sessions; log in to do this."


class LastSuperadmin(Conflict):
    """No account would hold level 0 any more."""

    code = "last_superadmin"
    usual = "This is the last active account that holds level 0; give level 0 to another first."
