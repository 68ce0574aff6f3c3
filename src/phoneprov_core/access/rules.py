"""Who may do what: plain functions that raise.

What is named by its own identifier and may not be seen reads like a missing record; what is
named by its owner and is not the caller's is forbidden, whether or not that owner exists.
"""

from __future__ import annotations

from enum import Enum

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Forbidden
from phoneprov_core.kernel.levels import SUPERADMIN


class SharedWrite(Enum):
    """Who may write what all accounts share: phones, their parts, services, the company
    directory."""

    SUPERADMIN = "superadmin"
    BEARER = "bearer"


def require_superadmin(actor: Actor) -> None:
    """Raises ``Forbidden`` for everybody who does not hold level 0."""
    if not actor.holds(SUPERADMIN):
        raise Forbidden("This needs permission level 0.")


def require_shared_write(actor: Actor, rule: SharedWrite) -> None:
    """Raises ``Forbidden`` for everybody who may not write what all share."""
    if rule is not SharedWrite.BEARER:
        require_superadmin(actor)


def may_act_for(actor: Actor, user_uuid: str) -> bool:
    """Whether the caller may read and change what belongs to this user."""
    return actor.user_uuid == user_uuid or actor.holds(SUPERADMIN)


def require_owner(actor: Actor, user_uuid: str) -> None:
    """Raises ``Forbidden`` for everybody but the user and the holders of level 0."""
    if not may_act_for(actor, user_uuid):
        raise Forbidden("This belongs to another user.")


def last_superadmin() -> Conflict:
    """The conflict of a change after which nobody would hold level 0."""
    return Conflict(
        "This is the last active account that holds level 0; give level 0 to another first.",
        code="last_superadmin",
    )
