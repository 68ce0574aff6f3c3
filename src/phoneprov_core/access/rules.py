"""Access rules: plain functions that raise. A record that is addressed by its own identifier and
that the caller may not see counts as missing. A record that is addressed by its owner is forbidden
to other callers, whether or not the owner exists."""

from enum import Enum
from typing import Protocol, TypeVar

from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM, Actor, LevelRule
from phoneprov_core.kernel.errors import Conflict, Forbidden, found
from phoneprov_core.kernel.system import known_id


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
    ``found``."""
    record = await records.find(known_id(uuid))
    return found(record if record and may_act_for(actor, record.user_uuid) else None, one)


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
