"""Permissions, their assignment to users, and the rules that decide who may do what."""

from collections.abc import Iterable
from typing import Annotated, Protocol, TypeVar

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import (
    SUPERADMIN,
    SYSTEM,
    Actor,
    LevelRule,
    beyond_right,
    may_act_for,
    may_see_people,
    require_owner,
    require_people,
)
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
from phoneprov_core.kernel.ports import Store
from phoneprov_core.kernel.values import caseless, known_id

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


async def visible(
    actor: Actor, records: _Finds[R], uuid: str, one: str, *, is_listed: bool = False
) -> R:
    """The record with this identifier, if the caller may act for its user; raises ``NotFound`` as
    ``require``. Raises ``Forbidden`` instead for records that the caller's right lists
    (``is_listed``), because the caller can see that they exist."""
    record = await records.find(known_id(uuid))
    if record and is_listed and actor.right is not None:
        require_owner(actor, record.user_uuid)
    return require(record if record and may_act_for(actor, record.user_uuid) else None, one)


_UNSEEN = rf"\x00-\x1f\x7f-\x9f{values.HIDDEN}"
_PART = rf"[^/{_UNSEEN}]*[^/\s{_UNSEEN}][^/{_UNSEEN}]*"


def location_name(value: str) -> str:
    """A rule of a field: the name of a location, its parts without blanks around them."""
    parts = [part.strip() for part in values.required_text(value).split("/")]
    if not all(parts):
        raise ValueError("must be parts separated by /, none of them empty, such as Berlin/3/301")
    return "/".join(parts)


LOCATION_NAME = rf"^{_PART}(?:/{_PART})*$"
"""What ``location_name`` accepts, for the OpenAPI document."""


def location_key(name: str) -> str:
    """The form in which names of locations are compared: without case, and without blanks around
    their parts."""
    return "/".join(part.strip() for part in caseless(name).split("/"))


def beginnings(location: str | None) -> tuple[str, ...]:
    """The keys of the names that apply to the location of a phone, the longest first."""
    if not location:
        return ()
    parts = location_key(location).split("/")
    return tuple("/".join(parts[:count]) for count in range(len(parts), 0, -1))


def is_within(location: str | None, name: str) -> bool:
    """Whether the location of a phone is the location with this name, or lies within it."""
    return location_key(name) in beginnings(location)


class Placed(Protocol):
    """A phone."""

    @property
    def location(self) -> str | None: ...


def covers(scope: Iterable[str], location: str | None) -> bool:
    """Whether a right for these locations is for a phone at ``location``; one without locations is
    for every phone."""
    names = list(scope)
    return not names or any(is_within(location, name) for name in names)


def is_at(actor: Actor, phone: Placed) -> bool:
    """Whether the phone is in the scope of the actor's right, or the actor holds level 0."""
    return may_see_people(actor) and (
        actor.holds(SUPERADMIN) or covers(actor.scope, phone.location)
    )


def require_at(actor: Actor, phone: Placed) -> None:
    """Raises ``Forbidden`` unless ``is_at``."""
    require_people(actor)
    if not is_at(actor, phone):
        place = f"at {phone.location}" if phone.location else "without a location"
        raise Forbidden(f"{beyond_right(actor)} this phone {place}.")


class _CountsLocations(Protocol):
    """The part of the store of phones that ``places_of`` uses."""

    async def counts(self, field: str) -> dict[str | None, int]:
        """The number of phones of each value of a field."""


async def places_of(actor: Actor, phones: _CountsLocations) -> tuple[str, ...] | None:
    """The locations of the phones in the actor's scope, as they are written; None for all."""
    if actor.holds(SUPERADMIN) or not actor.scope:
        return None
    texts = await phones.counts("location")
    return tuple(text for text in texts if text and covers(actor.scope, text))


def require_login(actor: Actor) -> None:
    """Raises ``NeedsLogin`` for a caller with an API token: a leaked token must not be able to set
    a password or a PIN, create a token, or end a session."""
    if actor.token is not None:
        raise NeedsLogin


class _Account(Protocol):
    """An account."""

    @property
    def is_active(self) -> bool: ...


class KnownAccounts(Protocol):
    """A store of accounts."""

    async def find(self, key: str, /) -> _Account | None:
        """The account, or None."""


async def still_holds(
    users: KnownAccounts, assignments: AssignmentStore, user_uuid: str, rule: LevelRule
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
