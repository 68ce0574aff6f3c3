"""Who uses each phone: the record of a desk, its rules, and its store. Accounts, profiles, phones,
deployments and desks change these records, each by the same steps: find the record in a writing
transaction, which locks it, and put what a rule makes of it."""

from enum import Enum
from typing import Protocol, Self

from msgspec import Struct
from msgspec.structs import asdict, replace

from phoneprov_core.kernel.actor import UseCaseTrail
from phoneprov_core.kernel.errors import Conflict


class DeskChanged(Conflict):
    """The desk changed since it was read."""

    code = "desk_changed"
    usual = "This page is out of date. Press Services and begin again."


class Due(Enum):
    """Why a phone has to get its default profile back."""

    LOGOUT = "logout"
    EXPIRY = "expiry"
    LINES = "lines"
    """No user was logged in, and the owner of the profile lost the right to it: the phone has to
    restart without the owner's lines."""


class DeskUse(Struct, frozen=True):
    """Who uses a phone, with which profile, until when; None for no user, and without an end."""

    user_uuid: str | None = None
    profile_uuid: str | None = None
    until: str | None = None


class EarlierUse(Struct, frozen=True, omit_defaults=True):
    """Who used a phone until another deployment followed at the time ``at``: fields of
    ``DeskRecord``. ``is_due`` is whether a logout was due."""

    at: str
    user_uuid: str | None = None
    profile_uuid: str | None = None
    since: str | None = None
    until: str | None = None
    left_user_uuid: str | None = None
    is_due: bool = False

    def ended(self) -> Self:
        """This use after its end: the phone has the profile of a user who has left."""
        left = self.user_uuid or self.left_user_uuid
        return replace(type(self)(self.at), left_user_uuid=left)


class DeskRecord(Struct, frozen=True):
    """The stored record of a desk.

    ``version`` grows with every change of the use: what was shown to a phone at one version cannot
    change anything in a later one. ``due`` is set when the use has ended and the phone still
    has the user's profile. ``change_uuid`` is the deployment that is under way, or that a crash
    interrupted, and ``change_user_uuid`` the user that it logs in; deployments of batches are not
    recorded here. Until ``not_before``, in milliseconds since 1970, nothing is repaired.
    ``left_user_uuid`` is the user whose use has ended while the phone still has this user's
    profile. ``extension_uuid`` is the number of the desk itself. ``ends_at`` is the time of day at
    which logins here end, with its zone; None for the hours of the office. ``problem`` is why
    the last attempt to settle the desk failed.
    """

    mac: str
    default_profile_uuid: str | None = None
    hotdesk: bool = True
    version: int = 0
    user_uuid: str | None = None
    profile_uuid: str | None = None
    since: str | None = None
    until: str | None = None
    due: Due | None = None
    change_uuid: str | None = None
    change_user_uuid: str | None = None
    not_before: int = 0
    left_user_uuid: str | None = None
    extension_uuid: str | None = None
    ends_at: str | None = None
    problem: str | None = None

    def waits(self, holder: str | None) -> bool:
        """Whether its phone still has to get what the desk says; ``holder`` has the phone's lease.
        A change that is under way is no reason to wait."""
        if self.change_uuid is not None:
            return self.change_uuid != holder
        return self.due is not None

    @property
    def wanted_profile_uuid(self) -> str | None:
        """The profile that the phone should have."""
        return self.default_profile_uuid if self.user_uuid is None else self.profile_uuid

    def has_use_of(self, other: Self) -> bool:
        """Whether no login, logout or switch followed between these two."""
        used = (self.user_uuid, self.profile_uuid, self.since, self.left_user_uuid)
        return used == (other.user_uuid, other.profile_uuid, other.since, other.left_user_uuid)

    def is_used(self, now: str) -> bool:
        """Whether a user is logged in at this shown moment."""
        return self.user_uuid is not None and not self.is_over(now)

    def is_over(self, now: str) -> bool:
        """Whether the end of the use has come."""
        return self.until is not None and self.until <= now

    def as_of(self, now: str) -> Self:
        """The desk at this shown moment: without a user if the end of the use has come."""
        return self.ended(Due.EXPIRY) if self.is_over(now) else self

    def next_version(self, version: int | None) -> Self:
        """The desk with its next version. Raises ``DeskChanged`` if ``version`` is not its own."""
        if version not in {None, self.version}:
            raise DeskChanged
        return replace(self, version=self.version + 1)

    def used(self, use: DeskUse, now: str, *, left: str | None = None) -> Self:
        """The desk with its next version and this use. A logout that was due is done. Without a
        user, ``left`` is the user that the phone keeps the profile of."""
        since = now if use.user_uuid else None
        return replace(
            self,
            **asdict(use),
            since=since,
            due=None,
            version=self.version + 1,
            not_before=0,
            problem=None,
            left_user_uuid=None if use.user_uuid else left,
        )

    def use_until(self, now: str) -> EarlierUse:
        """The use that a deployment replaces at this shown moment."""
        return EarlierUse(
            now,
            self.user_uuid,
            self.profile_uuid,
            self.since,
            self.until,
            self.left_user_uuid,
            self.due is not None,
        )

    def given_back(self, use: EarlierUse) -> Self:
        """The desk with its next version, with an earlier use. A logout that was due is done."""
        fields = asdict(use)
        del fields["at"], fields["is_due"]
        return replace(
            self, **fields, due=None, version=self.version + 1, not_before=0, problem=None
        )

    def ended(self, due: Due) -> Self:
        """The desk with its next version, without a user; ``due`` is due if there was one."""
        if self.user_uuid is None:
            return self
        return replace(self.used(DeskUse(), ""), due=due, left_user_uuid=self.user_uuid)

    def left(self, *, not_before: int) -> Self:
        """The desk with its next version, without a user: the phone keeps the profile that it has.
        A logout is due until the phone was called, and is not repeated before ``not_before``."""
        left = self.user_uuid or self.left_user_uuid
        due = self.due or Due.LOGOUT
        ended = self.used(DeskUse(), "").settled()
        return replace(ended, left_user_uuid=left, due=due, not_before=not_before)

    def changing(self, change_uuid: str, user_uuid: str | None = None) -> Self:
        """The desk while a login (of ``user_uuid``) or another change (None) is under way."""
        return replace(self, change_uuid=change_uuid, change_user_uuid=user_uuid, problem=None)

    def changed(self, change_uuid: str) -> Self:
        """The desk after this change; the same while another one is recorded."""
        if self.change_uuid != change_uuid:
            return self
        return replace(self, change_uuid=None, change_user_uuid=None)

    def settled(self) -> Self:
        """The desk with nothing due and no change."""
        return replace(
            self, due=None, change_uuid=None, change_user_uuid=None, not_before=0, problem=None
        )


