"""Who uses a phone before and after a deployment: desks take part in deployments."""

from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from phoneprov_core.features.desks.records import (
    DeskRecord,
    DeskRecords,
    DeskUse,
    Due,
    EarlierUse,
    end_uses,
)
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.ports import Clock
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Deployment, Outcome
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.deployments.ports import (
    DeploymentStore,
    DeploymentsTransaction,
    RequestPart,
)
from phoneprov_core.switching.deployments.records import Participant

LOGIN_ENDED = "The login of that time has ended; no user is logged in."
"""The note of a rollback to the configuration of a user."""


class DeskChange(RequestPart, frozen=True):
    """A login or a logout that is part of a deployment: who uses the phone afterwards.

    ``version`` is the desk's version when the change was requested; None accepts any. ``left`` is
    whether the user has logged out while the phone keeps the user's profile.
    """

    use: DeskUse
    version: int | None = None
    left: bool = False
    refuse_elsewhere: bool = False
    end_elsewhere: bool = False


class UseBack(RequestPart, frozen=True):
    """The use of the phone that is restored with an earlier text."""

    use: EarlierUse


async def _no_answer(_is_recorded: bool) -> None:
    """Used when no phone waits for a response. The lease is checked again before the phone is
    called."""


def with_change(request: DeploymentRequest, change: DeskChange) -> DeploymentRequest:
    """The request as a login or logout. The limits do not count a logout: the switch or login
    before it was counted."""
    is_login = change.use.user_uuid is not None
    return replace(request.having(change), is_counted=is_login, answer=_no_answer)


def _is_of_batch(request: DeploymentRequest) -> bool:
    """Whether the request belongs to a batch: only a batch chooses the uuid of the record."""
    return request.uuid is not None and request.part(DeskChange) is None


class UsesOfDeployments(DeploymentStore, Protocol):
    """The record of deployments, with the user of the phone during each deployment."""

    async def keep_use(self, following: Deployment, use: EarlierUse) -> None:
        """Record the use of the phone before this deployment. It is stored with the last earlier
        deployment whose file was certainly in place, and deleted with it."""

    async def use_with(self, deployment: Deployment) -> EarlierUse | None:
        """The use of the phone between this deployment and the next one; None if there is no next
        one."""

    async def logged_in_since(self, user_uuid: str, since: str, besides: str) -> bool:
        """Whether a user has logged in at a phone after this moment, not counting one phone."""


class OccupancyTransaction(DeploymentsTransaction, Protocol):
    """Stores of the users of phones."""

    @property
    def deployments(self) -> UsesOfDeployments: ...
    @property
    def desks(self) -> DeskRecords: ...


@dataclass(frozen=True)
class Occupancy(Participant[OccupancyTransaction]):
    """Records who uses the phone with each deployment. ``serves_lines`` is whether the exchange
    asks for lines; ``several_logins``, whether a user may be logged in at several phones."""

    clock: Clock
    serves_lines: bool = False
    several_logins: bool = False

    async def restored(
        self, tx: OccupancyTransaction, request: DeploymentRequest, earlier: Deployment
    ) -> DeploymentRequest:
        """The request that gives back who used the phone with the earlier text."""
        use, is_over = await self.use_to_give_back(tx, request.phone, earlier)
        if (use.user_uuid or use.left_user_uuid) not in {None, request.profile.user_uuid}:
            return request  # the profile has another owner now
        return replace(request.having(UseBack(use)), note=LOGIN_ENDED if is_over else None)

    async def use_to_give_back(
        self, tx: OccupancyTransaction, phone: Phone, earlier: Deployment
    ) -> tuple[EarlierUse, bool]:
        """The use of the phone during an earlier deployment; the present use if no deployment
        followed. The second value is True if this use would have ended since; then it is returned
        as ended."""
        now = timestamp(self.clock())
        desk = await tx.desks.find(phone.mac)
        use = await tx.deployments.use_with(earlier) or desk.use_until(now)
        is_over = await has_ended(tx, use, desk, now, several=self.several_logins)
        return use.ended() if is_over else use, is_over

    async def begun(
        self, tx: OccupancyTransaction, request: DeploymentRequest, record: Deployment
    ) -> None:
        """Record that the use is about to change. Raises ``Conflict`` like ``begin_change``."""
        change = request.part(DeskChange)
        if change is not None:
            await begin_change(tx, change, record)
        elif not _is_of_batch(request):  # a batch repeats a switch that a crash interrupted
            desk = await tx.desks.find(record.mac)
            await tx.desks.put(desk.changing(record.uuid))

    async def placed(
        self, tx: OccupancyTransaction, request: DeploymentRequest, record: Deployment
    ) -> None:
        """Record who uses the phone from now on."""
        now = timestamp(self.clock())
        await change_use(tx, request, record, now, several=self.several_logins)

    async def ended(
        self,
        tx: OccupancyTransaction,
        request: DeploymentRequest,
        record: Deployment,
        before: Deployment,
    ) -> None:
        """Record that the change is complete, unless it has to be repaired."""
        # A phone that restarted before its lines were known is repaired: restarted again.
        was_placed = before.place is not None
        is_early = self.serves_lines and record.outcome is Outcome.DEPLOYED and not was_placed
        is_login = request.part(DeskChange) is not None
        is_settled = record.outcome in (_SETTLED if is_login else _REPORTED)
        if is_settled and not is_early:
            desk = await tx.desks.find(record.mac)
            await tx.desks.put(desk.changed(record.uuid))


