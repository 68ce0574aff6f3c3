"""Accounts with their assignments and PINs, extensions and links in memory."""

from typing import TypeVar

import msgspec
from msgspec import Struct

from phoneprov_adapters.memory.kinds import (
    ASSIGNMENTS,
    EXTENSIONS,
    LINKS,
    LOOKS,
    PASSWORDS,
    PERMISSIONS,
    USERS,
    VENDOR_USERS,
    Look,
    Password,
)
from phoneprov_adapters.memory.records import EVERY
from phoneprov_adapters.memory.store import (
    MemoryQueries,
    MemoryRows,
    MemorySearchedStore,
    MemoryStore,
)
from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.kernel.actor import SUPERADMIN, LevelRule
from phoneprov_core.kernel.errors import already_taken
from phoneprov_core.kernel.store import Rows
from phoneprov_core.links import FullLink, Link, LinkedExtension, LinkedUser, LinkStore
from phoneprov_core.users.model import User, folded
from phoneprov_core.users.names import looks_alike
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_users import VendorUser, VendorUserStore

E = TypeVar("E", bound=Struct)


class MemoryUsers(MemorySearchedStore[User], UserStore):
    """Accounts; their passwords are stored separately."""

    kind = USERS

    async def by_username(self, username: str) -> User | None:
        found = self._tables.of(USERS).group(("username", folded(username)))
        return next(found, None)

    async def taken_fields(self, user: User) -> list[str]:
        users = self._tables.of(USERS)
        return [
            field
            for field in ("username", "email")
            if any(
                other.uuid != user.uuid
                for other in users.group((field, folded(getattr(user, field))))
            )
        ]

    async def by_extension(self, number: str) -> User | None:
        extension = next(self._tables.of(EXTENSIONS).group(("extension", number)), None)
        if extension is None or not extension.is_active:
            return None
        links = list(self._tables.of(LINKS).group(("extension_uuid", extension.uuid)))
        return self._tables.of(USERS).get(links[0].user_uuid) if len(links) == 1 else None

    async def with_password(self, username: str) -> tuple[User, str] | None:
        user = await self.by_username(username)
        hash_ = await self.password_hash(user.uuid) if user else None
        return (user, hash_) if user and hash_ is not None else None

    async def logged_in(self, user_uuid: str, ip: str, at: str) -> User | None:
        user = await self.find(user_uuid)
        if user is None or not user.is_active:
            return None
        user = msgspec.structs.replace(user, last_login_ip=ip, last_login_at=at)
        await self.put(user)
        return user

    async def claim_looks(self, user_uuid: str, looks: frozenset[str]) -> None:
        table = self._tables.of(LOOKS)
        for claimed in list(table.group(("user_uuid", user_uuid))):
            table.discard(claimed.look)
        for look in looks:
            if table.get(look) is not None:
                raise looks_alike()
            self._tables.put(LOOKS, Look(look, user_uuid))

    async def password_hash(self, user_uuid: str) -> str | None:
        password = self._tables.of(PASSWORDS).get(user_uuid)
        return None if password is None else password.hash

    async def set_password_hash(
        self, user_uuid: str, hash_: str, *, same_password: bool = False
    ) -> None:
        self._tables.put(PASSWORDS, Password(user_uuid, hash_))
        if not same_password:
            user = await self.find(user_uuid)
            self._tables.trail.changed(user_uuid, user, user, secrets=("password",))


class MemoryAssignments(MemoryQueries, AssignmentStore):
    """Assignments; level and name come from the permission when they are read."""

    async def of_user(self, user_uuid: str) -> Assignment | None:
        assignment = self._tables.of(ASSIGNMENTS).get(user_uuid)
        if assignment is None:
            return None
        permission = self._permission(assignment)
        return msgspec.structs.replace(
            assignment, level=permission.level, perm_name=permission.name
        )

    async def assign(self, assignment: Assignment) -> None:
        before = await self.of_user(assignment.user_uuid)
        self._tables.put(ASSIGNMENTS, assignment)
        self._tables.trail.changed(assignment.user_uuid, before, assignment)

    async def remove(self, user_uuid: str) -> bool:
        before = await self.of_user(user_uuid)
        if not self._tables.remove(ASSIGNMENTS, user_uuid):
            return False
        self._tables.trail.changed(user_uuid, before, None)
        return True

    async def another_superadmin(self, besides: str, rule: LevelRule) -> bool:
        # Writing transactions run one after the other.
        users = self._tables.of(USERS)
        for assignment in self._tables.of(ASSIGNMENTS).group(EVERY):
            user = users.get(assignment.user_uuid)
            if user is None or user.uuid == besides or not user.is_active:
                continue
            if rule.holds(self._permission(assignment).level, SUPERADMIN):
                return True
        return False

    def _permission(self, assignment: Assignment) -> Permission:
        permission = self._tables.of(PERMISSIONS).get(assignment.perm_uuid)
        assert permission is not None  # A permission that is assigned cannot be removed.
        return permission


class MemoryVendorUsers(MemoryStore[VendorUser], VendorUserStore):
    """PINs, by user."""

    kind = VENDOR_USERS

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        return await self.find(user_uuid)

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        current = self._tables.of(VENDOR_USERS).get(vendor_user.user_uuid)
        if current is not None:
            vendor_user = msgspec.structs.replace(current, pin_code=vendor_user.pin_code)
        self._tables.put(VENDOR_USERS, vendor_user)
        before = None if current is None else vendor_user
        self._tables.trail.changed(
            vendor_user.user_uuid, before, vendor_user, secrets=("pin_code",) if before else ()
        )
        return vendor_user


class MemoryLinks(MemoryStore[Link], LinkStore):
    """Links, by uuid."""

    kind = LINKS

    async def add(self, entity: Link) -> None:
        others = self._tables.of(LINKS).group(("user_uuid", entity.user_uuid))
        if any(other.extension_uuid == entity.extension_uuid for other in others):
            raise already_taken("extension uuid", "extension_uuid")
        await super().add(entity)

    @property
    def full(self) -> Rows[FullLink]:
        return self._linked(FullLink, owner="user_uuid")

    @property
    def extensions(self) -> Rows[LinkedExtension]:
        return self._linked(LinkedExtension, owner="user_uuid")

    @property
    def users(self) -> Rows[LinkedUser]:
        return self._linked(LinkedUser, owner="extension_uuid")

    def _linked(self, view: type[E], *, owner: str) -> Rows[E]:
        def of_link(link: Link) -> E:
            user = self._tables.of(USERS).get(link.user_uuid)
            extension = self._tables.of(EXTENSIONS).get(link.extension_uuid)
            # A link is deleted with its user and with its extension.
            assert user is not None
            assert extension is not None
            values = {
                **msgspec.structs.asdict(link),
                "username": user.username,
                "first_name": user.first_name,
                "last_name": user.last_name,
                "extension": extension.extension,
                "ext_name": extension.name,
                "type": extension.type,
            }
            return view(**{name: values[name] for name in view.__struct_fields__})

        return MemoryRows(self._tables, LINKS, of_link, owner=owner)
