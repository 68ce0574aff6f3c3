"""PINs with which users log in on phones, managed by their users and by superadmins. Only a hash
with a secret key is stored and returned: without the key, the few possible PINs cannot be tried."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.kernel.actor import (
    SUPERADMIN,
    Actor,
    Event,
    UseCaseTrail,
    may_act_for,
    may_see_people,
    require_owner,
)
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound, Problem, require
from phoneprov_core.kernel.fields import (
    SECRET,
    CreatedAt,
    PinCode,
    RecordUuid,
    Redacted,
    UserUuid,
    schema,
)
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite, Store
from phoneprov_core.kernel.values import known_id, millis, timestamp
from phoneprov_core.people.access import AssignmentStore, require_login
from phoneprov_core.people.permissions import Right, still
from phoneprov_core.people.throttle import Attempts
from phoneprov_core.people.users.model import User
from phoneprov_core.people.users.use_cases import ClearAttempts

_MOST_NUMBERS = 1000


class VendorUser(Redacted, frozen=True):
    """A user's PIN, as a hash."""

    uuid: RecordUuid
    user_uuid: UserUuid
    pin_code: Annotated[
        str,
        SECRET,
        schema(
            "Hash of the PIN, made with a secret key",
            examples=["$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$..."],
        ),
    ]
    created_at: CreatedAt


class GuessLock(Struct, frozen=True):
    """Wrong PINs of a user, or at a phone, as they count now."""

    failures: Annotated[int, schema("Wrong PINs in a row", minimum=0, examples=[5])]
    wait_seconds: Annotated[
        int, schema("Seconds until the next PIN is checked; 0: at once", minimum=0, examples=[30])
    ]
    is_locked: Annotated[
        bool, schema("Whether no PIN is checked until the lock is opened", examples=[False])
    ]


def lock_of(attempts: Attempts | None, now: int) -> GuessLock:
    """What a count means at this moment."""
    count = (attempts or Attempts()).settled(now)
    return GuessLock(count.in_a_row, count.wait(now), count.is_locked)


class PinState(GuessLock, frozen=True):
    """Whether a user has a PIN, and its lock; never the PIN or its hash."""

    has_pin: Annotated[bool, schema("Whether the user has a PIN", examples=[True])]


class CreatePin(Command, frozen=True, kw_only=True):
    """The PIN to be set."""

    pin_code: PinCode


def guess_key(user_uuid: str) -> str:
    """The key that guesses at a user's PIN are counted under."""
    return hashlib.sha256(f"pin {user_uuid}".encode("utf-8", "surrogatepass")).hexdigest()


class VendorUserStore(Protocol):
    """PINs, by user; a user has at most one."""

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        """The user's PIN, or None."""

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        """Add or replace the user's PIN in one statement, and return the stored record: an existing
        record keeps its uuid and created_at. Raises ``NotFound`` if the user does not exist."""

    async def remove(self, user_uuid: str) -> bool:
        """Remove the PIN; False if there was none."""


class PinHasher(Protocol):
    """Slow hashes of PINs with a secret key; bounded like hashes of passwords, and computed after
    them."""

    async def hash_pin(self, pin: str) -> str:
        """A salted hash that cannot be verified without the key."""

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        """Whether the PIN matches this hash, under any of the keys."""


class PinOwners(Protocol):
    """The part of the store of users that PINs use."""

    async def find(self, key: str) -> User | None:
        """The user, or None. In a writing transaction no other transaction changes the user through
        ``find`` until it ends."""


class HasNumber(Protocol):
    """What has a number that is dialled."""

    @property
    def extension(self) -> str: ...


class LinkedNumbers(Protocol):
    """The numbers of users."""

    async def rows(self, limit: int, *, owner: str | None = None) -> Sequence[HasNumber]:
        """At most ``limit`` numbers of the user ``owner``."""


class NumbersOfUsers(Protocol):
    """The part of the store of links that PINs use."""

    @property
    def extensions(self) -> LinkedNumbers:
        """The numbers of each user."""


class NumbersTransaction(Protocol):
    """Stores that say which numbers a user has."""

    @property
    def links(self) -> NumbersOfUsers: ...


class WeakPin(Invalid):
    """The PIN is one of the first that are tried."""

    def __init__(self, words: str) -> None:
        super().__init__(f"The PIN {words}.", problems=(Problem("pin_code", words),))


async def require_good_pin(tx: NumbersTransaction, user: User, pin: str) -> None:
    """Raises ``WeakPin`` if a new PIN is one digit repeated, neighbouring digits in order, the
    number of an extension of its user, or the username."""
    # 1111, 2345 and 7890, 4321 and 2109
    if {(int(after) - int(before)) % 10 for before, after in pairwise(pin)} in ({0}, {1}, {9}):
        raise WeakPin("must not be one digit repeated, or digits in order")
    linked = await tx.links.extensions.rows(_MOST_NUMBERS, owner=user.uuid)
    numbers = {user.username, *(one.extension for one in linked)}
    if pin in {re.sub(r"[^0-9]", "", number) for number in numbers}:
        raise WeakPin("must not be a number of its user")


