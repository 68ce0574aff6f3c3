"""Desks: a phone, its default profile, and the user that is logged in there."""

from enum import Enum
from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.desk_records import DeskRecord
from phoneprov_core.devices.binding import Binding
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.kernel.system import Timestamp
from phoneprov_core.phones.model import Phone
from phoneprov_core.users.model import User

DefaultProfile = Annotated[Uuid, schema("Profile that the phone has while no user is logged in")]
Hotdesk = Annotated[bool, schema("Whether users can log in at the phone")]

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


class ListedDesk(Struct, frozen=True):
    """A desk, its position in lists, which is the creation of its phone, and what its identifiers
    name: the number of the desk itself, its default profile, and the owner of that profile."""

    created_at: str
    mac: str
    desk: Desk
    number: str | None = None
    default_profile_user: str | None = None
    default_profile: str | None = None


class DeskPatch(Command, frozen=True, kw_only=True):
    """Changes to a desk."""

    default_profile_uuid: DefaultProfile | UnsetType | None = UNSET
    hotdesk: Hotdesk | UnsetType = UNSET
    extension_uuid: OwnExtension | UnsetType | None = UNSET


class PhoneState(Struct, frozen=True):
    """A phone as a request from it finds it. ``vendor`` is its flag, None without one; ``user``
    is the account that is logged in, None without one."""

    phone: Phone
    vendor: bool | None
    desk: DeskRecord
    user: User | None


class AtPhone(Struct, frozen=True):
    """A phone that may use the services, the user that is logged in there, and the address that
    the request came from. ``shows_own`` is whether it shows the records of that user."""

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
