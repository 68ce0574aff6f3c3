"""Store ports for permissions and assignments."""

from typing import Protocol

from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.store import Store


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
