"""Accounts in memory."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from phoneprov_adapters.memory.records import Kind, OnRemove, Reference, Unique
from phoneprov_adapters.memory.store import MemorySearchedStore
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.users.model import USER_FIELDS, User, folded
from phoneprov_core.users.passwords import looks_alike
from phoneprov_core.users.ports import UserStore


class Password(Struct, frozen=True):
    """The hash of an account's password."""

    user_uuid: str
    hash: str

    def __repr__(self) -> str:
        return redacted(self, "hash")


USERS: Kind[User] = Kind(
    "user",
    search=USER_FIELDS,
    unique=(
        Unique("username", "username", lambda user: folded(user.username)),
        Unique("email", "e-mail address", lambda user: folded(user.email)),
    ),
)
PASSWORDS: Kind[Password] = Kind(
    "password",
    key="user_uuid",
    created="user_uuid",
    references=(Reference("user_uuid", USERS, OnRemove.GO_ALONG),),
)


class Look(Struct, frozen=True):
    """The look of an account's username."""

    look: str
    user_uuid: str


LOOKS: Kind[Look] = Kind(
    "look",
    key="look",
    created="look",
    references=(Reference("user_uuid", USERS, OnRemove.GO_ALONG),),
)


class MemoryUsers(MemorySearchedStore[User], UserStore):
    """Accounts; their passwords are stored separately."""

    kind = USERS

    async def by_username(self, username: str) -> User | None:
        found = self._tables.of(USERS).group(("username", folded(username)))
        return next(found, None)

    async def by_extension(self, number: str) -> User | None:
        # Links refer to users, so their module imports this one.
        from phoneprov_adapters.memory.extensions import EXTENSIONS  # noqa: PLC0415
        from phoneprov_adapters.memory.links import LINKS  # noqa: PLC0415

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
