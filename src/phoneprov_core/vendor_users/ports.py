"""Where PINs are kept, and how they are hashed."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.users.ports import ClearAttempts
from phoneprov_core.vendor_users.model import VendorUser


class VendorUserStore(Protocol):
    """At most one PIN a user."""

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        """The user's PIN, or None."""
        ...

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        """Put it in the place of the user's current one, in one statement, and answer what
        is kept then: an existing record keeps its uuid and created_at. Raises ``NotFound``
        when the user is gone."""
        ...

    async def remove(self, user_uuid: str) -> bool:
        """Whether there was one."""
        ...


class PinHasher(Protocol):
    """Slow hashes of PINs, made with a secret key; bounded like those of passwords."""

    async def hash_pin(self, pin: str) -> str:
        """A salted hash that cannot be searched without the key."""
        ...

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        """Whether the PIN made this hash, under any of the keys."""
        ...


class VendorUsersTransaction(Protocol):
    """What PINs are kept in."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def attempts(self) -> ClearAttempts: ...
