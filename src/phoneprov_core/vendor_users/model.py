"""PINs. Only a hash with a secret key is stored and returned: without the key, the few possible
PINs cannot be tried."""

from __future__ import annotations

import hashlib
from typing import Annotated, Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.field_types import SECRET
from phoneprov_core.kernel.fields import CreatedAt, PinCode, RecordUuid, UserUuid, schema
from phoneprov_core.kernel.redaction import Redacted
from phoneprov_core.users.ports import ClearAttempts


class VendorUser(Redacted, frozen=True):
    """A user's PIN, as a hash."""

    uuid: RecordUuid
    user_uuid: UserUuid
    pin_code: Annotated[
        str,
        SECRET,
        schema(
            description="Hash of the PIN, made with a secret key",
            examples=["$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$..."],
        ),
    ]
    created_at: CreatedAt


class NewPin(Command, frozen=True, kw_only=True):
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
    """Slow hashes of PINs with a secret key; bounded like those of passwords."""

    async def hash_pin(self, pin: str) -> str:
        """A salted hash that cannot be verified without the key."""

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        """Whether the PIN matches this hash, under any of the keys."""


class VendorUsersTransaction(Protocol):
    """Stores that the use cases of PINs use."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def attempts(self) -> ClearAttempts: ...
