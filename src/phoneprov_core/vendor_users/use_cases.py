"""PINs, managed by their users and by superadmins."""

from __future__ import annotations

from dataclasses import dataclass

from phoneprov_core.access.rules import require_owner
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import NotFound, found
from phoneprov_core.kernel.ids import NewId, known_id
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown
from phoneprov_core.vendor_users.model import (
    NewPin,
    PinHasher,
    VendorUser,
    VendorUsersTransaction,
    guess_key,
)


@dataclass(frozen=True)
class VendorUsers:
    """The PIN of each user. Every use case raises ``Forbidden`` for another user's PIN."""

    database: ReadAndWrite[VendorUsersTransaction]
    hasher: PinHasher
    clock: Clock
    new_id: NewId

    async def get(self, actor: Actor, user_uuid: str) -> VendorUser:
        """Raises ``NotFound`` if the user does not exist or has no PIN."""
        owner = known_id(user_uuid)
        require_owner(actor, owner)
        async with self.database.read() as tx:
            found(await tx.users.find(owner), "user")
            vendor_user = await tx.vendor_users.of_user(owner)
        if vendor_user is None:
            raise _no_pin()
        return vendor_user

    async def save(self, actor: Actor, user_uuid: str, new: NewPin) -> VendorUser:
        """Set the user's PIN, which opens its lock after wrong ones; an existing record keeps its
        uuid.

        Raises ``NotFound`` if the user does not exist.
        """
        owner = known_id(user_uuid)
        require_owner(actor, owner)
        async with self.database.read() as tx:
            found(await tx.users.find(owner), "user")
        # The hash takes long: it is computed before the transaction begins.
        hash_ = await self.hasher.hash_pin(new.pin_code)
        vendor_user = VendorUser(self.new_id(), owner, hash_, shown(self.clock()))
        async with self.database.write(by=actor) as tx:
            saved = await tx.vendor_users.save(vendor_user)
            await tx.attempts.clear(guess_key(owner))
        return saved

    async def delete(self, actor: Actor, user_uuid: str) -> None:
        """Raises ``NotFound`` if the user does not exist or has no PIN."""
        owner = known_id(user_uuid)
        require_owner(actor, owner)
        async with self.database.write(by=actor) as tx:
            found(await tx.users.find(owner), "user")
            if not await tx.vendor_users.remove(owner):
                raise _no_pin()


def _no_pin() -> NotFound:
    return NotFound("This user has no PIN.")