async def begin_change(tx: OccupancyTransaction, desk: DeskChange, record: Deployment) -> None:
    """Record that a login or logout begins, with the next version of the desk.

    Raises ``Conflict`` if the desk has another version (code ``desk_changed``), or if the user may
    not be logged in twice (code ``logged_in_elsewhere``).
    """
    user_uuid = desk.use.user_uuid
    if user_uuid and desk.refuse_elsewhere:
        await tx.users.find(user_uuid)  # of two logins of a user one waits here
        if any(one.mac != record.mac for one in await tx.desks.of(user=user_uuid)):
            raise Conflict(
                "You are logged in at another phone. Log out there first.",
                code="logged_in_elsewhere",
            )
    current = (await tx.desks.find(record.mac)).next_version(desk.version)
    await tx.desks.put(current.changing(record.uuid, user_uuid))


async def has_ended(
    tx: OccupancyTransaction, use: EarlierUse, desk: DeskRecord, now: str, *, several: bool
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
    tx: OccupancyTransaction,
    request: DeploymentRequest,
    record: Deployment,
    now: str,
    *,
    several: bool = False,
) -> None:
    """Record who uses the phone once it has the profile: without a login or logout the owner of
    the profile, or no user if it is the default profile of the phone; and who used it until then.

    A batch that brings another profile or text of the same user begins no login: the current
    login keeps its end, and a user who has left the phone stays logged out.
    """
    mac, profile = request.phone.mac, request.profile
    desk, given = request.part(DeskChange), request.part(UseBack)
    back = None if given is None else given.use
    if await tx.phones.find(mac) is None:
        return
    use = DeskUse(profile.user_uuid, profile.uuid) if desk is None else desk.use
    # Held until the end of the transaction: of two logins of a user one ends the other. Before
    # the desks: the deactivation of a user locks both in this order.
    holder = use.user_uuid if back is None else back.user_uuid
    user = await tx.users.find(holder) if holder else None
    if back is not None and back.profile_uuid:
        await tx.profiles.find(back.profile_uuid)  # before the desk, as its deletion
    if user is not None and desk is not None and desk.end_elsewhere:
        await end_uses(tx, user.uuid, besides=mac)
    current = await tx.desks.find(mac)
    await tx.deployments.keep_use(record, current.use_until(now))
    if back is not None:
        given_back = current.given_back(back)
        is_over = await has_ended(tx, back, current, now, several=several)
        await tx.desks.put(given_back.ended(Due.LOGOUT) if is_over else given_back)
        return
    is_default = desk is None and current.default_profile_uuid == profile.uuid
    if _is_of_batch(request) and not is_default:
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


_SETTLED = frozenset({Outcome.DEPLOYED, Outcome.FAILED})
"""After any other outcome of a login or logout the file on the server may be the old or the new
one: the change stays recorded, and is repaired."""
_REPORTED = _SETTLED | {Outcome.UNKNOWN}
"""Outcomes of a switch or rollback that leave the next step to its caller."""
