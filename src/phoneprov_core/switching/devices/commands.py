"""Commands to Cisco phones: a restart, and the end of what a phone shows, as key presses over
its web server (CGI/Execute) and as actions of Asterisk's manager interface; the replies; and the
driver that sends them."""

import re
from enum import Enum
from html import escape
from urllib.parse import urlencode

from msgspec import structs

from phoneprov_core.inventory.configuration.well_formed import elements_of
from phoneprov_core.inventory.phones.model import Phone, bare_model, is_multiplatform, speaks_sip
from phoneprov_core.kernel.errors import Invalid, Refused
from phoneprov_core.switching.devices.names import device_name
from phoneprov_core.switching.devices.ports import (
    ForgetsCalls,
    KeyPress,
    ManagerAction,
    ManagerInterface,
    PhoneCommands,
    PhoneDriver,
    Proceed,
    always,
)
from phoneprov_core.switching.errors import REPLY_LOST, AddressNotConfirmed, NoAddress, NoRestart

CLEAR_CALLS = (KeyPress("Init:CallHistory"),)
"""Clears the lists of missed, received and placed calls."""

CLEAR_SERVICES = (KeyPress("Init:Services"),)
"""Closes the phone's services application; has no effect if it is not open."""

CALL_ID = "{}"
"""Stands for the Call-ID of the phone's registration in a NOTIFY; the manager interface fills it
in if it knows it."""


class RestartType(Enum):
    """How a phone restarts."""

    RESTART = "restart"
    """Registers anew with its new configuration; enough for lines, keys and speed dials."""
    RESET = "reset"
    """Starts like after a power cycle, DHCP included; firmware, locale and service addresses
    need it."""


_STARS = ("Key:KeyPadStar", "Key:KeyPadStar", "Key:KeyPadPound", "Key:KeyPadStar", "Key:KeyPadStar")


def _menu(key: str, *then: str, pause: float) -> tuple[KeyPress, ...]:
    return (KeyPress(key, 1.0), *(KeyPress(uri, pause) for uri in then))


_SETTINGS_STARS = _menu("Key:Settings", *_STARS, pause=0.2)
_APPLICATIONS_441 = _menu(
    "Key:Applications", "Key:KeyPad4", "Key:KeyPad4", "Key:KeyPad1", "Key:Soft3", pause=0.5
)
_APPLICATIONS_641 = _menu(
    "Key:Applications", "Key:KeyPad6", "Key:KeyPad4", "Key:KeyPad1", "Key:Soft3", pause=0.5
)
_BY_FAMILY = {
    "99": _APPLICATIONS_441,
    "89": _APPLICATIONS_441,
    "88": _APPLICATIONS_641,
    "78": _APPLICATIONS_641,
}


def restart_keys(model: str | None) -> tuple[KeyPress, ...]:
    """The keys that restart a phone of this model when pressed over its web server.

    A 79xx restarts on ``**#**`` in its settings menu; an unknown model counts as one. Newer
    families reach the restart through the applications menu; its digits depend on firmware and menu
    layout, so that this way is used last. Keys know one kind of restart.
    """
    bare = bare_model(model or "")
    family = bare[:2] if re.match(r"[0-9]{4}", bare, re.ASCII) else ""
    return _BY_FAMILY.get(family, _SETTINGS_STARS)


def sccp_restart(mac: str, kind: RestartType = RestartType.RESTART) -> ManagerAction:
    """The action of chan_sccp that restarts a phone; accepted means queued."""
    return ManagerAction(
        "SCCPDeviceRestart", (("DeviceName", device_name(mac)), ("Type", kind.value))
    )


def sip_restart(mac: str, kind: RestartType = RestartType.RESTART) -> ManagerAction:
    """A SIP NOTIFY through PJSIP that asks a phone to restart; accepted means queued. The body is
    the service-control form of Cisco's SIP firmware. Asterisk splits values at commas, so that no
    value may contain one, and adds ``Subscription-State`` itself."""
    stamps = ("Config", "Dialplan", "Softkey", "FeatureControl")
    body = (
        f"action={kind.value}",
        f"RegisterCallId={CALL_ID}",
        *(f"{stamp}VersionStamp={{0000000000000000}}" for stamp in stamps),
    )
    variables = (
        "Event=service-control",
        "Content-Type=text/plain",
        *(f"Content={line}" for line in body),
    )
    fields = (("Endpoint", device_name(mac)), *(("Variable", text) for text in variables))
    return ManagerAction("PJSIPNotify", fields)


