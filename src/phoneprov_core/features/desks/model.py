"""Desks as they are shown, the policy of logins at phones, and their stores."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from typing import Annotated, Protocol
from zoneinfo import ZoneInfo

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.features.desks.occupancy import OccupancyTransaction
from phoneprov_core.features.desks.records import DeskRecord, DeskRecords
from phoneprov_core.features.templates.recipes import RecipeTransaction
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.fields import Check, Uuid, schema
from phoneprov_core.kernel.ports import Rows, Store
from phoneprov_core.kernel.values import Timestamp, timezone
from phoneprov_core.people.auth.model import LoginAttemptStore
from phoneprov_core.people.permissions import Right
from phoneprov_core.people.users.model import User
from phoneprov_core.people.users.use_cases import UserStore
from phoneprov_core.people.vendor_users import NumbersTransaction, VendorUserStore
from phoneprov_core.switching.devices.names import Binding

DefaultProfile = Annotated[Uuid, schema("Profile that the phone has while no user is logged in")]
Hotdesk = Annotated[bool, schema("Whether users can log in at the phone")]

_END = r"^([01][0-9]|2[0-3]):[0-5][0-9] [A-Za-z0-9_+/-]+$"


def _end(text: str) -> str:
    clock, _, zone = text.strip().partition(" ")
    if not re.fullmatch(_END, f"{clock} {zone}", re.ASCII):
        raise ValueError("must be a time and a time zone, such as 06:00 Europe/Berlin")
    return f"{clock} {timezone(zone)}"


EndsAt = Annotated[
    str,
    Check(_end),
    schema(
        "Time of day at which logins at this desk end, and its IANA time zone; null: after the "
        "hours of the office (`PHONEPROV_DESK_HOURS`)",
        pattern=_END,
        examples=["06:00 Europe/Berlin"],
    ),
]


def next_end(ends_at: str, now: datetime) -> datetime:
    """The first moment after ``now`` at which a clock of the zone shows this time. A time that the
    zone leaves out when summer time begins is that of the clock before: one hour later."""
    clock, name = ends_at.split(" ")
    zone, at = ZoneInfo(name), time.fromisoformat(clock)
    today = now.astimezone(zone).date()
    found = []
    for day in range(3):
        for fold in (0, 1):
            shown = datetime.combine(today + timedelta(days=day), at, zone).replace(fold=fold)
            moment = shown.astimezone(UTC)
            is_shown = moment.astimezone(zone).replace(tzinfo=None) == shown.replace(tzinfo=None)
            if moment > now and (is_shown or not fold):
                found.append(moment)
    return min(found)


OwnExtension = Annotated[
    Uuid, schema("Extension that is the phone's line while no user is logged in")
]


class Desk(Struct, frozen=True):
    """A phone as a place to log in. ``user_uuid``, ``username``, ``profile_uuid`` and ``since``
    are null while no user is logged in; ``until`` also for a login without an end."""

    mac: Annotated[str, schema("MAC address of the phone", examples=["00:1B:D4:12:34:56"])]
    default_profile_uuid: DefaultProfile | None
    hotdesk: Hotdesk
    extension_uuid: OwnExtension | None
    user_uuid: Annotated[Uuid, schema("User that is logged in")] | None
    username: Annotated[str, schema("Username of that user", examples=["ada"])] | None
    profile_uuid: Annotated[Uuid, schema("Profile of the login")] | None
    since: Annotated[Timestamp, schema("Time of the login")] | None
    until: Annotated[Timestamp, schema("End of the login")] | None
    ends_at: EndsAt | None = None


class ListedDesk(Struct, frozen=True):
    """A desk, the creation time of its phone (its position in lists), and the records that it
    names: its own number, its default profile, and the owner of the default profile; with name and
    location of its phone."""

    created_at: str
    mac: str
    desk: Desk
    number: str | None = None
    default_profile_user: str | None = None
    default_profile: str | None = None
    name: str | None = None
    location: str | None = None


class DeskPatch(Command, frozen=True, kw_only=True):
    """Changes to a desk."""

    default_profile_uuid: DefaultProfile | UnsetType | None = UNSET
    hotdesk: Hotdesk | UnsetType = UNSET
    extension_uuid: OwnExtension | UnsetType | None = UNSET
    ends_at: EndsAt | UnsetType | None = UNSET


class DeskLabel(Struct, frozen=True):
    """What is printed on a label for a phone."""

    mac: Annotated[str, schema("MAC address of the phone", examples=["00:1B:D4:12:34:56"])]
    name: Annotated[str, schema("Name of the phone", examples=["Reception"])] | None
    location: Annotated[str, schema("Location", examples=["Berlin/3"])] | None
    number: (
        Annotated[
            str,
            schema(
                "Number of the desk, else the oldest of the owner of its default profile",
                examples=["301"],
            ),
        ]
        | None
    )


class PhoneState(Struct, frozen=True):
    """A phone as a request of the phone finds it. ``vendor`` is its flag, ``user`` the account that
    is logged in; each may be None."""

    phone: Phone
    vendor: bool | None
    desk: DeskRecord
    user: User | None


class AtPhone(Struct, frozen=True):
    """A phone that may use the services, the user who is logged in there, and the address of the
    request. ``shows_own`` is whether the phone shows the records of this user."""

    phone: Phone
    desk: DeskRecord
    user: User | None
    ip: str
    shows_own: bool = True


class Elsewhere(Enum):
    """What happens when a user logs in who is logged in at another phone."""

    MOVE = "move"
    """The user is logged out there."""
    REFUSE = "refuse"
    ALLOW = "allow"


class DeskPolicy(Struct, frozen=True):
    """The settings of desks. ``hours`` is how long a login lasts, 0 without end. ``elsewhere`` is
    what happens to a user who is logged in at another phone."""

    hours: int = 0
    elsewhere: Elsewhere = Elsewhere.MOVE
    binding: Binding = Binding.ADDRESS
    clear_calls: bool = True


class NotLoggedIn(Conflict):
    """No user is logged in at the phone."""

    code = "not_logged_in"
    usual = "No user is logged in at this phone."


class DeskStore(DeskRecords, Protocol):
    """The records of desks, and the phones that they belong to."""

    async def at(self, mac: str) -> PhoneState | None:
        """A phone of the inventory with its flag, its desk and the user who is logged in, by one
        query; None if the phone is not in the inventory."""


class ListedDesks(Rows[ListedDesk], Protocol):
    """The desk of every phone; its owner is the user who is logged in."""

    def at(self, places: Sequence[str]) -> Rows[ListedDesk]:
        """The same desks; desks of phones at these locations belong to every account."""

    async def of(self, macs: Sequence[str]) -> dict[str, ListedDesk]:
        """The desks of these phones, by MAC; none for phones that do not exist."""


class DesksTransaction(OccupancyTransaction, RecipeTransaction, NumbersTransaction, Protocol):
    """Stores that desks read and write."""

    @property
    def users(self) -> UserStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def listed_desks(self) -> ListedDesks: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def attempts(self) -> LoginAttemptStore: ...
    @property
    def rights(self) -> Store[Right]: ...


class PageSigner(Protocol):
    """Signs the values of a page, so that a phone cannot change them."""

    def sign(self, text: str) -> str:
        """A signature under the secret key: 22 characters of ``[A-Za-z0-9_-]``."""

    def is_signed(self, text: str, signature: str) -> bool:
        """Whether the signature belongs to the text, under any of the keys. Takes the same time
        for every wrong signature."""
