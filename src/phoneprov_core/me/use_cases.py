"""Reading of the caller's own account and of phones."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.me.model import EnrichedPhone, MeProfile, MeTransaction, OwnPermission

# A phone may have many KEMs: long lists are read in pieces of fewer phones.
PIECE = 250


@dataclass(frozen=True)
class Me:
    """The caller's own account, and the records that they work with."""

    database: ReadAndWrite[MeTransaction]

    async def profile(self, actor: Actor) -> MeProfile:
        """The caller's account, permission and PIN."""
        async with self.database.read() as tx:
            user = found(await tx.users.find(actor.user_uuid), "user")
            assignment = await tx.assignments.of_user(actor.user_uuid)
            vendor_user = await tx.vendor_users.of_user(actor.user_uuid)
        permission = OwnPermission(assignment.level, assignment.perm_name) if assignment else None
        return MeProfile(
            **msgspec.structs.asdict(user), permission=permission, vendor_user=vendor_user
        )

    async def phones(self, actor: Actor, page: Page = None) -> Listing[EnrichedPhone]:  # noqa: ARG002
        """Every phone of the inventory, oldest first: all callers may use any phone."""
        return await listing(self.database.read, lambda tx: tx.enriched_phones, page, piece=PIECE)