def restart_action(
    software_type: str | None, mac: str, kind: RestartType = RestartType.RESTART
) -> ManagerAction:
    """A NOTIFY for SIP and SIPE phones, chan_sccp's action for every other."""
    if speaks_sip(software_type):
        return sip_restart(mac, kind)
    return sccp_restart(mac, kind)


def require_single_lines(action: ManagerAction) -> None:
    """Raises ``Invalid`` if a name or value holds CR, LF or NUL. The protocol consists of lines: a
    line end inside a value would start another action."""
    texts = (action.name, *(text for field in action.fields for text in field))
    if any(character in text for text in texts for character in "\r\n\0"):
        raise Invalid("A field of a manager action must not contain a line end.")


class RestartBy(Enum):
    """The ways to restart a phone."""

    AUTO = "auto"
    """Through Asterisk if its manager interface is configured, else over the phone's web server."""
    AMI = "ami"
    HTTP = "http"
    NONE = "none"


class CiscoPhones(PhoneDriver):
    """Cisco phones: restarted in the configured way, sent everything else over their own web
    servers. Commands there carry the login of the fleet: a phone whose address is not confirmed
    gets none, and is restarted through the manager interface if there is one."""

    def __init__(
        self,
        by: RestartBy,
        commands: PhoneCommands,
        manager: ManagerInterface | None,
        kind: RestartType = RestartType.RESTART,
    ) -> None:
        if by is RestartBy.AUTO:
            by = RestartBy.AMI if manager else RestartBy.HTTP
        self._by = by
        self._commands = commands
        self._manager = manager
        self._kind = kind

    async def leave_services(self, phone: Phone) -> None:
        if not is_multiplatform(phone.software_type):  # its firmware does not know Init:Services
            await self._commands.execute(commanded_ip(phone), CLEAR_SERVICES, phone.mac)

    async def forget_calls(self, phone: Phone) -> None:
        """See ``ForgetsCalls``."""
        is_mpp = is_multiplatform(phone.software_type)
        keys = tuple(structs.replace(key, may_be_empty=is_mpp) for key in CLEAR_CALLS)
        await self._commands.execute(commanded_ip(phone), keys, phone.mac)

    async def restart(
        self, phone: Phone, software_type: str | None, proceed: Proceed = always
    ) -> None:
        if self._by is RestartBy.NONE:
            raise NoRestart
        is_confirmed = phone.address_confirmed or self._manager is None
        if self._by is RestartBy.HTTP and is_confirmed:
            keys = restart_keys(phone.model)
            if is_multiplatform(software_type):
                keys = tuple(structs.replace(key, may_be_empty=True) for key in keys)
            await self._commands.execute(commanded_ip(phone), keys, phone.mac, proceed)
            return
        if self._manager is None:
            raise NoRestart(
                "The phone was not restarted: no manager interface is set up (PHONEPROV_AMI_HOST)."
            )
        action = restart_action(software_type, phone.mac, self._kind)
        await self._manager.perform(action, phone.phone_ip, proceed)


class NeverRestarting(PhoneDriver):
    """Another driver whose ``restart`` is never called."""

    def __init__(self, driver: PhoneDriver) -> None:
        self._driver = driver

    async def leave_services(self, phone: Phone) -> None:
        await self._driver.leave_services(phone)

    async def forget_calls(self, phone: Phone) -> None:
        """See ``ForgetsCalls``."""
        if isinstance(self._driver, ForgetsCalls):
            await self._driver.forget_calls(phone)

    async def restart(
        self,
        phone: Phone,  # noqa: ARG002
        software_type: str | None,  # noqa: ARG002
        proceed: Proceed = always,  # noqa: ARG002
    ) -> None:
        raise NoRestart


def commanded_ip(phone: Phone) -> str:
    """The address that commands, which carry a login, may be sent to. Raises ``NoAddress``, and
    ``AddressNotConfirmed``."""
    reachable_ip(phone)
    if phone.login_ip is None:
        raise AddressNotConfirmed
    return phone.login_ip


