"""The stores that permissions and assignments live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.kernel.levels import LevelRule
from phoneprov_core.kernel.store import Store


class KnownUsers(Protocol):
    """Whether a user exists; more is not asked here."""

    async def find(self, key: str) -> object | None:
        """The user, or None. In a writing transaction nobody else changes the user or their
        assignment by way of ``find`` until it ends."""
        ...


class AssignmentStore(Protocol):
    """At most one assignment a user."""

    async def of_user(self, user_uuid: str) -> Assignment | None:
        """The user's assignment with its permission's level and name, or None."""
        ...

    async def assign(self, assignment: Assignment) -> None:
        """Put it in the place of the user's current one, in one statement: racing callers
        leave exactly one. Level and name are those of the permission, whatever stands here.
        Raises ``NotFound`` when the user or the permission is gone, ``Conflict`` (code
        ``already_exists``) when another user's assignment has this uuid."""
        ...

    async def remove(self, user_uuid: str) -> bool:
        """Whether there was one."""
        ...

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        """Whether an active user other than ``besides`` holds level 0 under ``rule``.

        Transactions that ask this go one after the other: the answer stays true until this
        transaction ends.
        """
        ...


class AccessTransaction(Protocol):
    """What permissions and assignments are kept in."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def permissions(self) -> Store[Permission]: ...
    @property
    def assignments(self) -> AssignmentStore: ...
