"""Endpoints, auths and AORs of PJSIP: for Asterisk's sorcery, and for the export."""

from dataclasses import dataclass

from phoneprov_core.features.lines.model import (
    LinesTransaction,
    Number,
    Options,
    mailbox_of,
    numbers_of,
    phone_with,
    prompts_of,
    variables,
)
from phoneprov_core.inventory.extensions import CHAN_PJSIP
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency, emergency_at
from phoneprov_core.inventory.phones.model import Phone, speaks_sip
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import timestamp
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
"""The AOR of an extension: one phone at a time, the one that registered last."""


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
    location. A SIP phone has those of its numbers of chan_pjsip, if it has any and they agree."""
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
        sent: its AORs are those of its user, and of its users before: until the phone restarts, it
        is registered as the last of them."""
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
        """The AOR of an extension. It stays when its user leaves: a restart reaches the phone."""
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
