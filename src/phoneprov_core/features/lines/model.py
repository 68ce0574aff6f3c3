"""Lines of phones: the answers to the exchange, the rules for them, and their store."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol

from msgspec import Struct
from msgspec.structs import asdict

from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.inventory.extensions import CHAN_SCCP, Extension
from phoneprov_core.inventory.links import LinkStore
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency, LocationStore
from phoneprov_core.inventory.phones.model import Phone, bare_model, speaks_sip
from phoneprov_core.inventory.profiles.model import ProfileRecord
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.ports import Store
from phoneprov_core.kernel.values import language_tags
from phoneprov_core.switching.devices.names import device_name


class Number(Struct, frozen=True):
    """An extension as a line: its number, its name, and whether it has voicemail."""

    number: str
    name: str
    voicemail: bool


class UsedPhone(Struct, frozen=True):
    """A phone, and the records that decide whose lines it has. ``deployed_owner`` is the owner of
    the profile of its current deployment, and ``deployed_at`` the time of that deployment; None
    without one. ``own`` is the number of the desk itself."""

    phone: Phone
    desk: DeskRecord
    deployed_owner: str | None = None
    deployed_at: str | None = None
    own: Number | None = None


class PhoneNumbers(Struct, frozen=True):
    """A phone, and the numbers of each user whose lines it may have, oldest link first."""

    used: UsedPhone
    numbers: tuple[tuple[str, Number], ...] = ()


class Line(Struct, frozen=True, omit_defaults=True):
    """A line as the exchange gets it. ``mailbox`` is null without voicemail, ``language`` is left
    out without ``PHONEPROV_ASTERISK_LANGUAGES``, and where no language is certain."""

    name: Annotated[str, schema("Number of the line", examples=["1001"])]
    label: Annotated[str, schema("Text beside the button", examples=["Ada Lovelace"])]
    cid_name: Annotated[str, schema("Name that called persons see", examples=["Ada Lovelace"])]
    cid_num: Annotated[str, schema("Number that called persons see", examples=["1001"])]
    context: Annotated[str, schema("Dialplan context of calls from the line", examples=["default"])]
    mailbox: Annotated[str, schema("Voicemail box", examples=["1001@default"])] | None
    language: Annotated[str, schema("Language of Asterisk's prompts", examples=["de"])] | None = (
        None
    )


class LineStore(Protocol):
    """Numbers of users and phones. Only active extensions of one type count, and only links of
    active users. Each method is one query by indexes."""

    async def at(self, mac: str, kind: str = CHAN_SCCP) -> PhoneNumbers | None:
        """A phone of the inventory by its canonical MAC, with the numbers of the user of its desk
        and of the owner of its current deployment; None for any other MAC."""

    async def of_user(self, user_uuid: str) -> list[Number]:
        """The numbers of a user, the oldest link first."""

    async def find(self, number: str, kind: str = CHAN_SCCP) -> Number | None:
        """The extension with exactly this number, linked or not; None if there is none."""

    async def languages(self, number: str, kind: str) -> list[str]:
        """The languages of the users that the extension with exactly this number is linked to, each
        once."""

    async def uuid_of(self, number: str, kind: str) -> str | None:
        """The uuid of the extension that ``find`` finds."""

    async def held(self, number: str, kind: str) -> tuple[Number, str] | None:
        """The extension that ``find`` finds and its uuid, if it is linked to an active user or to
        none. An extension of an inactive user belongs to no phone."""

    async def earlier_numbers(self, mac: str, kind: str) -> list[str]:
        """The numbers linked to the owners of the last five deployments that brought a file to this
        canonical MAC, the newest first; of inactive users, too. A number may be repeated."""

    async def phones_of(self, user_uuid: str) -> list[UsedPhone]:
        """The phones whose desk or current deployment belongs to this user, by MAC."""

    async def phones_with(self, number: str, kind: str) -> list[tuple[str, UsedPhone]]:
        """The active users of the extension with exactly this number, each with the phones whose
        desk or whose current deployment is theirs."""

    async def phones_with_logins(self) -> list[Phone]:
        """The active phones at which users may log in, by MAC."""

    async def phones_of_leavers(self) -> list[Phone]:
        """The active phones whose current deployment belongs to an inactive or deleted user, by
        MAC."""


class ReadsLines(Protocol):
    """The store of lines alone."""

    @property
    def lines(self) -> LineStore: ...


class LinesTransaction(ReadsLines, Protocol):
    """Stores that the use cases of lines use."""

    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> LinkStore: ...
    @property
    def profiles(self) -> Store[ProfileRecord]: ...
    @property
    def locations(self) -> LocationStore: ...


class ExchangeLines(Protocol):
    """What the exchange has of phones and lines."""

    async def numbers(self, mac: str) -> tuple[str, ...]:
        """The numbers of the lines at a phone, in the order of its buttons. Raises ``Refused`` if
        the exchange does not have the phone, or does not show it, and ``TimedOut`` if it does not
        answer within 5 seconds."""

    async def devices(self) -> frozenset[str]:
        """The canonical MACs of the phones that the exchange has. Raises like ``numbers``."""


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


def prompts_for(langs: Iterable[str], sounds: Iterable[str]) -> str | None:
    """The language of the prompts for users of these languages, as the exchange names it in
    ``sounds``; None if it has none for one of them, or different ones."""
    named = {language_tags(one)[0]: one for one in sounds}
    found = {
        next((named[tag] for tag in language_tags(lang) if tag in named), None) for lang in langs
    }
    return found.pop() if len(found) == 1 else None


async def prompts_of(
    tx: LinesTransaction, number: str, kind: str, sounds: Sequence[str]
) -> str | None:
    """The language of the prompts at an extension; None without ``sounds``."""
    return prompts_for(await tx.lines.languages(number, kind), sounds) if sounds else None


def phone_with(used_by: Iterable[tuple[str, UsedPhone]], now: str) -> Phone | None:
    """The phone of a number of chan_pjsip at this shown moment, None if it is on several phones or
    on none. ``used_by`` are its users with the phones they use: a user has it at the phones where
    they are logged in, else at phones with their profile."""
    at: dict[str, Phone] = {}
    logged_in: set[str] = set()
    holding: list[tuple[str, UsedPhone]] = []
    for user, used in used_by:
        software = used.phone.software_type
        if not used.phone.is_active or (software and not speaks_sip(software)):
            continue
        if used.desk.as_of(now).user_uuid == user:
            logged_in.add(user)
            at[used.phone.mac] = used.phone
        elif holder_of(used, now) == user:
            holding.append((user, used))
    at |= {used.phone.mac: used.phone for user, used in holding if user not in logged_in}
    return next(iter(at.values())) if len(at) == 1 else None


def variables(emergency: Emergency) -> list[str]:
    """What an emergency call presents, as channel variables of Asterisk; none for no value."""
    named = (("EMERGENCY", emergency.number), ("PLACE", emergency.place))
    return [f"PHONEPROV_{name}={value}" for name, value in named if value]


def device_variables(emergency: Emergency) -> Options:
    """The variables of a device of chan_sccp."""
    return [("setvar", variable) for variable in variables(emergency)]


def line_of(number: Number, context: str, language: str | None = None) -> Line:
    """The line of a number. ``context`` is the dialplan context of calls from it, ``language`` that
    of its prompts."""
    return Line(
        name=number.number,
        label=number.name,
        cid_name=number.name,
        cid_num=number.number,
        context=context,
        mailbox=mailbox_of(number.number) if number.voicemail else None,
        language=language,
    )


def line_options(line: Line) -> Options:
    """A line of chan_sccp."""
    name, *rest = asdict(line).items()
    return [name, ("type", "line"), *((key, value) for key, value in rest if value is not None)]


def device_options(phone: PhoneNumbers, now: str, emergency: Emergency = NO_EMERGENCY) -> Options:
    """A device of chan_sccp, with a button for each line. A value that is not known is left out."""
    of = phone.used.phone
    options = [("name", device_name(of.mac)), ("type", "device")]
    if kind := device_type(of.model):
        options.append(("devicetype", kind))
    if description := of.name or of.location:
        options.append(("description", description))
    options += device_variables(emergency)
    return options + [("button", f"line,{one.number}") for one in numbers_of(phone, now)]


def device_type(model: str | None) -> str | None:
    """The device type of a model, None for a text that is none."""
    kind = bare_model(model or "")
    return kind if _DEVICE_TYPE.fullmatch(kind) else None


def mailbox_of(number: str) -> str:
    """The voicemail box of a number."""
    return f"{number}@default"
