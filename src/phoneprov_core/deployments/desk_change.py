"""A login or a logout that is part of a deployment."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from phoneprov_core.deployments.errors import DeskChanged
from phoneprov_core.deployments.model import Deployment
from phoneprov_core.deployments.ports import DeploymentsTransaction, DeskUse
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
        if await tx.desks.is_elsewhere(user_uuid, record.mac):
            raise Conflict(
                "You are logged in at another phone. Log out there first.",
                code="logged_in_elsewhere",
            )
    if not await tx.desks.take_turn(record.mac, desk.turn):
        raise DeskChanged
    await tx.desks.begin_change(record.mac, record.uuid, user_uuid)


async def change_use(
    tx: DeploymentsTransaction, mac: str, profile: ProfileRecord, desk: DeskChange | None, now: str
) -> None:
    """Record who uses the phone once it has the profile: without a login or logout the owner of
    the profile, or no user if it is the default profile of the phone."""
    if await tx.phones.find(mac) is None:
        return
    if desk is not None:
        use = desk.use
    elif await tx.desks.default_profile(mac) == profile.uuid:
        use = DeskUse()
    else:
        use = DeskUse(profile.user_uuid, profile.uuid)
    # Held until the end of the transaction: of two logins of a user one ends the other.
    user = await tx.users.find(use.user_uuid) if use.user_uuid else None
    if user is not None and desk is not None and desk.end_elsewhere:
        await tx.desks.end_elsewhere(user.uuid, mac)
    await tx.desks.use(mac, use, now)
    if use.user_uuid and (user is None or not user.is_active):
        # Deleted or deactivated during the upload: the phone gets its default profile back.
        await tx.desks.end_user(use.user_uuid)
