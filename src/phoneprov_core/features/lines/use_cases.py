"""Devices and lines for the exchange and for an administrator, and their comparison with the
exchange."""

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
    numbers_of,
    prompts_of,
)
from phoneprov_core.features.lines.pjsip import emergency_of_phone
from phoneprov_core.inventory.configuration.findings import Finding, Severity
from phoneprov_core.inventory.extensions import CHAN_SCCP
from phoneprov_core.inventory.locations import Emergency, emergency_at, emergency_of
from phoneprov_core.inventory.phones.model import software_type_of, speaks_sip
from phoneprov_core.kernel.actor import Actor, require_people, require_superadmin
from phoneprov_core.kernel.errors import PhoneprovError, require
from phoneprov_core.kernel.paging import Listing, Page, listing, page_of
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import known_id, known_mac, timestamp
from phoneprov_core.people.access import require_at
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.devices.names import mac_of_device

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
        """Whether the phone has a default profile, and no line while it has that: neither the desk
        nor the owner of the profile has one."""
        async with self.database.read() as tx:
            phone = await tx.lines.at(mac)
            default = phone.used.desk.default_profile_uuid if phone else None
            profile = await tx.profiles.find(default) if default else None
            return profile is not None and await lacks_line(tx, mac, profile.user_uuid)

    async def _line(self, tx: LinesTransaction, of: Number) -> Line:
        language = await prompts_of(tx, of.number, CHAN_SCCP, self.sounds)
        return line_of(of, self.context, language)


class DefaultsTransaction(LinesTransaction, Protocol):
    """Stores that say which profile is the default of a phone."""

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
