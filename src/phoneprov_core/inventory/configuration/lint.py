"""Finds mistakes in a device configuration. Cost and memory are linear in the size of the text; the
findings are bounded in number and size."""

import re
from functools import cache

from phoneprov_core.inventory.configuration.findings import (
    HOSTS,
    KNOWN,
    NUMBERS,
    REPEATED,
    SPELLINGS,
    URLS,
    WORDS,
    Finding,
    Findings,
    Severity,
    host_fault,
    load_fault,
    url_fault,
)
from phoneprov_core.inventory.configuration.well_formed import LARGEST, Element, fault_in, walk
from phoneprov_core.inventory.phones.model import speaks_sip
from phoneprov_core.kernel.secrets import has_secret_in_url, names_secret

LONGEST_SHOWN = 64
"""Maximum number of characters of a name or value in a message."""


def lint(
    content: bytes, *, mac: str | None = None, family: str | None = None, largest: int = LARGEST
) -> tuple[Finding, ...]:
    """The findings in the order of their positions, at most ``MOST_FINDINGS`` and one more. ``mac``
    (canonical) is the phone the text is for, ``family`` its firmware family (``SCCP``, ``SIP``,
    ``SIPE``); each is None if unknown."""
    if len(content) > largest:
        return (_error(1, 1, "too_large", f"The text has more than {largest} bytes."),)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return (_error(1, 1, "wrong_encoding", "The text is UTF-16; phones are given UTF-8."),)
    if fault := fault_in(content):
        return (_error(fault.line, fault.column, fault.code, f"The text {fault.message}."),)
    findings = Findings()
    if content.startswith(b"\xef\xbb\xbf"):
        message = "The text begins with a byte order mark."
        findings.add(Severity.NOTE, 1, 1, "byte_order_mark", message)
    walk(content, _Linter(findings, mac, family).look_at)
    return findings.sorted()


def _error(line: int, column: int, code: str, message: str) -> Finding:
    return Finding(Severity.ERROR, line, column, code, message)


_NOT_A_NUMBER = frozenset({"true", "false", "on", "off", "yes", "no", "enabled", "disabled"})
_DEVICE_NAME = re.compile(r"\bSEP([0-9A-Fa-f]{12})\b")
_CALL_MANAGER = "device/devicePool/callManagerGroup/members/member/callManager/processNodeName"
_SIP_LINE = "device/sipProfile/sipLines/line"
_WEB_ACCESS = frozenset(
    f"device/{group}/webAccess" for group in ("vendorConfig", "commonConfig", "enterpriseConfig")
)
_SERVICES = frozenset({"servicesURL", "secureServicesURL", "serviceURI", "url", "URL"})
_AUTHENTICATION = frozenset({"authenticationURL", "secureAuthenticationURL"})
_DEFAULT = "Default"
"""The root of ``XMLDefault.cnf.xml``, for phones without a file of their own. It names a load for
each type of phone, ``loadInformation435``."""
_DEFAULT_CALL_MANAGER = f"{_DEFAULT}/{_CALL_MANAGER.partition('/devicePool/')[2]}"
_LOAD_OF_MODEL = re.compile(r"loadInformation[0-9]{1,6}")
_LOADS = frozenset({"loadInformation", "inactiveLoadInformation"})
_AS_CALL_MANAGER = "USECALLMANAGER"
# 7900 phones take the name of a line without an authName for it.
_SENDS_NAME = re.compile(r"(?:SIP[347][0-9]\.|P0S)", re.IGNORECASE)
_PLACES = {"line": "button", "addOnModule": "idx"}
"""Elements of which one is used for each value of an attribute."""
_LAST_NAMES = frozenset(
    {"deviceProtocol", "line", "loadInformation", "processNodeName", "webAccess"}
)
_ONCE = frozenset(
    {"callManagerGroup", "deviceProtocol", "devicePool", "loadInformation", "processNodeName",
     "sipLines", "sipProfile", "vendorConfig", "webAccess"}
)  # fmt: skip