def reachable_ip(phone: Phone) -> str:
    """The phone's recorded address; raises ``Conflict`` if there is none."""
    if phone.phone_ip is None:
        raise NoAddress("The phone's address (phone_ip) is not recorded.")
    return phone.phone_ip


_URI = re.compile(r"[\x21-\x7e]{1,256}")
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_XML_LIMIT = 512


def execute_body(uri: str) -> bytes:
    """The form that has a phone execute one command.

    One field ``XML`` that holds a ``CiscoIPPhoneExecute`` with one item, at most 512 bytes of XML,
    as Cisco's XML services guide requires. Raises ``Invalid`` unless the command is 1 to 256
    printable ASCII characters and fits when escaped.
    """
    xml = (
        "<CiscoIPPhoneExecute>"
        f'<ExecuteItem Priority="0" URL="{escape(uri)}"/>'
        "</CiscoIPPhoneExecute>"
    )
    if not _URI.fullmatch(uri) or len(xml) > _XML_LIMIT:
        raise Invalid("This command is too long for a phone, or is not plain ASCII.")
    return urlencode({"XML": xml}).encode("ascii")


def read_execute_reply(status: int, body: bytes, *, may_be_empty: bool = False) -> None:
    """Returns if the phone's reply to a command says that it succeeded; with ``may_be_empty`` also
    for an empty reply.

    Raises ``Refused`` for every other reply, with the code ``REPLY_LOST`` for one that cannot be
    parsed. The message contains the phone's error number and no text of the reply.
    """
    require_no_redirect(status, body)
    if status in {401, 403}:
        raise Refused(f"The phone refused the login (HTTP {status}); {_CHECK_LOGIN}")
    if status != 200:
        raise Refused(
            f"The phone's web server answered HTTP {status} to the command; "
            "check that its web access is enabled."
        )
    if may_be_empty and not body.strip():
        return
    try:
        root, *inner = elements_of(body)
    except ValueError:
        raise _nonsense() from None
    if root.name == "CiscoIPPhoneError":
        number = _number(root.attributes.get("Number"))
        raise Refused(_ERROR_WORDS.get(number, f"The phone refused the command (error {number})."))
    items = [one for one in inner if one.depth == 1 and one.name == "ResponseItem"]
    if root.name != "CiscoIPPhoneResponse" or not items:
        raise _nonsense()
    for item in items:
        if number := _number(item.attributes.get("Status")):
            raise Refused(f"The phone could not execute the command (status {number}).")


def require_no_redirect(status: int, place: bytes) -> None:
    """Raises ``Refused`` if the web server redirects to HTTPS, which is not followed: the password
    would be sent to a place that the settings do not name."""
    if 300 <= status < 400 and place.lower().startswith(b"https:"):
        raise Refused(
            f"The phone's web server redirects to HTTPS (HTTP {status}); set "
            "PHONEPROV_PHONE_SCHEME=https, and PHONEPROV_PHONE_HTTP_PORT to its port, usually 443."
        )


_CHECK_LOGIN = (
    "check PHONEPROV_PHONE_USER, PHONEPROV_PHONE_PASSWORD and the phone's authentication URL."
)

_ERROR_WORDS = {
    # Old firmware sends 0 with the meaning of 4; 6 was observed after a malformed request.
    0: f"The phone refused the login (error 0); {_CHECK_LOGIN}",
    1: "The phone could not read the command (error 1); its firmware may not support it.",
    2: "The phone could not put its answer together (error 2); try again.",
    3: "The phone had an internal file error (error 3); restart it by hand.",
    4: f"The phone refused the login (error 4); {_CHECK_LOGIN}",
    6: "The phone could not handle the request (error 6); try again or restart it by hand.",
}


def _number(text: str | None) -> int:
    if text is None or not _NUMBER.fullmatch(text):
        raise _nonsense()
    return int(text)


def _nonsense() -> Refused:
    return Refused("The phone's reply cannot be parsed; check its phone_ip.", code=REPLY_LOST)


def require_phone(expected: str, found: str | None) -> None:
    """Raises ``Refused`` if the phone found at the recorded address is another one; ``found``
    is None if it does not report its MAC."""
    if found is not None and found != expected:
        raise Refused(
            f"Another phone, {found}, answers at the address recorded for {expected}; "
            "correct its phone_ip."
        )