class DeskRecords(Protocol):
    """The records of desks, by canonical MAC. A phone without a record counts as ``DeskRecord`` of
    its MAC. Users and profiles that a record names need not exist."""

    async def find(self, mac: str) -> DeskRecord:
        """The record. In a writing transaction no other changes it until the end, or adds it."""

    async def of(
        self, *, user: str = "", default: str = "", extension: str = ""
    ) -> list[DeskRecord]:
        """Desks by MAC: the desks that a user uses or is logging in at, the desks with a default
        profile, or the desks with a number. A writing transaction locks them until it ends."""

    async def unused(self, owner_uuid: str, profile_uuid: str = "") -> list[DeskRecord]:
        """Unused desks by MAC whose phones have a profile that had this owner when it was deployed,
        or only this profile. A writing transaction locks them until it ends."""

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        """At most ``limit`` desks, by MAC, where a logout is due, or where a change is recorded
        whose deployment does not hold the phone's lease; without desks whose ``not_before`` is
        later than ``now_ms``. With desks whose use ends at ``now``."""

    async def put(self, desk: DeskRecord) -> None:
        """Store the record."""

    async def remove(self, mac: str) -> bool:
        """Remove the record. Returns whether it differed from the record of an unused desk."""


class EndsUses(Protocol):
    """Stores that the end of a use needs."""

    @property
    def desks(self) -> DeskRecords: ...
    @property
    def trail(self) -> UseCaseTrail: ...


async def end_uses(tx: EndsUses, user_uuid: str, *, besides: str = "") -> None:
    """End the use of every phone by the user except ``besides``; a logout is due there."""
    for desk in await tx.desks.of(user=user_uuid):
        if desk.user_uuid == user_uuid and desk.mac != besides:
            await end_use(tx, desk, Due.LOGOUT)


async def end_lines(tx: EndsUses, owner_uuid: str, profile_uuid: str = "") -> None:
    """Take the lines of the owner of a profile from phones where no user is logged in: the owner
    was deactivated or deleted, or lost this profile. A desk with a number of its own has none."""
    for desk in await tx.desks.unused(owner_uuid, profile_uuid):
        if desk.extension_uuid is None and desk.due is None:
            lost = replace(desk.next_version(None), due=Due.LINES, left_user_uuid=owner_uuid)
            await tx.desks.put(lost)
            tx.trail.changed(desk.mac, desk, lost)


async def end_use(tx: EndsUses, desk: DeskRecord, due: Due) -> None:
    """End the use of a phone, and record it in the audit trail."""
    ended = desk.ended(due)
    await tx.desks.put(ended)
    tx.trail.changed(desk.mac, desk, ended)


class DeskUses:
    """What accounts, profiles and extensions ask of desks; each of them has its own port for it."""

    def __init__(self, tx: EndsUses) -> None:
        self._tx = tx

    async def end_of(self, user_uuid: str) -> None:
        """End the use of every phone by the user, and take the user's lines from the others."""
        await end_uses(self._tx, user_uuid)
        await end_lines(self._tx, user_uuid)

    async def end_lines(self, owner_uuid: str, profile_uuid: str) -> None:
        """Take the lines of the owner of a profile from phones where no user is logged in."""
        await end_lines(self._tx, owner_uuid, profile_uuid)

    async def with_default(self, profile_uuid: str) -> list[str]:
        """The MACs of desks with this default profile, locked."""
        return [desk.mac for desk in await self._tx.desks.of(default=profile_uuid)]

    async def with_number(self, extension_uuid: str) -> list[str]:
        """The MACs of desks with this number, locked."""
        return [desk.mac for desk in await self._tx.desks.of(extension=extension_uuid)]
