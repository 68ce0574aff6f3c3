"""Store ports for users."""

from typing import Protocol

from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.actor import UseCaseTrail
from phoneprov_core.kernel.store import SearchedStore
from phoneprov_core.users.model import User


class UserStore(SearchedStore[User], Protocol):
    """Accounts. Usernames and e-mail addresses are unique, ignoring case.

    ``remove`` also deletes the user's password, assignment, sessions and all other records that
    belong to the user, and clears their profiles as the default of desks. Each of these records
    that is audited has its entry.
    """

    async def by_username(self, username: str) -> User | None:
        """The account with this name, ignoring case, or None."""

    async def taken_fields(self, user: User) -> list[str]:
        """Which of ``username`` and ``email`` another account has, ignoring case, in this order."""

    async def by_extension(self, number: str) -> list[User]:
        """The accounts linked to the active extension of this number, two at most."""

    async def with_password(self, username: str) -> tuple[User, str] | None:
        """The account with this name, ignoring case, and the hash of its password; None if the
        account does not exist or has no password."""

    async def logged_in(self, user_uuid: str, ip: str, at: str) -> User | None:
        """Record time and address of a login, unless the account is inactive or does not exist
        (None); returns the updated account, which no other transaction changes until this ends."""

    async def claim_looks(self, user_uuid: str, looks: frozenset[str]) -> None:
        """Claim the looks of the account's name, in place of its earlier claims. Raises
        ``Conflict`` (code ``already_exists``) when another account claimed one of ``looks``: of
        concurrent claims one succeeds. Claims are deleted with the account. Raises ``NotFound`` if
        the account does not exist."""

    async def password_hash(self, user_uuid: str) -> str | None:
        """The hash of the account's password, or None if the account does not exist."""

    async def set_password_hash(
        self, user_uuid: str, hash_: str, *, same_password: bool = False
    ) -> None:
        """Raises ``NotFound`` if the account was deleted. ``same_password``: this is another hash
        of the same password, which counts as no change of the account."""


class EndSessions(Protocol):
    """The part of the session store that accounts use."""

    async def end_all(self, user_uuid: str, *, besides: str | None = None) -> list[str]:
        """End every session of the user but the one named ``besides``; returns those."""


class EndTokens(Protocol):
    """The part of the store of API tokens that accounts use."""

    async def end_all(self, user_uuid: str) -> None:
        """Delete every token of the user; each has its audit entry."""


class ClearAttempts(Protocol):
    """The part of the store of counted guesses that accounts use."""

    async def clear(self, key: str) -> None:
        """Delete the guesses counted under this ``account_key``."""


class KnownAddresses(Protocol):
    """The part of the store of login addresses that accounts use."""

    async def of_user(self, user_uuid: str) -> list[str]:
        """The addresses (``address_key``) that the account logged in from."""


class KnownNumbers(Protocol):
    """The part of the store of extensions that accounts use."""

    async def is_of_another(self, number: str, user_uuid: str) -> bool:
        """Whether there is an extension of this number that is not linked to this account."""


class EndUses(Protocol):
    """The part of desks that accounts use."""

    async def end_of(self, user_uuid: str) -> None:
        """End the use of every phone by the user."""


class UsersTransaction(Protocol):
    """Stores that the use cases of accounts use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def sessions(self) -> EndSessions: ...
    @property
    def api_tokens(self) -> EndTokens: ...
    @property
    def attempts(self) -> ClearAttempts: ...
    @property
    def login_addresses(self) -> KnownAddresses: ...
    @property
    def extensions(self) -> KnownNumbers: ...
    @property
    def desk_uses(self) -> EndUses: ...
    @property
    def trail(self) -> UseCaseTrail: ...