class _Linter:
    """Looks at each element once, and at the end for what is missing."""

    def __init__(self, findings: Findings, mac: str | None, family: str | None) -> None:
        self._findings = findings
        self._digits = mac.replace(":", "") if mac else None
        self._family = family
        self._is_secret = cache(names_secret)  # for this text only
        self._unknown: set[str] = set()
        """Unknown names that were reported. Only the first element of a name is."""
        self._present: set[str] = set()
        self._protocol = ""
        self._load = ""
        self._leads_to_services = False
        self._has_authentication = False
        self._in_line: set[str] = set()
        """The elements with a value in the line that has not ended yet."""
        self._has_proxy = False
        self._without_name: list[Element] = []
        self._places: set[tuple[int, str, str]] = set()

    def look_at(self, element: Element) -> None:
        value = element.text.strip()
        self._look_at_name(element)
        self._look_at_value(element, value)
        if value:
            self._look_at_form(element, value)
        if element.name in _PLACES:
            self._look_at_place(element)
        if element.name == "line":
            self._end_line(element)
        if value or element.attributes:
            self._look_at_secrets(element, value)
            self._look_for_other_phones(element, value)
        if element.parent is None:
            self._look_at_root(element)

    def _find(self, severity: Severity, at: Element, code: str, message: str) -> None:
        self._findings.add(severity, at.line, at.column, code, message)

    def _look_at_name(self, element: Element) -> None:
        name, parent = element.name, element.parent
        if parent is None:
            return
        is_known = name in KNOWN
        if not is_known and parent.name == _DEFAULT and _LOAD_OF_MODEL.fullmatch(name):
            is_known = True
        if not is_known:
            if name not in self._unknown:
                self._unknown.add(name)
                self._look_at_unknown_name(element)
        elif name in parent.inside and name not in REPEATED:
            severity = Severity.ERROR if name in _ONCE else Severity.WARNING
            message = f"{name} occurs more than once in {_cut(parent.name)}; only one is used."
            self._find(severity, element, "duplicate_element", message)

    def _look_at_unknown_name(self, element: Element) -> None:
        known = SPELLINGS.get(element.name.casefold())
        shown = _cut(element.name)
        if known:
            message = f"{shown} is read as {known} only: names are case-sensitive."
            self._find(Severity.WARNING, element, "other_case", message)
        else:
            message = f"{shown} is not a known element; some firmware may support it."
            self._find(Severity.NOTE, element, "unknown_element", message)

    def _look_at_value(self, element: Element, value: str) -> None:
        name = element.name
        path = element.path if name in _LAST_NAMES else ""
        if path and (value or element.inside):
            self._present.add(path)
        if name in NUMBERS and value.casefold() in _NOT_A_NUMBER:
            message = f"{name} is a number; phones do not understand {value!r} here."
            self._find(Severity.ERROR, element, "word_for_number", message)
        if name in WORDS and value.isdigit():
            message = f"{name} is true or false; phones may not understand {_cut(value)} here."
            self._find(Severity.WARNING, element, "number_for_word", message)
        if path in _WEB_ACCESS and value == "1":
            message = (
                "webAccess 1 switches the phone's web server off (0 is on): the phone can then "
                "neither be restarted nor be observed over it."
            )
            self._find(Severity.WARNING, element, "web_access_off", message)
        if name in _SERVICES and "/phone/services" in value:
            self._leads_to_services = True
        if name in _AUTHENTICATION and value:
            self._has_authentication = True
        if path == "device/deviceProtocol":
            self._protocol = value
            self._look_at_protocol(element, value)
        if path == "device/loadInformation":
            self._load = value

    def _look_at_form(self, element: Element, value: str) -> None:
        """Look at addresses, URLs and names of loads."""
        name, fault = element.name, None
        if name in HOSTS:
            fault = host_fault(value)
            if name == "proxy" and value.upper() != _AS_CALL_MANAGER:
                self._has_proxy = True
        elif name in URLS:
            fault = url_fault(value)
        elif name in _LOADS or _LOAD_OF_MODEL.fullmatch(name):
            fault = load_fault(value)
        if fault is not None:
            self._find(Severity.WARNING, element, "wrong_value", f"{_cut(name)} {fault}.")
        if element.parent is not None and element.parent.name == "line":
            self._in_line.add(name)

    def _look_at_place(self, element: Element) -> None:
        """Look whether another element has the same place."""
        attribute = _PLACES[element.name]
        number = element.attributes.get(attribute, "").strip().lstrip("0")
        place = (element.parent.start if element.parent else 0, element.name, number)
        if number and place in self._places:
            message = (
                f"Another {element.name} has the {attribute} {_cut(number)}, too; only one is used."
            )
            self._find(Severity.WARNING, element, "same_place", message)
        self._places.add(place)

    def _end_line(self, line: Element) -> None:
        if "authPassword" in self._in_line and "authName" not in self._in_line:
            self._without_name.append(line)
        self._in_line.clear()

    def _look_at_protocol(self, element: Element, value: str) -> None:
        if not value:
            return  # reported as missing
        expected = "SIP" if speaks_sip(self._family) else "SCCP"
        if value not in {"SCCP", "SIP"}:
            message = "deviceProtocol is SCCP or SIP."
            self._find(Severity.WARNING, element, "unknown_protocol", message)
        elif self._family and value != expected:
            message = f"deviceProtocol is {value}, but the profile is for {self._family} phones."
            self._find(Severity.WARNING, element, "other_protocol", message)

    def _look_at_secrets(self, element: Element, value: str) -> None:
        names = [name for name, text in element.attributes.items() if text.strip()]
        if value:
            names.append(element.name)
        if value and has_secret_in_url(value):
            message = f"The URL in {_cut(element.name)} contains a secret in clear text."
            self._find(Severity.NOTE, element, "secret_in_clear", message)
        for name in names:
            if self._is_secret(name):
                message = f"{_cut(name)} contains a secret in clear text."
                self._find(Severity.NOTE, element, "secret_in_clear", message)

    def _look_for_other_phones(self, element: Element, value: str) -> None:
        if self._digits is None:
            return
        for text in (value, *element.attributes.values()):
            for digits in _DEVICE_NAME.findall(text):
                if digits.upper() != self._digits:
                    other = f"SEP{digits}, but the configuration is for another phone."
                    message = f"{_cut(element.name)} names {other}"
                    self._find(Severity.WARNING, element, "other_phone", message)

    def _look_at_default(self, root: Element) -> None:
        if self._digits is not None or self._family is not None:
            message = (
                "The root element is Default, as in XMLDefault.cnf.xml; a phone expects device."
            )
            self._find(Severity.ERROR, root, "wrong_root", message)
        elif _DEFAULT_CALL_MANAGER not in self._present:
            what = _DEFAULT_CALL_MANAGER.removeprefix(f"{_DEFAULT}/")
            message = f"There is no {what}: phones will not know where to register."
            self._find(Severity.WARNING, root, "missing_element", message)

    def _look_at_root(self, root: Element) -> None:
        if root.name == _DEFAULT:
            self._look_at_default(root)
            return
        if root.name != "device":
            message = f"The root element is {_cut(root.name)}; phones expect device."
            self._find(Severity.ERROR, root, "wrong_root", message)
            return

        def lacks(severity: Severity, what: str, why: str) -> None:
            self._find(severity, root, "missing_element", f"There is no {what}: {why}.")

        if _CALL_MANAGER not in self._present and not (self._protocol == "SIP" and self._has_proxy):
            why = "the phone will not know where to register"
            lacks(Severity.ERROR, _CALL_MANAGER.removeprefix("device/"), why)
        if "device/deviceProtocol" not in self._present:
            lacks(Severity.WARNING, "deviceProtocol", "the phone goes by its firmware")
        if "device/loadInformation" not in self._present:
            lacks(Severity.WARNING, "loadInformation", "the phone keeps the firmware it has")
        if not _WEB_ACCESS & self._present:
            why = "its default may be off, and then the phone accepts no commands"
            lacks(Severity.WARNING, "vendorConfig/webAccess", why)
        if self._protocol == "SIP" and _SIP_LINE not in self._present:
            why = "a SIP phone has no lines then"
            lacks(Severity.WARNING, _SIP_LINE.removeprefix("device/"), why)
        if not self._leads_to_services:
            message = (
                "There is no servicesURL or phoneServices that leads to /phone/services: a user "
                "who logs in with this profile cannot log out at the phone."
            )
            self._find(Severity.WARNING, root, "no_phone_services", message)
        if not self._has_authentication:
            message = (
                "There is no authenticationURL: the phone may refuse the commands of this service."
            )
            self._find(Severity.WARNING, root, "no_authentication", message)
        if not _SENDS_NAME.match(self._load):
            for line in self._without_name:
                message = (
                    "The line has an authPassword and no authName: 88xx phones log in with an "
                    "empty user name then."
                )
                self._find(Severity.WARNING, line, "no_auth_name", message)
        load = self._load.upper()
        for family, other in (("SCCP", "SIP"), ("SIP", "SCCP")):
            if self._protocol == family and load.startswith(other):
                message = f"loadInformation names {other} firmware, but deviceProtocol is {family}."
                self._find(Severity.WARNING, root, "other_firmware", message)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
