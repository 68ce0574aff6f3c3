"""What is wrong, or worth a second look, in a device configuration."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated

from msgspec import Struct

from phoneprov_core.configuration.catalogue import KNOWN, NUMBERS, REPEATED, SPELLINGS, WORDS
from phoneprov_core.configuration.elements import Element, walk
from phoneprov_core.configuration.masking import has_secret_in_url, speaks_of_secret
from phoneprov_core.configuration.well_formed import LARGEST, fault_in
from phoneprov_core.kernel.fields import schema

MOST_FINDINGS = 200
"""A text that has more wrong with it is told that it has."""


class Severity(Enum):
    """How much it matters."""

    ERROR = "error"
    """The phone will not take it, or will be set wrongly."""
    WARNING = "warning"
    """It may not do what was meant."""
    NOTE = "note"
    """Worth knowing."""


class Finding(Struct, frozen=True):
    """One thing found at a place; lines and columns count from 1."""

    severity: Severity
    line: int
    column: int
    code: Annotated[str, schema(description="A slug for programs", examples=["unknown_element"])]
    message: Annotated[str, schema(description="A sentence; it never holds a secret")]


def lint(
    content: bytes, *, mac: str | None = None, family: str | None = None, largest: int = LARGEST
) -> tuple[Finding, ...]:
    """All findings in the order of their places.

    ``mac``, in canonical form, is the phone it is for, ``family`` the firmware family
    (``SCCP``, ``SIP``, ``SIPE``), each None when it is not known.
    """
    if len(content) > largest:
        return (_error(1, 1, "too_large", f"The text has more than {largest} bytes."),)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return (_error(1, 1, "wrong_encoding", "The text is UTF-16; phones are given UTF-8."),)
    if fault := fault_in(content):
        return (_error(fault.line, fault.column, fault.code, f"The text {fault.message}."),)
    linter = _Linter(mac, family)
    if content.startswith(b"\xef\xbb\xbf"):
        linter.note(1, 1, "byte_order_mark", "The text begins with a byte order mark.")
    walk(content, linter.look_at)
    found = sorted(linter.findings, key=lambda one: (one.line, one.column, one.code))
    if len(found) > MOST_FINDINGS:
        last = found[MOST_FINDINGS]
        more = f"{len(found) - MOST_FINDINGS} more findings are left out from here on."
        note = Finding(Severity.NOTE, last.line, last.column, "more_findings", more)
        found[MOST_FINDINGS:] = [note]
    return tuple(found)


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Whether there is an error among them."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def _error(line: int, column: int, code: str, message: str) -> Finding:
    return Finding(Severity.ERROR, line, column, code, message)


_NOT_A_NUMBER = frozenset({"true", "false", "on", "off", "yes", "no", "enabled", "disabled"})
_DEVICE_NAME = re.compile(r"\bSEP([0-9A-Fa-f]{12})\b")
_CALL_MANAGER = "device/devicePool/callManagerGroup/members/member/callManager/processNodeName"
_SIP_LINE = "device/sipProfile/sipLines/line"
_WEB_ACCESS = frozenset(
    f"device/{group}/webAccess" for group in ("vendorConfig", "commonConfig", "enterpriseConfig")
)
_ONCE = frozenset(
    {"callManagerGroup", "deviceProtocol", "devicePool", "loadInformation", "processNodeName",
     "sipLines", "sipProfile", "vendorConfig", "webAccess"}
)  # fmt: skip


class _Linter:
    """Looks at each element once, and in the end at what was never there."""

    def __init__(self, mac: str | None, family: str | None) -> None:
        self.findings: list[Finding] = []
        self._digits = mac.replace(":", "") if mac else None
        self._family = family
        self._told: set[tuple[str, str]] = set()
        self._present: set[str] = set()
        self._protocol = ""
        self._load = ""

    def look_at(self, element: Element) -> None:
        value = element.text.strip()
        self._look_at_name(element)
        self._look_at_value(element, value)
        self._look_at_secrets(element, value)
        self._look_for_other_phones(element, value)
        if element.parent is None:
            self._look_at_root(element)

    def note(self, line: int, column: int, code: str, message: str) -> None:
        self.findings.append(Finding(Severity.NOTE, line, column, code, message))

    def _find(self, severity: Severity, at: Element, code: str, message: str) -> None:
        self.findings.append(Finding(severity, at.line, at.column, code, message))

    def _find_once(self, severity: Severity, at: Element, code: str, message: str) -> None:
        """The first of its kind tells for the others of the same name."""
        if (code, at.name) not in self._told:
            self._told.add((code, at.name))
            self._find(severity, at, code, message)

    def _look_at_name(self, element: Element) -> None:
        name, parent = element.name, element.parent
        if parent is not None and name not in KNOWN:
            known = SPELLINGS.get(name.casefold())
            if known:
                message = f"{name} is read as {known} only: large and small letters count."
                self._find_once(Severity.WARNING, element, "other_case", message)
            else:
                message = f"{name} is no element that is known here; some firmware may know it."
                self._find_once(Severity.NOTE, element, "unknown_element", message)
        if parent is not None and name in parent.inside and name in KNOWN - REPEATED:
            severity = Severity.ERROR if name in _ONCE else Severity.WARNING
            message = f"{name} stands in {parent.name} more than once; which one counts is open."
            self._find(severity, element, "duplicate_element", message)

    def _look_at_value(self, element: Element, value: str) -> None:
        name, path = element.name, element.path
        if value or element.inside:
            self._present.add(path)
        if name in NUMBERS and value.casefold() in _NOT_A_NUMBER:
            message = f"{name} is a number; phones do not understand {value!r} there."
            self._find(Severity.ERROR, element, "word_for_number", message)
        if name in WORDS and value.isdigit():
            message = f"{name} is true or false; phones may not understand {value} there."
            self._find(Severity.WARNING, element, "number_for_word", message)
        if path in _WEB_ACCESS and value == "1":
            message = (
                "webAccess 1 switches the phone's web server off (0 is on): the phone can then "
                "neither be told to restart over it nor be seen to come back."
            )
            self._find(Severity.WARNING, element, "web_access_off", message)
        if path == "device/deviceProtocol":
            self._protocol = value
            self._look_at_protocol(element, value)
        if path == "device/loadInformation":
            self._load = value

    def _look_at_protocol(self, element: Element, value: str) -> None:
        if not value:
            return  # told as missing
        if value not in {"SCCP", "SIP"}:
            message = "deviceProtocol is SCCP or SIP."
            self._find(Severity.WARNING, element, "unknown_protocol", message)
        elif self._family and value != self._family.removesuffix("E"):
            message = f"deviceProtocol is {value}, but this is for {self._family} phones."
            self._find(Severity.WARNING, element, "other_protocol", message)

    def _look_at_secrets(self, element: Element, value: str) -> None:
        names = [name for name, text in element.attributes.items() if text.strip()]
        if value:
            names.append(element.name)
        if has_secret_in_url(value):
            message = f"The URL in {element.name} brings a secret along in clear text."
            self._find(Severity.NOTE, element, "secret_in_clear", message)
        for name in names:
            if speaks_of_secret(name):
                message = f"{name} holds a secret in clear text; who reads the file knows it."
                self._find(Severity.NOTE, element, "secret_in_clear", message)

    def _look_for_other_phones(self, element: Element, value: str) -> None:
        if self._digits is None:
            return
        for text in (value, *element.attributes.values()):
            for digits in _DEVICE_NAME.findall(text):
                if digits.upper() != self._digits:
                    message = f"{element.name} names SEP{digits}, but this is for another phone."
                    self._find(Severity.WARNING, element, "other_phone", message)

    def _look_at_root(self, root: Element) -> None:
        if root.name != "device":
            message = f"The root element is {root.name}; a phone looks for device."
            self._find(Severity.ERROR, root, "wrong_root", message)
            return

        def lacks(severity: Severity, what: str, why: str) -> None:
            self._find(severity, root, "missing_element", f"There is no {what}: {why}.")

        if _CALL_MANAGER not in self._present:
            why = "the phone will not know where to register"
            lacks(Severity.ERROR, _CALL_MANAGER.removeprefix("device/"), why)
        if "device/deviceProtocol" not in self._present:
            lacks(Severity.WARNING, "deviceProtocol", "the phone goes by its firmware")
        if "device/loadInformation" not in self._present:
            lacks(Severity.WARNING, "loadInformation", "the phone keeps the firmware it has")
        if not _WEB_ACCESS & self._present:
            why = "its default may be off, and then the phone cannot be told anything"
            lacks(Severity.WARNING, "vendorConfig/webAccess", why)
        if self._protocol == "SIP" and _SIP_LINE not in self._present:
            why = "a SIP phone has no lines then"
            lacks(Severity.WARNING, _SIP_LINE.removeprefix("device/"), why)
        load = self._load.upper()
        for family, other in (("SCCP", "SIP"), ("SIP", "SCCP")):
            if self._protocol == family and load.startswith(other):
                message = f"loadInformation names {other} firmware, but deviceProtocol is {family}."
                self._find(Severity.WARNING, root, "other_firmware", message)
