"""The stores that users live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.store import SearchedStore
from phoneprov_core.users.model import User


class UserStore(SearchedStore[User], Protocol):
    """Accounts. Usernames and e-mail addresses are unique whatever their case.

    ``remove`` takes along the user's password, assignment, sessions and everything else
    that is theirs.
    """

    async def by_username(self, username: str) -> User | None:
        """The account with this name, whatever its case, or None."""
        ...

    async def by_extension(self, number: str) -> User | None:
        """The account linked to the active extension of this number; None when no account, or
        several, are linked to it."""
        ...

    async def with_password(self, username: str) -> tuple[User, str] | None:
        """The account with this name, whatever its case, and the hash of its password; None
        when there is no such account, or it has no password."""
        ...

    async def logged_in(self, user_uuid: str, ip: str, at: str) -> User | None:
        """Note where and when the account was logged in to last, unless it is inactive or
        gone (None); the account as it is then. Nobody else changes it until the transaction
        ends."""
        ...

    async def claim_looks(self, user_uuid: str, looks: frozenset[str]) -> None:
        """Let no other account take a name that looks like this, in the place of what the
        account claimed before. Raises ``Conflict`` (code ``already_exists``) when another
        account claimed one of ``looks``: of concurrent claims one succeeds. What is claimed goes
        with the account. Raises ``NotFound`` if there is no such account."""
        ...

    async def password_hash(self, user_uuid: str) -> str | None:
        """The hash of the account's password, or None when there is no such account."""
        ...

    async def set_password_hash(
        self, user_uuid: str, hash_: str, *, same_password: bool = False
    ) -> None:
        """Raises ``NotFound`` when the account is gone. ``same_password``: this is another hash
        of the same password, which counts as no change of the account."""
        ...


class EndSessions(Protocol):
    """The one thing that accounts ask of sessions."""

    async def end_all(self, user_uuid: str, *, besides: str | None = None) -> None:
        """End every session of the user but the one named ``besides``."""
        ...


class ClearAttempts(Protocol):
    """The one method of counted guesses that accounts use."""

    async def clear(self, key: str) -> None:
        """Forget the guesses counted under this ``account_key``."""
        ...


class EndDeskUse(Protocol):
    """The one method of desks that accounts use."""

    async def end_user(self, user_uuid: str) -> int:
        """End the use of every phone by the user; a logout is due there. Returns the number of
        phones."""
        ...


class UsersTransaction(Protocol):
    """What accounts are kept in."""

    @property
    def users(self) -> UserStore: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def sessions(self) -> EndSessions: ...
    @property
    def attempts(self) -> ClearAttempts: ...
    @property
    def desks(self) -> EndDeskUse: ...
