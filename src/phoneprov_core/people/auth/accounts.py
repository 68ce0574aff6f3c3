"""Changing one's own password."""

from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM_ACTOR, Actor, Event, anonymous
from phoneprov_core.kernel.commands import obey, wrong
from phoneprov_core.kernel.errors import Forbidden, TooManyAttempts, Unavailable, require
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite, Store
from phoneprov_core.kernel.values import caseless, timestamp
from phoneprov_core.people.access import Assignment, Permission, require_login
from phoneprov_core.people.auth.login import Guesses
from phoneprov_core.people.auth.model import (
    AuthTransaction,
    LinkedAccounts,
    LoginFailure,
    LoginJournal,
    PasswordChange,
    WrongCredentials,
    ignore_failure,
)
from phoneprov_core.people.permissions import Right
from phoneprov_core.people.throttle import GUESSES_PER_ADDRESS
from phoneprov_core.people.users.model import (
    AccountPolicy,
    PasswordHasher,
    Registration,
    User,
)
from phoneprov_core.people.users.use_cases import (
    UsersTransaction,
    add_user,
    all_taken_fields,
    clear_guesses,
    created_user,
)


@dataclass
class ChangePassword:
    """Change the caller's own password. A wrong current password counts as a failed login."""

    database: ReadAndWrite[AuthTransaction]
    hasher: PasswordHasher
    policy: AccountPolicy
    clock: Clock
    _: KW_ONLY
    guesses: int = GUESSES_PER_ADDRESS
    journal: LoginJournal = ignore_failure

    def __post_init__(self) -> None:
        self._counting = Guesses(self.database, self.clock, self.guesses)

    async def __call__(self, actor: Actor, change: PasswordChange) -> None:
        """The other sessions of the account end, with ``end_tokens`` its API tokens too. Raises
        ``NeedsLogin`` for a caller with an API token; ``Invalid`` for a wrong current password;
        ``TooManyAttempts`` as a login."""
        require_login(actor)
        obey(self.policy.rules, change)
        async with self.database.read() as tx:
            user = require(await tx.users.find(actor.user_uuid), "user")
            hash_ = await tx.users.password_hash(user.uuid)
        self.policy.require_own(change.password, user.username, user.email)
        caller = await self._counting.caller(user.username, actor.ip)
        try:
            async with self._counting.counted(caller):
                try:
                    is_right = await self.hasher.verify(change.current_password, hash_)
                    fresh = await self.hasher.hash(change.password) if is_right else None
                except Unavailable:
                    await self._counting.take_back(caller)
                    raise
                if fresh is None:
                    await self._counting.count_wrong(caller, user)
                    self.journal(LoginFailure(actor.ip, WrongCredentials.code))
                    raise wrong("current_password", "is not the current password")
        except TooManyAttempts as error:
            self.journal(LoginFailure(actor.ip, error.code))
            raise
        async with self.database.write(by=actor) as tx:
            user = require(await tx.users.find(user.uuid), "user")
            if await tx.users.password_hash(user.uuid) != hash_:
                raise wrong("current_password", "was changed meanwhile")
            await tx.users.set_password_hash(user.uuid, fresh)
            for ended in await tx.sessions.end_all(user.uuid, besides=actor.session_uuid):
                tx.trail.note(Event("session.ended", "session", ended))
            if change.end_tokens:
                await tx.api_tokens.end_all(user.uuid)
            await clear_guesses(tx, user)
            await self._counting.limit.take_back(tx.rates, caller.ip)