class SeenAttempts(ClearAttempts, Protocol):
    """The part of the counted guesses that PINs use."""

    async def seen(self, key: str) -> Attempts | None:
        """The current count, without a lock; None if nothing was counted."""


class VendorUsersTransaction(NumbersTransaction, Protocol):
    """Stores that the use cases of PINs use."""

    @property
    def trail(self) -> UseCaseTrail: ...
    @property
    def users(self) -> PinOwners: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def attempts(self) -> SeenAttempts: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def rights(self) -> Store[Right]: ...


@dataclass(frozen=True)
class VendorUsers:
    """The PIN of each user. Every use case raises ``Forbidden`` for another user's PIN. The right
    helpdesk sets and removes PINs of users who have no right and do not hold level 0."""

    database: ReadAndWrite[VendorUsersTransaction]
    hasher: PinHasher
    clock: Clock
    new_id: NewId

    async def get(self, actor: Actor, user_uuid: str) -> VendorUser:
        """Raises ``NotFound`` if the user does not exist or has no PIN."""
        owner = known_id(user_uuid)
        require_owner(actor, owner)
        async with self.database.read() as tx:
            require(await tx.users.find(owner), "user")
            vendor_user = await tx.vendor_users.of_user(owner)
        if vendor_user is None:
            raise _no_pin()
        return vendor_user

    async def save(
        self, actor: Actor, user_uuid: str, new: CreatePin, *, hash_: str | None = None
    ) -> VendorUser:
        """Set the user's PIN, which opens its lock after wrong ones; an existing record keeps its
        uuid. ``hash_`` is the hash of the PIN, if it was computed before. Raises ``NotFound``
        without the user, ``NeedsLogin`` with an API token, ``WeakPin``."""
        owner = known_id(user_uuid)
        _require_possible(actor, owner)
        require_login(actor)
        async with self.database.read() as tx:
            user = require(await tx.users.find(owner), "user")
            await _require_allowed(tx, actor, owner)
            await require_good_pin(tx, user, new.pin_code)
        # The hash takes long: it is computed before the transaction begins.
        if hash_ is None:
            hash_ = await self.hasher.hash_pin(new.pin_code)
        vendor_user = VendorUser(self.new_id(), owner, hash_, timestamp(self.clock()))
        async with self.database.write(by=actor) as tx:
            await _require_allowed(tx, actor, owner)
            saved = await tx.vendor_users.save(vendor_user)
            await tx.attempts.clear(guess_key(owner))
        return saved

    async def delete(self, actor: Actor, user_uuid: str) -> None:
        """Raises ``NotFound`` without the user or a PIN, ``NeedsLogin`` with an API token."""
        owner = known_id(user_uuid)
        _require_possible(actor, owner)
        require_login(actor)
        async with self.database.write(by=actor) as tx:
            require(await tx.users.find(owner), "user")
            await _require_allowed(tx, actor, owner)
            if not await tx.vendor_users.remove(owner):
                raise _no_pin()

    async def state(self, actor: Actor, user_uuid: str) -> PinState:
        """Whether the user has a PIN, and its lock. Raises ``NotFound`` without the user."""
        owner = known_id(user_uuid)
        _require_possible(actor, owner)
        async with self.database.read() as tx:
            require(await tx.users.find(owner), "user")
            has_pin = await tx.vendor_users.of_user(owner) is not None
            lock = lock_of(await tx.attempts.seen(guess_key(owner)), millis(self.clock()))
        return PinState(lock.failures, lock.wait_seconds, lock.is_locked, has_pin)

    async def unlock(self, actor: Actor, user_uuid: str) -> PinState:
        """Forget the wrong PINs of a user. Raises ``NotFound`` without the user, ``NeedsLogin``
        with an API token."""
        owner = known_id(user_uuid)
        _require_possible(actor, owner)
        require_login(actor)
        async with self.database.write(by=actor) as tx:
            require(await tx.users.find(owner), "user")
            await _require_allowed(tx, actor, owner)
            await tx.attempts.clear(guess_key(owner))
            tx.trail.note(Event("vendor_user.unlocked", "vendor_user", owner))
        return await self.state(actor, owner)


def _require_possible(actor: Actor, user_uuid: str) -> None:
    if not may_see_people(actor):
        require_owner(actor, user_uuid)


async def _require_allowed(tx: VendorUsersTransaction, actor: Actor, user_uuid: str) -> None:
    """Raises ``Forbidden`` for a user who holds level 0 or has a right, unless the actor does, and
    if the actor's own right has ended. In a writing transaction no other gives the user a level or
    a right until it ends."""
    if may_act_for(actor, user_uuid):
        return
    await tx.users.find(user_uuid)
    await still(tx, actor)
    assignment = await tx.assignments.of_user(user_uuid)
    level = assignment.level if assignment else None
    if actor.level_rule.holds(level, SUPERADMIN) or await tx.rights.find(user_uuid):
        raise Forbidden("This user holds level 0 or has a right: only level 0 changes the PIN.")


def _no_pin() -> NotFound:
    return NotFound("This user has no PIN.")
