"""Whose lines a phone has, and what the exchange gets."""

import re

from msgspec.structs import asdict

from phoneprov_core.devices.names import device_name
from phoneprov_core.lines.model import Line, Number, PhoneNumbers, UsedPhone
from phoneprov_core.phones.model import bare_model

Options = list[tuple[str, str]]
"""Names and values of the options of one object of the exchange. A name may be repeated."""

_DEVICE_TYPE = re.compile(r"[0-9a-z-]{1,15}", re.ASCII)


def holder_of(used: UsedPhone, now: str) -> str | None:
    """The user whose lines the phone has at this shown moment, None if it has none of a user.

    It is the user that is logged in. While no user is, it is none if the desk has a number of its
    own, else the owner of the deployed profile. A user that has left the desk no longer counts,
    even while the phone still has this user's profile.
    """
    desk = used.desk.as_of(now)
    if desk.user_uuid is not None or used.own is not None:
        return desk.user_uuid
    if used.deployed_at is None or used.deployed_at < used.phone.created_at:
        return None
    return None if used.deployed_owner == desk.left_user_uuid else used.deployed_owner


def numbers_of(phone: PhoneNumbers, now: str) -> tuple[Number, ...]:
    """The numbers of the phone's lines at this shown moment."""
    if not phone.used.phone.is_active:
        return ()
    holder = holder_of(phone.used, now)
    if holder is None:
        return (phone.used.own,) if phone.used.own else ()
    return tuple(number for user, number in phone.numbers if user == holder)


def line_of(number: Number, context: str) -> Line:
    """The line of a number. ``context`` is the dialplan context of calls from it."""
    return Line(
        name=number.number,
        label=number.name,
        cid_name=number.name,
        cid_num=number.number,
        context=context,
        mailbox=mailbox_of(number.number) if number.voicemail else None,
    )


def line_options(line: Line) -> Options:
    """A line of chan_sccp."""
    name, *rest = asdict(line).items()
    return [name, ("type", "line"), *((key, value) for key, value in rest if value is not None)]


def device_options(phone: PhoneNumbers, now: str) -> Options:
    """A device of chan_sccp, with a button for each line. A value that is not known is left out."""
    of = phone.used.phone
    options = [("name", device_name(of.mac)), ("type", "device")]
    if kind := device_type(of.model):
        options.append(("devicetype", kind))
    if description := of.name or of.location:
        options.append(("description", description))
    return options + [("button", f"line,{one.number}") for one in numbers_of(phone, now)]


def device_type(model: str | None) -> str | None:
    """The device type of a model, None for a text that is none."""
    kind = bare_model(model or "")
    return kind if _DEVICE_TYPE.fullmatch(kind) else None


def mailbox_of(number: str) -> str:
    """The voicemail box of a number."""
    return f"{number}@default"
