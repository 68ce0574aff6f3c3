"""Store port and hasher for PINs."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.users.ports import ClearAttempts
from phoneprov_core.vendor_users.model import VendorUser


class VendorUserStore(Protocol):
    """PINs, by user; a user has at most one."""

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        """The user's PIN, or None."""
        ...

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        """Add or replace the user's PIN in one statement, and return the stored record: an existing
        record keeps its uuid and created_at. Raises ``NotFound`` if the user does not exist."""
        ...

    async def remove(self, user_uuid: str) -> bool:
        """Remove the PIN; False if there was none."""
        ...


class PinHasher(Protocol):
    """Slow hashes of PINs with a secret key; bounded like those of passwords."""

    async def hash_pin(self, pin: str) -> str:
        """A salted hash that cannot be verified without the key."""
        ...

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        """Whether the PIN matches this hash, under any of the keys."""
        ...


class VendorUsersTransaction(Protocol):
    """Stores that the use cases of PINs use."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def attempts(self) -> ClearAttempts: ...
