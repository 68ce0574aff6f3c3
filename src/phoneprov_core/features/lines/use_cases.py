"""Lines for the exchange and for an administrator: devices and lines, the objects of PJSIP for
Asterisk's sorcery and for the export, and their comparison with the exchange."""

from dataclasses import dataclass
from typing import Protocol

from phoneprov_core.features.desks.records import DeskRecords
from phoneprov_core.features.lines.model import (
    ExchangeLines,
    Line,
    LinesTransaction,
    Number,
    Options,
    ReadsLines,
    device_options,
    holder_of,
    line_of,
    line_options,
    mailbox_of,
    numbers_of,
    phone_with,
    prompts_of,
    variables,
)
from phoneprov_core.inventory.configuration.findings import Finding, Severity
from phoneprov_core.inventory.extensions import CHAN_PJSIP, CHAN_SCCP
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency, emergency_at, emergency_of
from phoneprov_core.inventory.phones.model import Phone, software_type_of, speaks_sip
from phoneprov_core.kernel.actor import Actor, require_people, require_superadmin
from phoneprov_core.kernel.errors import PhoneprovError, require
from phoneprov_core.kernel.ports import Clock, Listing, Page, ReadAndWrite, listing, page_of
from phoneprov_core.kernel.values import known_id, known_mac, timestamp
from phoneprov_core.people.access import require_at
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.devices.names import device_name, mac_of_device

_QUOTES = str.maketrans({'"': "'", "<": "(", ">": ")", "\\": "/"})


def _codecs(context: str) -> Options:
    return [("context", context), ("disallow", "all"), ("allow", "g722,alaw,ulaw")]


def endpoint_options(
    of: Number, context: str, emergency: Emergency = NO_EMERGENCY, language: str | None = None
) -> Options:
    """The endpoint of an extension. ``language`` is that of its prompts."""
    mailbox = [("mailboxes", mailbox_of(of.number))] if of.voicemail else []
    caller = f'"{of.name.translate(_QUOTES)}" <{of.number}>'
    own = [("callerid", caller), ("auth", of.number), ("aors", of.number)]
    presented = [("set_var", variable) for variable in variables(emergency)]
    prompts = [("language", language)] if language else []
    return [*_codecs(context), *own, *mailbox, *presented, *prompts]


def phone_options(numbers: list[str], context: str) -> Options:
    """The endpoint that is named after a phone, with the AORs of its extensions."""
    return [*_codecs(context), ("auth", numbers[0]), ("aors", ",".join(numbers))]


AOR_OPTIONS: Options = [("max_contacts", "1"), ("remove_existing", "yes")]
"""The AOR of an extension: one phone at a time, the last to register."""


def auth_options(number: str, password: str) -> Options:
    """The auth of an extension."""
    return [("auth_type", "userpass"), ("username", number), ("password", password)]


async def emergency_of_number(tx: LinesTransaction, number: str, now: str) -> Emergency:
    """What an emergency call from a number of chan_pjsip presents at this shown moment: the values
    of its phone; nothing if it is on several phones or on none."""
    phone = phone_with(await tx.lines.phones_with(number, CHAN_PJSIP), now)
    return NO_EMERGENCY if phone is None else await emergency_at(tx, phone)


async def emergency_of_phone(tx: LinesTransaction, phone: Phone, now: str) -> Emergency:
    """What an emergency call from a phone presents at this shown moment: the values of its
    location. A SIP phone has the values of its numbers of chan_pjsip, if it has any and they
    agree."""
    used = await tx.lines.at(phone.mac, CHAN_PJSIP) if speaks_sip(phone.software_type) else None
    numbers = numbers_of(used, now) if used else ()
    if not numbers:
        return await emergency_at(tx, phone)
    found = {await emergency_of_number(tx, one.number, now) for one in numbers}
    return found.pop() if len(found) == 1 else NO_EMERGENCY


