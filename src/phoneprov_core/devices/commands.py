"""Commands and file names for phones, without IO.

File names, commands to the phone's own web server (CGI/Execute) and the actions for
Asterisk's manager interface. A MAC is canonical here, ``AA:BB:CC:DD:EE:FF``; any other
spelling is a programming error and raises ValueError.
"""

from __future__ import annotations

import re
from enum import Enum
from html import escape
from typing import NoReturn
from urllib.parse import urlencode
from xml.parsers import expat

from phoneprov_core.devices.ports import KeyPress, ManagerAction
from phoneprov_core.kernel.errors import Invalid, Refused
from phoneprov_core.phones.model import bare_model, speaks_sip

DEFAULT_FILENAME_TEMPLATE = "SEP{MAC}.cnf.xml"

REPLY_LIMIT = 64 * 1024
"""Maximum number of bytes in a phone's reply."""

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


_MAC = re.compile(r"[0-9A-F]{2}(:[0-9A-F]{2}){5}")
_FILENAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_URI = re.compile(r"[\x21-\x7e]{1,256}")
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_XML_LIMIT = 512


def config_filename(template: str, mac: str) -> str:
    """The name a phone's configuration file has on the server.

    ``{MAC}`` stands for the twelve hex digits in upper case, ``{mac}`` for them in lower
    case; nothing else is replaced. Raises ValueError when the result is not 1 to 64
    characters of ``[A-Za-z0-9._-]`` or names a folder.
    """
    digits = _digits(mac)
    name = template.replace("{MAC}", digits).replace("{mac}", digits.lower())
    if not _FILENAME.fullmatch(name) or name in {".", ".."}:
        raise ValueError(
            "a file name has 1 to 64 letters, digits, dots, dashes and underscores; "
            "{MAC} and {mac} stand for the phone's MAC"
        )
    return name


def check_filename_template(template: str) -> None:
    """Raises ValueError for a template that gives no valid file name for any MAC."""
    config_filename(template, "00:00:00:00:00:00")


def device_name(mac: str) -> str:
    """The name of a phone in Asterisk: ``SEP`` and twelve hex digits."""
    return f"SEP{_digits(mac)}"


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

    Raises ``Refused`` for every other reply. The message contains the phone's error number and no
    text of the reply.
    """
    if status in {401, 403}:
        raise Refused(f"The phone refused the login (HTTP {status}); {_CHECK_LOGIN}")
    if status != 200:
        raise Refused(
            f"The phone's web server answered HTTP {status} to the command; "
            "check that its web access is enabled."
        )
    if may_be_empty and not body.strip():
        return
    (_, root, attributes), *inner = _elements(body)
    if root == "CiscoIPPhoneError":
        raise Refused(_error_words(_number(attributes.get("Number"))))
    items = [found for depth, name, found in inner if depth == 1 and name == "ResponseItem"]
    if root != "CiscoIPPhoneResponse" or not items:
        raise _nonsense()
    for item in items:
        if number := _number(item.get("Status")):
            raise Refused(f"The phone could not execute the command (status {number}).")


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


def _error_words(number: int) -> str:
    return _ERROR_WORDS.get(number, f"The phone refused the command (error {number}).")


def _number(text: str | None) -> int:
    if text is None or not _NUMBER.fullmatch(text):
        raise _nonsense()
    return int(text)


def _nonsense() -> Refused:
    return Refused("The phone's reply cannot be parsed; check its phone_ip.")


def _elements(body: bytes) -> list[tuple[int, str, dict[str, str]]]:
    """Depth, name and attributes of every element in order, the root first.

    Decoded as ISO 8859-1 regardless of its declaration: the relevant text is ASCII, and this
    decoding never fails.
    """
    if len(body) > REPLY_LIMIT:
        raise _nonsense()
    found: list[tuple[int, str, dict[str, str]]] = []
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        found.append((depth, name, attributes))
        depth += 1

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse_doctype(*_declaration: object) -> NoReturn:
        raise _nonsense()

    parser = expat.ParserCreate("iso-8859-1")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(body.removeprefix(b"\xef\xbb\xbf").strip(), True)
    except expat.ExpatError:
        raise _nonsense() from None
    return found


_STARS = ("Key:KeyPadStar", "Key:KeyPadStar", "Key:KeyPadPound", "Key:KeyPadStar", "Key:KeyPadStar")


def _menu(key: str, *then: str, pause: float) -> tuple[KeyPress, ...]:
    *others, last = then
    return (
        KeyPress(key, 1.0),
        *(KeyPress(uri, pause) for uri in others),
        KeyPress(last, pause, restarts=True),
    )


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
    """A SIP NOTIFY through PJSIP that asks a phone to restart; accepted means queued.

    The body is the service-control form of Cisco's SIP firmware. Asterisk splits values at commas,
    so that no value may contain one, and adds ``Subscription-State`` itself.
    """
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


def require_phone(expected: str, found: str | None) -> None:
    """Raises ``Refused`` if the phone found at the recorded address is another one; ``found``
    is None if it does not report its MAC."""
    if found is not None and found != expected:
        raise Refused(
            f"Another phone, {found}, answers at the address recorded for {expected}; "
            "correct phone_ip."
        )


def require_single_lines(action: ManagerAction) -> None:
    """Raises ``Invalid`` if a name or value holds CR, LF or NUL.

    The protocol consists of lines: a line end inside a value would start another action.
    """
    texts = (action.name, *(text for field in action.fields for text in field))
    if any(character in text for text in texts for character in "\r\n\0"):
        raise Invalid("A field of a manager action must not contain a line end.")


def _digits(mac: str) -> str:
    if not _MAC.fullmatch(mac):
        raise ValueError("not a canonical MAC")
    return mac.replace(":", "")
