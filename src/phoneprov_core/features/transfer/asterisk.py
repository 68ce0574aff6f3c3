"""Extensions and phones as sections of the files that Asterisk reads.

``sccp.conf`` of chan_sccp: a ``type = line`` for each extension, a ``type = device`` for each
phone, with the extensions of the owner of its current profile as its buttons
(conf/sccp.conf.annotated of that project). ``pjsip.conf``: an endpoint, an auth and an aor for each
extension (configs/samples/pjsip.conf.sample of Asterisk).

Asterisk's parser (main/config.c): a semicolon begins a comment unless a backslash precedes it,
which is then removed; ``[`` and ``#`` are special at the beginning of a line only; blanks around a
value are removed.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from phoneprov_core.features.lines.model import Number, device_type, device_variables, mailbox_of
from phoneprov_core.features.lines.use_cases import (
    AOR_OPTIONS,
    auth_options,
    endpoint_options,
    phone_options,
)
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.switching.devices.names import device_name, is_context

_TAKEN = frozenset({"general", "global", "globals", "system", "devices", "lines", "softkeyset"})
_DEVICE = re.compile(r"sep[0-9a-f]{12}", re.IGNORECASE)
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class Section(Struct, frozen=True):
    """The text of one record, empty if it was left out, and the reason."""

    text: str = ""
    left_out: str | None = None

    def __repr__(self) -> str:
        # The text may contain a password.
        return f"Section(left_out={self.left_out!r})"


class Sections:
    """Writes the sections of one file. ``context`` is the dialplan context of calls from PJSIP
    endpoints. Values are escaped, so that none begins a section, an option or a comment, and
    section names are unique. Raises ``ValueError`` if the context is invalid."""

    def __init__(self, *, with_secrets: bool = False, context: str = "default") -> None:
        if not is_context(context):
            raise ValueError("a context consists of letters, digits, underscores and dashes")
        self._with_secrets = with_secrets
        self._context = context
        self._names: set[str] = set()

    def line(self, extension: Extension, language: str | None = None) -> Section:
        """A line of chan_sccp, with the language of its prompts. It has no secret: a device is
        known by its name and address."""
        if why := self._cannot_be_named(extension):
            return _left_out(extension, why)
        name = extension.name
        mailbox = [("mailbox", mailbox_of(extension.extension))] if extension.voicemail else []
        prompts = [("language", language)] if language else []
        return Section(
            _section(
                extension.extension,
                ("type", "line"),
                ("label", name),
                ("description", name),
                ("cid_name", name),
                ("cid_num", extension.extension),
                *mailbox,
                *prompts,
            )
        )

    def device(
        self, phone: Phone, numbers: Iterable[str], emergency: Emergency = NO_EMERGENCY
    ) -> Section:
        """A device of chan_sccp, with a button for each number."""
        name = device_name(phone.mac)
        kind = device_type(phone.model)
        if kind is None:
            why = "its model is no device type of chan_sccp" if phone.model else "it has no model"
            return Section(left_out=f"The phone {phone.mac} was omitted: {why}.")
        return Section(
            _section(
                name,
                ("type", "device"),
                ("devicetype", kind),
                ("description", phone.name or phone.description or phone.mac),
                *device_variables(emergency),
                *(("button", f"line, {number}") for number in numbers),
            )
        )

    def endpoint(
        self,
        extension: Extension,
        emergency: Emergency = NO_EMERGENCY,
        language: str | None = None,
    ) -> Section:
        """An endpoint of PJSIP with its aor. Its auth is written only with secrets: without an auth
        of that name Asterisk accepts no registration."""
        if why := self._cannot_be_named(extension):
            return _left_out(extension, why)
        if self._with_secrets and extension.password != extension.password.strip():
            return _left_out(
                extension, "its password begins or ends with a blank, which Asterisk removes"
            )
        number = extension.extension
        of = Number(number, extension.name, extension.voicemail)
        options = endpoint_options(of, self._context, emergency, language)
        endpoint = _section(number, ("type", "endpoint"), *options)
        aor = _section(number, ("type", "aor"), *AOR_OPTIONS)
        auth = ""
        if self._with_secrets:
            auth = _section(number, ("type", "auth"), *auth_options(number, extension.password))
        return Section(endpoint + auth + aor)

    def of_leaver(self, extension: Extension) -> Section:
        """No section for an extension whose users are all inactive."""
        return _left_out(extension, "no user of it is active")

    def phone_endpoint(self, phone: Phone, numbers: Iterable[str]) -> Section | None:
        """An endpoint of PJSIP named after a phone: restarts are sent to the contacts of its
        AORs, which are the AORs of the extensions. A phone registers by its extension, so that this
        endpoint serves no registration; it has the auth of the first extension, since
        Asterisk accepts calls from an endpoint without one. None without an extension."""
        aors = [number for number in numbers if number.casefold() in self._names]
        if not aors:
            return None
        options = phone_options(aors, self._context)
        return Section(_section(device_name(phone.mac), ("type", "endpoint"), *options))

    def _cannot_be_named(self, extension: Extension) -> str | None:
        # Asterisk ignores case in section names.
        name = extension.extension.casefold()
        if name in _TAKEN or _DEVICE.fullmatch(name):
            return "a section of its name means something else to Asterisk"
        if name in self._names:
            return "another extension has the same name except for upper and lower case"
        self._names.add(name)
        return None


def _left_out(extension: Extension, why: str) -> Section:
    return Section(left_out=f"The extension {extension.extension} was omitted: {why}.")


def _section(name: str, *options: tuple[str, str]) -> str:
    lines = [f"[{name}]", *(f"{option} = {_value(value)}" for option, value in options)]
    return "\n".join(lines) + "\n\n"


def _value(text: str) -> str:
    return _BREAKS.sub(" ", text).strip().replace(";", "\\;")