@dataclass(frozen=True)
class PjsipObjects:
    """The objects of active extensions of chan_pjsip, by their number. Endpoint and auth of an
    extension exist while it is linked to an active user, or to no user. ``context`` is the dialplan
    context of all endpoints, ``sounds`` are the languages that the exchange has prompts in. Every
    method returns None for an object that does not exist, and
    raises ``Unavailable``."""

    database: ReadAndWrite[LinesTransaction]
    clock: Clock
    context: str
    sounds: tuple[str, ...] = ()

    async def endpoint(self, name: str) -> Options | None:
        """The endpoint of an extension; or of a phone (``SEP001BD4123456``), to which restarts are
        sent: its AORs are the AORs of its user and of earlier users: until the phone restarts, it
        is registered as its last user."""
        if mac := mac_of_device(name):
            return await self._phone(mac)
        async with self.database.read() as tx:
            held = await tx.lines.held(name, CHAN_PJSIP)
            if held is None:
                return None
            language = await prompts_of(tx, name, CHAN_PJSIP, self.sounds)
            emergency = await emergency_of_number(tx, name, timestamp(self.clock()))
        options = endpoint_options(held[0], self.context, emergency, language)
        return [("id", held[0].number), *options]

    async def aor(self, number: str) -> Options | None:
        """The AOR of an extension. It remains after its user was unlinked, so that a restart still
        reaches the phone."""
        async with self.database.read() as tx:
            of = await tx.lines.find(number, CHAN_PJSIP)
        return None if of is None else [("id", of.number), *AOR_OPTIONS]

    async def auth(self, number: str) -> Options | None:
        """The auth of an extension, with its password."""
        async with self.database.read() as tx:
            held = await tx.lines.held(number, CHAN_PJSIP)
            extension = await tx.extensions.find(held[1]) if held else None
        if extension is None:
            return None
        return [("id", number), *auth_options(number, extension.password)]

    async def _phone(self, mac: str) -> Options | None:
        async with self.database.read() as tx:
            phone = await tx.lines.at(mac, CHAN_PJSIP)
            earlier = await tx.lines.earlier_numbers(mac, CHAN_PJSIP)
        if phone is None or not phone.used.phone.is_active:
            return None
        numbers = numbers_of(phone, timestamp(self.clock()))
        aors = list(dict.fromkeys([*(one.number for one in numbers), *earlier]))
        if not aors:
            return None
        return [("id", device_name(mac)), *phone_options(aors, self.context)]


NO_LINE = (
    "With this default profile the phone has no line while no user is logged in, and cannot call "
    "for help: link an extension of the type chan_sccp to the owner of the profile, or give the "
    "desk a number (extension_uuid)."
)

_MOST_NAMED = 12
_MOST_USERS = 100
"""Users of one extension whose phones are named."""


async def lacks_line(tx: ReadsLines, mac: str, owner_uuid: str) -> bool:
    """Whether a phone has no line while no user is logged in and it has a profile of this owner."""
    phone = await tx.lines.at(mac)
    return phone is not None and phone.used.own is None and not await tx.lines.of_user(owner_uuid)


