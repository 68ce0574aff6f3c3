"""Lines of phones, as the exchange gets them."""

from typing import Annotated

from msgspec import Struct

from phoneprov_core.desk_records import DeskRecord
from phoneprov_core.kernel.fields import schema
from phoneprov_core.phones.model import Phone


class Number(Struct, frozen=True):
    """An extension as a line: its number, its name, and whether it has voicemail."""

    number: str
    name: str
    voicemail: bool


class UsedPhone(Struct, frozen=True):
    """A phone, and what decides whose lines it has. ``deployed_owner`` is the owner of the profile
    of its current deployment, and ``deployed_at`` the time of that deployment; None without one.
    ``own`` is the number of the desk itself."""

    phone: Phone
    desk: DeskRecord
    deployed_owner: str | None = None
    deployed_at: str | None = None
    own: Number | None = None


class PhoneNumbers(Struct, frozen=True):
    """A phone, and the numbers of each user whose lines it may have, oldest link first."""

    used: UsedPhone
    numbers: tuple[tuple[str, Number], ...] = ()


class Line(Struct, frozen=True):
    """A line as the exchange gets it. ``mailbox`` is null without voicemail."""

    name: Annotated[str, schema("Number of the line", examples=["1001"])]
    label: Annotated[str, schema("Text beside the button", examples=["Ada Lovelace"])]
    cid_name: Annotated[str, schema("Name that called persons see", examples=["Ada Lovelace"])]
    cid_num: Annotated[str, schema("Number that called persons see", examples=["1001"])]
    context: Annotated[str, schema("Dialplan context of calls from the line", examples=["default"])]
    mailbox: Annotated[str, schema("Voicemail box", examples=["1001@default"])] | None
