"""Accounts: superadmins read and change them; a deletion ends what belongs to the account."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from msgspec import UNSET
from msgspec.structs import replace

from phoneprov_core.kernel.actor import (
    Actor,
    Event,
    UseCaseTrail,
    require_people,
    require_superadmin,
)
from phoneprov_core.kernel.commands import applied, obey, record_of
from phoneprov_core.kernel.errors import AlreadyExists, Problem, Unavailable, require
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    NewId,
    Page,
    ReadAndWrite,
    Rows,
    SearchedStore,
    listing,
    selected,
)
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.access import AssignmentStore, require_another_superadmin, require_login
from phoneprov_core.people.throttle import account_key
from phoneprov_core.people.users.model import (
    AccountPolicy,
    CreateUser,
    PasswordHasher,
    Registration,
    User,
    UserPatch,
    UserSearch,
    check_new_username,
)


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
        """End every session of the user except ``besides``; returns the ended sessions."""


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


@dataclass(frozen=True)
class Users:
    """Create, read, change and delete accounts. The right helpdesk reads them; every other use case
    requires level 0."""

    database: ReadAndWrite[UsersTransaction]
    hasher: PasswordHasher
    policy: AccountPolicy
    clock: Clock
    new_id: NewId

    async def all(
        self, actor: Actor, page: Page = None, wanted: UserSearch | None = None
    ) -> Listing[User]:
        """Every account, oldest first. A word also finds the users of an extension, and ``number``
        of a sort is the first of a user."""
        require_people(actor)

        def found(tx: UsersTransaction) -> Rows[User]:
            return selected(tx.users, wanted, people=True)

        return await listing(self.database.read, found, page)

    async def get(self, actor: Actor, uuid: str) -> User:
        """Raises ``NotFound``."""
        require_people(actor)
        async with self.database.read() as tx:
            return require(await tx.users.find(known_id(uuid)), "user")

    async def create(self, actor: Actor, new: CreateUser, *, hash_: str | None = None) -> User:
        """``hash_`` is the hash of the password, if it was computed before. Raises ``Conflict`` if
        the username or the e-mail address is in use, or the username looks like another."""
        require_superadmin(actor)
        obey(self.policy.rules_of_new, new)
        if isinstance(new.password, str):
            self.policy.require_own(new.password, new.username, new.email)
            hash_ = hash_ or await self.hasher.hash(new.password)
        user = created_user(new, self.new_id(), timestamp(self.clock()), actor.ip, actor.user_uuid)
        async with all_taken_fields(self.database, user), self.database.write(by=actor) as tx:
            await add_user(tx, user, self.policy, hash_)
        return user

    async def update(
        self, actor: Actor, uuid: str, patch: UserPatch, *, hash_: str | None = None
    ) -> User:
        """Change the account. A new password ends its other sessions and all its API tokens, and
        unlocks its login; a deactivation ends all of them. ``hash_`` is the hash of a new password,
        if it was computed before.

        Raises ``NotFound``; ``NeedsLogin`` for a new password and a caller with an API token;
        ``Conflict`` if the username or the e-mail address is in use, or if the last active account
        with level 0 would be deactivated.
        """
        require_superadmin(actor)
        user = await self.get(actor, uuid)
        if patch.password is not UNSET:
            require_login(actor)
        username = user.username

        def check_username(name: str) -> str:
            return name if name == username else check_new_username(name)

        obey({**self.policy.rules, "username": check_username}, patch)
        # The hash takes long: it is computed before the transaction begins.
        named = applied(user, replace(patch, password=UNSET))
        if patch.password is not UNSET:
            self.policy.require_own(patch.password, named.username, named.email)
            hash_ = hash_ or await self.hasher.hash(patch.password)
        async with all_taken_fields(self.database, named), self.database.write(by=actor) as tx:
            before = require(await tx.users.find(user.uuid), "user")
            user = applied(
                before,
                replace(patch, password=UNSET),
                last_uuid=actor.user_uuid,
                updated_at=timestamp(self.clock()),
                updated_ip=actor.ip,
            )
            if before.is_active and not user.is_active:
                await require_another_superadmin(tx.assignments, actor, before.uuid)
                await _end_sessions(tx, user.uuid)
                await tx.api_tokens.end_all(user.uuid)
                await tx.desk_uses.end_of(user.uuid)
            if user.username != before.username:
                await require_no_number(tx, user)
            await tx.users.put(user)
            if user.username != before.username:
                await tx.users.claim_looks(user.uuid, self.policy.looks(user.username))
            if patch.password is not UNSET and hash_ is not None:
                await tx.users.set_password_hash(user.uuid, hash_)
                await _end_sessions(tx, user.uuid, besides=actor.session_uuid)
                await tx.api_tokens.end_all(user.uuid)
                await clear_guesses(tx, user)
        return user

    async def delete(self, actor: Actor, uuid: str) -> None:
        """Delete the account and all records that belong to it. Raises ``NotFound``; ``Conflict``
        for the last active account with level 0."""
        require_superadmin(actor)
        async with self.database.write(by=actor) as tx:
            user = require(await tx.users.find(known_id(uuid)), "user")
            if user.is_active:
                await require_another_superadmin(tx.assignments, actor, user.uuid)
            await _end_sessions(tx, user.uuid)
            await clear_guesses(tx, user)
            # The profiles before the desks, as the deletion of a profile locks them.
            await tx.users.remove(user.uuid)
            await tx.desk_uses.end_of(user.uuid)


@asynccontextmanager
async def all_taken_fields(
    database: ReadAndWrite[UsersTransaction], user: User
) -> AsyncIterator[None]:
    """Lets a conflict name every field that is in use; the database stops at the first."""
    try:
        yield
    except AlreadyExists as conflict:
        # An import has one transaction for all rows, which cannot be read after a conflict.
        with suppress(Unavailable):
            async with database.read() as tx:
                fields = await tx.users.taken_fields(user)
            if len(fields) > 1:
                conflict.problems = tuple(Problem(field, "is already in use") for field in fields)
        raise


async def _end_sessions(
    tx: UsersTransaction, user_uuid: str, *, besides: str | None = None
) -> None:
    for uuid in await tx.sessions.end_all(user_uuid, besides=besides):
        tx.trail.note(Event("session.ended", "session", uuid))


async def clear_guesses(tx: UsersTransaction, user: User) -> None:
    """Forget the failed logins of an account, from every address, so that it can log in."""
    addresses = await tx.login_addresses.of_user(user.uuid)
    for key in sorted(account_key(user.username, address) for address in ("", *addresses)):
        await tx.attempts.clear(key)


async def require_no_number(tx: UsersTransaction, user: User) -> None:
    """Raises ``AlreadyExists`` if the username is the number of an extension that is not the
    user's: at a phone both are entered into the same field."""
    if user.username.isdigit() and await tx.extensions.is_of_another(user.username, user.uuid):
        problem = Problem("username", "is the number of an extension")
        raise AlreadyExists("This username is the number of an extension.", problems=(problem,))


async def add_user(
    tx: UsersTransaction, user: User, policy: AccountPolicy, hash_: str | None
) -> None:
    """Store a new account with its password, if it has one. Raises ``Conflict``, also if its name
    looks taken or is the number of an extension."""
    await require_no_number(tx, user)
    users = tx.users
    await users.add(user)
    await users.claim_looks(user.uuid, policy.looks(user.username))
    if hash_ is not None:
        await users.set_password_hash(user.uuid, hash_)


def created_user(new: Registration, uuid: str, now: str, ip: str, created_by: str | None) -> User:
    """A new account with its initial values."""
    return record_of(
        User,
        new,
        uuid=uuid,
        is_active=new.is_active if isinstance(new, CreateUser) else True,
        created_at=now,
        updated_at=now,
        created_by=created_by,
        created_ip=ip,
        updated_ip=ip,
    )
