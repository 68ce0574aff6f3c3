"""Who uses a phone before and after a deployment."""

from msgspec.structs import replace

from phoneprov_core.features.desks.records import DeskRecord, DeskUse, Due, EarlierUse, end_uses
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.order import DeploymentRequest, DeskChange
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction


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


async def has_ended(
    tx: DeploymentsTransaction, use: EarlierUse, desk: DeskRecord, now: str, *, several: bool
) -> bool:
    """Whether an earlier use of a phone would have ended since: its time is over, its user has left
    the phone, may no longer use it, or has logged in elsewhere, unless users may be logged in at
    ``several`` phones."""
    if use.user_uuid is None:
        return use.is_due
    if use.until is not None and use.until <= now:
        return True
    if desk.user_uuid is None and desk.left_user_uuid == use.user_uuid:
        return True
    user = await tx.users.find(use.user_uuid)
    profile = await tx.profiles.find(use.profile_uuid or "")
    if user is None or not user.is_active or (profile and profile.user_uuid != user.uuid):
        return True
    return not several and await tx.deployments.logged_in_since(user.uuid, use.at, desk.mac)


async def change_use(
    tx: DeploymentsTransaction,
    order: DeploymentRequest,
    record: Deployment,
    now: str,
    *,
    several: bool = False,
) -> None:
    """Record who uses the phone once it has the profile: without a login or logout the owner of
    the profile, or no user if it is the default profile of the phone; and who used it until then.

    A batch that brings another profile or text of the same user begins no login: the one that there
    is keeps its end, and who has left the phone has still left it.
    """
    mac, profile, desk = order.phone.mac, order.profile, order.desk
    if await tx.phones.find(mac) is None:
        return
    use = DeskUse(profile.user_uuid, profile.uuid) if desk is None else desk.use
    # Held until the end of the transaction: of two logins of a user one ends the other. Before
    # the desks: the deactivation of a user locks both in this order.
    holder = use.user_uuid if order.back is None else order.back.user_uuid
    user = await tx.users.find(holder) if holder else None
    if order.back is not None and order.back.profile_uuid:
        await tx.profiles.find(order.back.profile_uuid)  # before the desk, as its deletion
    if user is not None and desk is not None and desk.end_elsewhere:
        await end_uses(tx, user.uuid, besides=mac)
    current = await tx.desks.find(mac)
    await tx.deployments.keep_use(record, current.use_until(now))
    if order.back is not None:
        back = current.given_back(order.back)
        is_over = await has_ended(tx, order.back, current, now, several=several)
        await tx.desks.put(back.ended(Due.LOGOUT) if is_over else back)
        return
    is_default = desk is None and current.default_profile_uuid == profile.uuid
    if order.is_of_batch and not is_default:
        if profile.user_uuid == current.user_uuid:
            await tx.desks.put(replace(current, profile_uuid=profile.uuid))
        if profile.user_uuid in {current.user_uuid, current.left_user_uuid}:
            return
    if is_default:
        use = DeskUse()
    left = profile.user_uuid if desk is not None and desk.left else None
    used = current.used(use, now, left=left)
    if use.user_uuid and (user is None or not user.is_active):
        # Deleted or deactivated during the upload: the phone gets its default profile back.
        used = used.ended(Due.LOGOUT)
    await tx.desks.put(used)
