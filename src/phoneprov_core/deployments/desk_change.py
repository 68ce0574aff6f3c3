"""A login or a logout that is part of a deployment."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from phoneprov_core.deployments.model import Deployment
from phoneprov_core.deployments.ports import DeploymentsTransaction
from phoneprov_core.desk_records import DeskUse, Due, end_uses
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.profiles.model import ProfileRecord


async def _no_answer() -> None:
    """No phone waits for an answer."""


class DeskChange(Struct, frozen=True):
    """A login or a logout that is part of a deployment: who uses the phone afterwards.

    ``turn`` is the turn of the phone in which it was asked for, None for any. ``answer`` is
    awaited once the file is in place, before the phone is called: the phone that asked gets its
    answer before it is restarted. ``forget_calls`` clears the phone's call history.
    """

    use: DeskUse
    turn: int | None = None
    refuse_elsewhere: bool = False
    end_elsewhere: bool = False
    forget_calls: bool = False
    answer: Callable[[], Awaitable[None]] = _no_answer


async def begin_change(tx: DeploymentsTransaction, desk: DeskChange, record: Deployment) -> None:
    """Record that a login or logout begins, in the next turn of the phone.

    Raises ``Conflict`` if its turn is over (code ``desk_changed``), or if the user may not be
    logged in twice (code ``logged_in_elsewhere``).
    """
    user_uuid = desk.use.user_uuid
    if user_uuid and desk.refuse_elsewhere:
        await tx.users.find(user_uuid)  # of two logins of a user one waits here
        if any(one.mac != record.mac for one in await tx.desks.of(user=user_uuid)):
            raise Conflict(
                "You are logged in at another phone. Log out there first.",
                code="logged_in_elsewhere",
            )
    current = (await tx.desks.find(record.mac)).in_turn(desk.turn)
    await tx.desks.put(current.changing(record.uuid, user_uuid))


async def change_use(
    tx: DeploymentsTransaction, mac: str, profile: ProfileRecord, desk: DeskChange | None, now: str
) -> None:
    """Record who uses the phone once it has the profile: without a login or logout the owner of
    the profile, or no user if it is the default profile of the phone."""
    if await tx.phones.find(mac) is None:
        return
    use = DeskUse(profile.user_uuid, profile.uuid) if desk is None else desk.use
    # Held until the end of the transaction: of two logins of a user one ends the other. Before
    # the desks: the deactivation of a user locks both in this order.
    user = await tx.users.find(use.user_uuid) if use.user_uuid else None
    if user is not None and desk is not None and desk.end_elsewhere:
        await end_uses(tx, user.uuid, besides=mac)
    current = await tx.desks.find(mac)
    if desk is None and current.default_profile_uuid == profile.uuid:
        use = DeskUse()
    used = current.used(use, now)
    if use.user_uuid and (user is None or not user.is_active):
        # Deleted or deactivated during the upload: the phone gets its default profile back.
        used = used.ended(Due.LOGOUT)
    await tx.desks.put(used)