@dataclass(frozen=True)
class Register:
    """Create an account: for any caller where registration is public, else for a superadmin."""

    database: ReadAndWrite[AuthTransaction]
    hasher: PasswordHasher
    policy: AccountPolicy
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    public: bool

    def require_open(self, actor: Actor | None) -> None:
        """Raises ``Forbidden`` if registration is not public and the caller lacks level 0."""
        if not (self.public or (actor is not None and actor.holds(SUPERADMIN))):
            raise Forbidden("Registration is closed; ask an administrator for an account.")

    async def __call__(
        self, actor: Actor | None, registration: Registration, ip: str = "127.0.0.1"
    ) -> User:
        """Raises ``Forbidden`` if registration is not public and the caller does not hold level 0;
        ``Conflict`` if the username or the e-mail address is in use."""
        self.require_open(actor)
        obey(self.policy.rules_of_new, registration)
        superadmin = actor is not None and actor.holds(SUPERADMIN)
        self.policy.require_own(registration.password, registration.username, registration.email)
        hash_ = await self.hasher.hash(registration.password, first=superadmin)
        created_by = actor.user_uuid if actor is not None and superadmin else None
        user = created_user(registration, self.new_id(), timestamp(self.clock()), ip, created_by)
        writing = self.database.write(by=actor or anonymous(ip))
        async with all_taken_fields(self.database, user), writing as tx:
            await add_user(tx, user, self.policy, hash_)
        return user


PERMISSION_NAME = "superadmin"


class CreateAdminTransaction(UsersTransaction, Protocol):
    """Stores that the creation of a superadmin uses."""

    @property
    def permissions(self) -> Store[Permission]: ...
    @property
    def identities(self) -> LinkedAccounts: ...
    @property
    def rights(self) -> Store[Right]: ...


class AdminCreated(Struct, frozen=True):
    """The superadmin, whether this call created the account, and whether the account has this
    password now."""

    user: User
    is_new: bool
    has_new_password: bool


@dataclass(frozen=True)
class CreateAdmin:
    """Create an account that holds the level-0 permission ``superadmin``; safe to repeat.

    An existing account of that name keeps its password, if it has one, and all other fields; it
    gets the permission if it lacks it, is activated, its login is unlocked, and its identities at a
    provider are removed, so that its password logs in. No actor is needed:
    the administrator of the host runs this.
    """

    database: ReadAndWrite[CreateAdminTransaction]
    hasher: PasswordHasher
    policy: AccountPolicy
    clock: Clock
    new_id: NewId

    async def has_password(self, username: str) -> bool:
        """Whether an account of this name exists and has a password; then none is needed."""
        async with self.database.read() as tx:
            return await tx.users.with_password(username) is not None

    async def __call__(self, account: Registration) -> AdminCreated:
        """Raises ``Conflict`` if the e-mail address belongs to another account."""
        hash_ = None
        if not await self.has_password(account.username):
            obey(self.policy.rules_of_new, account)
            self.policy.require_own(account.password, account.username, account.email)
            hash_ = await self.hasher.hash(account.password)
        now = timestamp(self.clock())
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            user = await tx.users.by_username(account.username)
            is_new = user is None and hash_ is not None
            if user is None:
                user = created_user(account, self.new_id(), now, "127.0.0.1", None)
                await add_user(tx, user, self.policy, hash_ or "")
            elif not user.is_active:
                user = replace(user, is_active=True, updated_at=now)
                await tx.users.put(user)
            is_open = await tx.users.password_hash(user.uuid) is None
            if is_open and hash_ is not None:
                await tx.users.set_password_hash(user.uuid, hash_)
            await clear_guesses(tx, user)
            await tx.identities.remove_of("user_uuid", user.uuid)
            await tx.rights.remove(user.uuid)
            permission = await self._permission(tx, now)
            current = await tx.assignments.of_user(user.uuid)
            if current is None or current.perm_uuid != permission.uuid:
                await tx.assignments.assign(
                    Assignment(
                        self.new_id(),
                        user.uuid,
                        permission.uuid,
                        permission.level,
                        permission.name,
                        now,
                    )
                )
        return AdminCreated(user, is_new, is_new or (is_open and hash_ is not None))

    async def _permission(self, tx: CreateAdminTransaction, now: str) -> Permission:
        last: Permission | None = None
        while rows := await tx.permissions.rows(1000, after=last):
            for permission in rows:
                if permission.level == SUPERADMIN and caseless(permission.name) == PERMISSION_NAME:
                    return permission
            last = rows[-1]
        permission = Permission(
            self.new_id(), SUPERADMIN, PERMISSION_NAME, "May do everything", now
        )
        await tx.permissions.add(permission)
        return permission