@dataclass(frozen=True)
class Lines:
    """Devices and lines for the exchange. ``context`` is the dialplan context of all lines,
    ``sounds`` are the languages that the exchange has prompts in."""

    database: ReadAndWrite[LinesTransaction]
    clock: Clock
    context: str
    sounds: tuple[str, ...] = ()

    async def device(self, name: str) -> Options | None:
        """The device of this name (``SEP001BD4123456``); None for a phone that is not in the
        inventory, or inactive. Raises ``Unavailable``."""
        mac = mac_of_device(name)
        if not mac:
            return None
        async with self.database.read() as tx:
            phone = await tx.lines.at(mac)
            if phone is None or not phone.used.phone.is_active:
                return None
            emergency = await emergency_at(tx, phone.used.phone)
        return device_options(phone, timestamp(self.clock()), emergency)

    async def line(self, number: str) -> Options | None:
        """The line of this number; None without such an extension. Raises ``Unavailable``."""
        async with self.database.read() as tx:
            known = await tx.lines.find(number)
            return None if known is None else line_options(await self._line(tx, known))

    async def of_phone(
        self, actor: Actor, mac: str, page: Page = None
    ) -> tuple[Listing[Line], Emergency]:
        """The lines of a phone as the exchange gets them, by button, and what an emergency call
        from the phone presents. Raises ``NotFound``, ``Forbidden``."""
        require_people(actor)
        now = timestamp(self.clock())
        async with self.database.read() as tx:
            phone = require(await tx.lines.at(known_mac(mac)), "phone")
            require_at(actor, phone.used.phone)
            lines = [await self._line(tx, one) for one in numbers_of(phone, now)]
            emergency = await emergency_of_phone(tx, phone.used.phone, now)
        return page_of(lines, page), emergency

    async def showing(self, actor: Actor, user_uuid: str, extension_uuid: str) -> list[str]:
        """The MACs of the phones that have the lines of this user, if the extension is one of
        chan_sccp: they show a new link, and no longer a deleted one, after their next restart."""
        require_superadmin(actor)
        now = timestamp(self.clock())
        async with self.database.read() as tx:
            extension = await tx.extensions.find(extension_uuid)
            if extension is None or extension.type != CHAN_SCCP:
                return []
            used = await tx.lines.phones_of(user_uuid)
        return [
            one.phone.mac
            for one in used
            if one.phone.is_active
            and not speaks_sip(one.phone.software_type)
            and holder_of(one, now) == user_uuid
        ]

    async def showing_any(self, actor: Actor, extension_uuid: str) -> list[str]:
        """The MACs of the phones with the lines of a user of this extension, like ``showing``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            linked = await tx.links.users.rows(_MOST_USERS, owner=known_id(extension_uuid))
        users = [one.user_uuid for one in linked]
        shown_at = [await self.showing(actor, user, extension_uuid) for user in users]
        return sorted({mac for macs in shown_at for mac in macs})

    async def kept_by_leavers(self, actor: Actor) -> list[str]:
        """The MACs of the SIP phones whose configuration is that of a user who is inactive or
        deleted: number and password are in it, and stay on the phone until it gets another one. An
        SCCP phone has no line of such a user."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            phones = await tx.lines.phones_of_leavers()
        return [one.mac for one in phones if speaks_sip(one.software_type)]

    async def without_emergency_number(self, actor: Actor) -> list[str]:
        """The MACs of the active phones at which users may log in and whose location gives no
        emergency number: an emergency call presents the number of the user."""
        require_superadmin(actor)
        everywhere = await listing(self.database.read, lambda tx: tx.locations)
        known = [one for one in await everywhere.everything() if one.emergency_number]
        async with self.database.read() as tx:
            phones = await tx.lines.phones_with_logins()
        texts = {phone.location for phone in phones}
        lacking = {text for text in texts if emergency_of(text, known).number is None}
        return [phone.mac for phone in phones if phone.location in lacking]

    async def lacks_default_line(self, mac: str) -> bool:
        """Whether the phone has a default profile but no line with it: neither the desk nor the
        owner of the profile has a line."""
        async with self.database.read() as tx:
            phone = await tx.lines.at(mac)
            default = phone.used.desk.default_profile_uuid if phone else None
            profile = await tx.profiles.find(default) if default else None
            return profile is not None and await lacks_line(tx, mac, profile.user_uuid)

    async def _line(self, tx: LinesTransaction, of: Number) -> Line:
        language = await prompts_of(tx, of.number, CHAN_SCCP, self.sounds)
        return line_of(of, self.context, language)


class DefaultsTransaction(LinesTransaction, Protocol):
    """Stores that find the default profile of a phone."""

    @property
    def desks(self) -> DeskRecords: ...


@dataclass(frozen=True)
class WarnOfNoLine:
    """Warns of a switch to a default profile without any line, if the exchange asks for lines."""

    database: ReadAndWrite[DefaultsTransaction]
    serves_lines: bool

    async def __call__(self, request: DeploymentRequest) -> tuple[Finding, ...]:
        """The warning, if there is one."""
        mac, profile = request.phone.mac, request.profile
        if not self.serves_lines or speaks_sip(
            software_type_of(request.phone, profile.software_type)
        ):
            return ()
        async with self.database.read() as tx:
            desk = await tx.desks.find(mac)
            if desk.default_profile_uuid != profile.uuid:
                return ()
            is_mute = await lacks_line(tx, mac, profile.user_uuid)
        return (Finding(Severity.WARNING, 1, 1, "no_line", NO_LINE),) if is_mute else ()


@dataclass(frozen=True)
class CompareLines:
    """Reads the lines of a phone back from the exchange."""

    database: ReadAndWrite[LinesTransaction]
    exchange: ExchangeLines
    clock: Clock

    async def __call__(self, mac: str) -> tuple[bool | None, str]:
        """Whether the exchange has the lines of the phone, None if unknown, and a sentence."""
        try:
            there = await self.exchange.numbers(mac)
            async with self.database.read() as tx:
                phone = await tx.lines.at(mac)
        except PhoneprovError as error:
            return None, error.message
        numbers = numbers_of(phone, timestamp(self.clock())) if phone else ()
        wanted = tuple(one.number for one in numbers)
        if there == wanted:
            return True, f"Asterisk has {_named(there)} at the phone."
        return (
            False,
            f"Asterisk has {_named(there)} at the phone, and should have {_named(wanted)}.",
        )


def _named(numbers: tuple[str, ...]) -> str:
    if not numbers:
        return "no line"
    more = len(numbers) - _MOST_NAMED
    text = ", ".join(numbers[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"the line {text}" if len(numbers) == 1 else f"the lines {text}"
