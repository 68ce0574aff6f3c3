"""Permissions and rights, and their assignment to users; every use case requires level 0."""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from msgspec import Struct

from phoneprov_core.kernel.actor import SUPERADMIN, Actor, require_superadmin
from phoneprov_core.kernel.commands import Command, applied, record_of, require_same
from phoneprov_core.kernel.errors import Conflict, Forbidden, NotFound, require
from phoneprov_core.kernel.fields import Check, CreatedAt, UpdatedAt, UserUuid, each, schema
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, Store, listing
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.access import (
    LOCATION_NAME,
    AccessTransaction,
    Assignment,
    CreateAssignment,
    CreatePermission,
    KnownAccounts,
    Permission,
    PermissionPatch,
    Placed,
    location_key,
    location_name,
    require_another_superadmin,
    require_at,
)


def _locations(given: tuple[str, ...]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for name in each(location_name, most=200)(given):
        unique.setdefault(location_key(name), name)
    return tuple(unique.values())


RightName = Annotated[
    Literal["helpdesk"],
    schema("What the account may do beside its level", examples=["helpdesk"]),
]
RightLocations = Annotated[
    tuple[Annotated[str, schema(minLength=1, maxLength=255, pattern=LOCATION_NAME)], ...],
    Check(_locations),
    schema(
        "Locations whose phones the right includes, with all locations within them; empty for all "
        "phones",
        maxItems=200,
        examples=[["Berlin"]],
    ),
]


class OwnRight(Struct, frozen=True):
    """What an account may do beside its level."""

    right: RightName
    locations: RightLocations


class Right(Struct, frozen=True):
    """The one right of a user, beside the level."""

    user_uuid: UserUuid
    right: RightName
    locations: RightLocations
    created_at: CreatedAt
    updated_at: UpdatedAt


class GrantRight(Command, frozen=True, kw_only=True):
    """The right that a user gets, in place of the current right."""

    right: RightName
    locations: RightLocations


class HoldsLevel0(Conflict):
    """The account holds level 0, which includes every right."""

    code = "holds_level_0"
    usual = "This account holds level 0, which includes every right."


class RightsTransaction(AccessTransaction, Protocol):
    """Stores that the use cases of rights use. A right is deleted with its user."""

    @property
    def rights(self) -> Store[Right]: ...


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

    database: ReadAndWrite[RightsTransaction]
    clock: Clock
    new_id: NewId

    async def get(self, actor: Actor, user_uuid: str) -> Assignment:
        """Raises ``NotFound`` if the user has no assignment."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return await _assignment(tx, user_uuid)

    async def assign(self, actor: Actor, new: CreateAssignment) -> Assignment:
        """Replace the user's assignment. Level 0 ends the user's right. Raises ``NotFound`` if the
        user or the permission does not exist; ``Conflict`` if the last account with level 0 would
        lose it."""
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
            if actor.level_rule.holds(permission.level, SUPERADMIN):
                await tx.rights.remove(new.user_uuid)
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


@dataclass(frozen=True)
class Rights:
    """The one right of each user that has one."""

    database: ReadAndWrite[RightsTransaction]
    clock: Clock

    async def all(self, actor: Actor, page: Page = None) -> Listing[Right]:
        """Every right, oldest first."""
        require_superadmin(actor)
        return await listing(self.database.read, lambda tx: tx.rights, page)

    async def get(self, actor: Actor, user_uuid: str) -> Right:
        """Raises ``NotFound`` if the user does not exist or has no right."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            require(await tx.users.find(known_id(user_uuid)), "user")
            return _right(await tx.rights.find(known_id(user_uuid)))

    async def grant(self, actor: Actor, user_uuid: str, new: GrantRight) -> Right:
        """Give a user a right in place of the current right. Raises ``NotFound`` without
        the user, ``HoldsLevel0``."""
        require_superadmin(actor)
        now, owner = timestamp(self.clock()), known_id(user_uuid)
        async with self.database.write(by=actor) as tx:
            # Locked, so that no other transaction assigns level 0 meanwhile.
            require(await tx.users.find(owner), "user")
            assignment = await tx.assignments.of_user(owner)
            if assignment and actor.level_rule.holds(assignment.level, SUPERADMIN):
                raise HoldsLevel0
            before = await tx.rights.find(owner)
            right = record_of(
                Right,
                new,
                user_uuid=owner,
                created_at=before.created_at if before else now,
                updated_at=now,
            )
            await (tx.rights.put(right) if before else tx.rights.add(right))
        return right

    async def remove(self, actor: Actor, user_uuid: str) -> None:
        """Raises ``NotFound`` if the user does not exist or has no right."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            require(await tx.users.find(known_id(user_uuid)), "user")
            right = _right(await tx.rights.find(known_id(user_uuid)))
            await tx.rights.remove(right.user_uuid)


def _right(right: Right | None) -> Right:
    if right is None:
        raise NotFound("This user has no right.")
    return right


class StillAtTransaction(Protocol):
    """Stores that ``still`` and ``require_still_at`` use."""

    @property
    def users(self) -> KnownAccounts: ...
    @property
    def rights(self) -> Store[Right]: ...


async def require_still_at(tx: StillAtTransaction, actor: Actor, phone: Placed) -> None:
    """Raises ``Forbidden`` unless the actor's account is active, and its right, as stored now,
    includes the phone; see ``still``."""
    require_at(await still(tx, actor), phone)


async def still(tx: StillAtTransaction, actor: Actor) -> Actor:
    """The actor with the right that its account has now. Raises ``Forbidden`` unless the account is
    active and has one, or the actor holds level 0: both may have changed since the request was
    authenticated. In a writing transaction neither changes until it ends."""
    if actor.holds(SUPERADMIN):
        return actor
    user = await tx.users.find(actor.user_uuid)
    right = await tx.rights.find(actor.user_uuid)
    if user is None or not user.is_active or right is None:
        raise Forbidden("The right of this account has ended.")
    return actor.having(right.right, right.locations)
