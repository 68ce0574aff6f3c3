"""What the caller may read of themselves."""

from __future__ import annotations

import msgspec

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.me.model import MeProfile, OwnPermission
from phoneprov_core.me.ports import MeTransaction


class Me:
    """The caller's own account."""

    def __init__(self, open_: ReadAndWrite[MeTransaction]) -> None:
        self._open = open_

    async def profile(self, actor: Actor) -> MeProfile:
        """The caller's account, permission and PIN."""
        async with self._open.read() as tx:
            user = found(await tx.users.find(actor.user_uuid), "user")
            assignment = await tx.assignments.of_user(actor.user_uuid)
            vendor_user = await tx.vendor_users.of_user(actor.user_uuid)
        permission = OwnPermission(assignment.level, assignment.perm_name) if assignment else None
        return MeProfile(
            **msgspec.structs.asdict(user), permission=permission, vendor_user=vendor_user
        )
