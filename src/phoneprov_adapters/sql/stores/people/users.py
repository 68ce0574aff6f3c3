"""Accounts, the assignments of their permissions, and their PINs in SQL."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, or_, select, update

from phoneprov_adapters.sql.engines.revisions import LOCK_REVISION
from phoneprov_adapters.sql.engines.statements import insert_into, upsert
from phoneprov_adapters.sql.stores.features.identities import SqlIdentities
from phoneprov_adapters.sql.stores.features.numbers import (
    first_number,
    users_with_number,
    users_with_numbers,
)
from phoneprov_adapters.sql.stores.inventory.extensions import SqlLinks
from phoneprov_adapters.sql.stores.inventory.profiles import SqlProfiles
from phoneprov_adapters.sql.stores.people.auth import ACCOUNT, RIGHT, with_level, with_right
from phoneprov_adapters.sql.stores.store import Removes, SqlQueries, SqlSearchedStore, SqlStore
from phoneprov_adapters.sql.tables.inventory import (
    VENDOR_USERS,
    extensions,
    user_extensions,
    vendor_users,
)
from phoneprov_adapters.sql.tables.people import (
    API_TOKENS,
    PERSONAL_CONTACTS,
    RIGHTS,
    USERS,
    api_tokens,
    assignments,
    passwords,
    permissions,
    username_looks,
    users,
)
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.access import Assignment, AssignmentStore
from phoneprov_core.people.me import ApiTokenRecord, ApiTokenStore, TokenPrincipal
from phoneprov_core.people.users.model import User, looks_alike
from phoneprov_core.people.users.use_cases import UserStore
from phoneprov_core.people.vendor_users import VendorUser, VendorUserStore

_OF_TOKEN = (
    select(
        *ACCOUNT,
        *(api_tokens.c[name] for name in ("uuid", "name", "read_only", "last_used_at")),
        *RIGHT,
    )
    .select_from(with_level(api_tokens))
    .where(
        api_tokens.c.hash == bindparam("hash"),
        or_(api_tokens.c.expires_at.is_(None), api_tokens.c.expires_at > bindparam("now")),
        users.c.is_active.is_(True),
    )
)
_TOUCH = (
    update(api_tokens)
    .where(
        api_tokens.c.uuid == bindparam("token_uuid"),
        or_(api_tokens.c.last_used_at.is_(None), api_tokens.c.last_used_at <= bindparam("at")),
    )
    .values(last_used_at=bindparam("at"), hash=bindparam("new_hash"))
)


class SqlApiTokens(SqlStore[ApiTokenRecord], ApiTokenStore):
    """API tokens, found by the hash of their text."""

    records = API_TOKENS

    async def principal(self, hash_: str, now: str) -> TokenPrincipal | None:
        row = await self._connection.fetch_one(_OF_TOKEN, hash=hash_, now=now)
        return None if row is None else TokenPrincipal(*with_right(row))

    async def touch(self, uuid: str, at: str, hash_: str) -> None:
        await self._connection.execute(_TOUCH, token_uuid=uuid, at=at, new_hash=hash_)

    async def end_all(self, user_uuid: str) -> None:
        await self.remove_of("user_uuid", user_uuid)


_COLUMNS = USERS.fields.columns
_BY_USERNAME = select(*_COLUMNS).where(users.c.username_key == bindparam("username_key"))
_OTHERS_OF_THESE_NAMES = select(users.c.username_key, users.c.email_key).where(
    or_(
        users.c.username_key == bindparam("username_key"),
        users.c.email_key == bindparam("email_key"),
    ),
    users.c.uuid != bindparam("uuid"),
)
_BY_EXTENSION = (
    select(*_COLUMNS)
    .select_from(
        extensions.join(
            user_extensions, user_extensions.c.extension_uuid == extensions.c.uuid
        ).join(users, users.c.uuid == user_extensions.c.user_uuid)
    )
    .where(extensions.c.extension == bindparam("number"), extensions.c.is_active.is_(True))
    .limit(2)
)
_WITH_PASSWORD = (
    select(*_COLUMNS, passwords.c.hash)
    .select_from(users.join(passwords, passwords.c.user_uuid == users.c.uuid))
    .where(users.c.username_key == bindparam("username_key"))
)
_LOGGED_IN = (
    update(users)
    .where(users.c.uuid == bindparam("user_uuid"), users.c.is_active.is_(True))
    .values(last_login_ip=bindparam("ip"), last_login_at=bindparam("at"))
    .returning(*_COLUMNS)
)
_PASSWORD_HASH = select(passwords.c.hash).where(passwords.c.user_uuid == bindparam("user_uuid"))
_SET_PASSWORD_HASH = upsert(passwords, ["user_uuid"], "hash")
_UNCLAIM = delete(username_looks).where(username_looks.c.user_uuid == bindparam("user_uuid"))
_CLAIM = (
    insert_into(username_looks)
    .on_conflict_do_nothing(index_elements=["look"])
    .returning(username_looks.c.look)
)


class SqlUsers(SqlSearchedStore[User], UserStore):
    """Accounts, with the comparable forms of their names."""

    records = USERS.searched_with(
        conditions={"number": users.c.uuid.in_(users_with_number())},
        people=users_with_numbers,
        orders={"number": (first_number(users.c.uuid), users)},
    )

    def _dependents(self) -> Sequence[tuple[Removes, str]]:
        on = self._connection
        contacts, rights = SqlStore(on, PERSONAL_CONTACTS), SqlStore(on, RIGHTS)
        tokens = SqlApiTokens(on)
        owned = (
            SqlProfiles(on), contacts, SqlVendorUsers(on), tokens, SqlIdentities(on), SqlLinks(on),
            SqlAssignments(on), rights,
        )  # fmt: skip
        return [(store, "user_uuid") for store in owned]

    def _row_of(self, entity: User) -> dict[str, Any]:
        row = super()._row_of(entity)
        row["username_key"] = caseless(entity.username)
        row["email_key"] = caseless(entity.email)
        return row

    async def by_username(self, username: str) -> User | None:
        if "\0" in username:
            return None  # PostgreSQL refuses NUL in text, also in parameters of comparisons.
        return await self._found(_BY_USERNAME, username_key=caseless(username))

    async def taken_fields(self, user: User) -> list[str]:
        names = {"username_key": caseless(user.username), "email_key": caseless(user.email)}
        others = await self._connection.fetch_all(_OTHERS_OF_THESE_NAMES, uuid=user.uuid, **names)
        taken = {pair for row in others for pair in zip(names, row, strict=True)}
        return [key.removesuffix("_key") for key in names if (key, names[key]) in taken]

    async def by_extension(self, number: str) -> list[User]:
        if "\0" in number:
            return []
        found = await self._connection.fetch_all(_BY_EXTENSION, number=number)
        return [self._entity_of(row) for row in found]

    async def with_password(self, username: str) -> tuple[User, str] | None:
        if "\0" in username:
            return None
        row = await self._connection.fetch_one(_WITH_PASSWORD, username_key=caseless(username))
        return None if row is None else (self._entity_of(row[:-1]), row[-1])

    async def logged_in(self, user_uuid: str, ip: str, at: str) -> User | None:
        return await self._found(_LOGGED_IN, user_uuid=user_uuid, ip=ip, at=at)

    async def claim_looks(self, user_uuid: str, looks: frozenset[str]) -> None:
        await self._connection.execute(_UNCLAIM, user_uuid=user_uuid)
        for look in sorted(looks):  # In sorted order, so that two claims do not deadlock.
            if not await self._connection.fetch_all(_CLAIM, look=look, user_uuid=user_uuid):
                raise looks_alike()

    async def password_hash(self, user_uuid: str) -> str | None:
        return await self._one(str, _PASSWORD_HASH, user_uuid=user_uuid)

    async def set_password_hash(
        self, user_uuid: str, hash_: str, *, same_password: bool = False
    ) -> None:
        await self._connection.fetch_all(_SET_PASSWORD_HASH, user_uuid=user_uuid, hash=hash_)
        trail = self._connection.trail
        if same_password or not trail.active:
            return
        if user := trail.known(User, user_uuid) or await self.find(user_uuid):
            trail.changed(user_uuid, user, user, secrets=("password",))


_ASSIGNED_TO = (
    select(
        assignments.c.uuid,
        assignments.c.user_uuid,
        assignments.c.perm_uuid,
        permissions.c.level,
        permissions.c.name,
        assignments.c.created_at,
    )
    .join(permissions, permissions.c.uuid == assignments.c.perm_uuid)
    .where(assignments.c.user_uuid == bindparam("user_uuid"))
)
_ASSIGN = upsert(assignments, ["user_uuid"], "uuid", "perm_uuid", "created_at")
_UNASSIGN = (
    delete(assignments)
    .where(assignments.c.user_uuid == bindparam("user_uuid"))
    .returning(assignments.c.uuid)
)
_ANOTHER_SUPERADMIN = (
    select(assignments.c.user_uuid)
    .join(permissions, permissions.c.uuid == assignments.c.perm_uuid)
    .join(users, users.c.uuid == assignments.c.user_uuid)
    .where(
        assignments.c.user_uuid != bindparam("besides"),
        users.c.is_active.is_(True),
        permissions.c.level <= bindparam("largest_level"),
    )
    .limit(1)
)
_ANY_LEVEL = 2**63 - 1


class SqlAssignments(SqlQueries, AssignmentStore):
    """Assignments; level and name come from the permission when they are read."""

    async def of_user(self, user_uuid: str) -> Assignment | None:
        return await self._one(Assignment, _ASSIGNED_TO, user_uuid=user_uuid)

    async def assign(self, assignment: Assignment) -> None:
        trail = self._connection.trail
        before = await self.of_user(assignment.user_uuid) if trail.active else None
        await self._connection.fetch_all(_ASSIGN, **msgspec.structs.asdict(assignment))
        trail.changed(assignment.user_uuid, before, assignment)

    async def remove(self, user_uuid: str) -> bool:
        trail = self._connection.trail
        before = await self.of_user(user_uuid) if trail.active else None
        removed = bool(await self._connection.fetch_all(_UNASSIGN, user_uuid=user_uuid))
        if removed:
            trail.changed(user_uuid, before, None)
        return removed

    async def remove_of(self, column: str, owner: str) -> None:  # noqa: ARG002 - one a user
        """Remove the assignment of a user."""
        await self.remove(owner)

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        await self._connection.execute(LOCK_REVISION)
        largest = rule.largest_that_holds_superadmin()
        row = await self._connection.fetch_one(
            _ANOTHER_SUPERADMIN,
            besides=besides,
            largest_level=_ANY_LEVEL if largest is None else largest,
        )
        return row is not None


_SAVE_PIN = upsert(vendor_users, ["user_uuid"], "pin_code").returning(*VENDOR_USERS.fields.columns)


class SqlVendorUsers(SqlStore[VendorUser], VendorUserStore):
    """PINs, by user."""

    records = VENDOR_USERS

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        return await self._found(self.records.find, key=user_uuid)

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        (kept,) = await self._connection.fetch_all(_SAVE_PIN, **self._row_of(vendor_user))
        saved = VendorUser(*kept)
        # A record that existed keeps its uuid. The PIN counts as changed even if it is the same.
        before = None if saved.uuid == vendor_user.uuid else saved
        self._connection.trail.changed(
            saved.user_uuid, before, saved, secrets=("pin_code",) if before else ()
        )
        return saved
