"""Findings of the linter, and the checks of element values."""

import re
from enum import Enum
from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.fields import schema

MOST_FINDINGS = 200
"""Maximum number of findings reported. Further ones are counted in a last finding."""


class Severity(Enum):
    """Severity of a finding."""

    ERROR = "error"
    """The phone rejects the file or applies a wrong setting."""
    WARNING = "warning"
    """The phone may behave otherwise than intended."""
    NOTE = "note"
    """For information."""


class Finding(Struct, frozen=True):
    """One finding and its position; lines and columns count from 1."""

    severity: Annotated[Severity, schema("Severity")]
    line: Annotated[int, schema("Line, from 1", minimum=1, examples=[3])]
    column: Annotated[int, schema("Column, from 1", minimum=1, examples=[5])]
    code: Annotated[str, schema("A slug for programs", examples=["unknown_element"])]
    message: Annotated[str, schema("Message without secrets")]


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Whether one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


class Findings:
    """Collects findings in bounded memory."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._count = 0

    def add(self, severity: Severity, line: int, column: int, code: str, message: str) -> None:
        """Add a finding. Positions may be added in any order."""
        self._count += 1
        self._found.append(Finding(severity, line, column, code, message))
        if len(self._found) > 4 * MOST_FINDINGS:
            self._drop_last()

    def sorted(self) -> tuple[Finding, ...]:
        """All findings in the order of their positions; only the first ``MOST_FINDINGS``, and
        then the number of the others at the position of the next one."""
        self._drop_last()
        found = self._found
        if self._count > MOST_FINDINGS:
            last = found[MOST_FINDINGS]
            more = f"{self._count - MOST_FINDINGS} more findings are left out from here on."
            note = Finding(Severity.NOTE, last.line, last.column, "more_findings", more)
            return (*found[:MOST_FINDINGS], note)
        return tuple(found)

    def _drop_last(self) -> None:
        self._found.sort(key=lambda one: (one.line, one.column, one.code))
        del self._found[MOST_FINDINGS + 1 :]


LIST = ".loads"
ONE_FILE = (".bin", ".sbin", ".sbn", ".zup")
"""The endings of loads that are one file: 7910, 7912, 7937, modules; 7905 and ATA."""
LISTED = (*ONE_FILE, ".sebn", ".sgn", ".sb2", ".zz", ".elf")
"""Endings of the files that a list names. A signed list may contain its own name."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HOSTS = _names("backupProxy emergencyProxy loadServer outboundProxy processNodeName proxy")
"""Elements that hold a host name or an address, without scheme and port."""

URLS = _names(
    """
    authenticationURL directoryURL idleURL informationURL messagesURL problemReportUploadURL
    secureAuthenticationURL secureDirectoryURL secureIdleURL secureInformationURL
    secureMessagesURL secureServicesURL serviceURI servicesURL url
    """
)
"""Elements that hold an address that phones open."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r"[^:\s]+:[0-9]+(?:/.*)?|\[[^\]]*\].*", re.DOTALL)
_CONTAINS = re.compile(r"[\s/\\]")
# The schemes of phones that files name: Application:Cisco/MissedCalls, Key:Directories.
_OWN_SCHEMES = _names(
    """
    application custompush device dial display edit editdial http https init key notify play
    querystring rtp rtpmrx rtpmtx rtprx rtptx softkey tel urltarget userdata vibrate video
    """
)


def host_fault(value: str) -> str | None:
    """Why a text is not a host name or an address."""
    if "://" in value or value.casefold().startswith(("sip:", "sips:", "tftp:", "http:", "https:")):
        return "contains a scheme; phones look for a host of that name"
    if _PORT.fullmatch(value):
        return "contains a port; ports have elements of their own"
    if _CONTAINS.search(value):
        return "is not the name or the address of a host"
    return None


def url_fault(value: str) -> str | None:
    """Why phones cannot open a URL."""
    scheme = _SCHEME.match(value)
    if scheme is None or _PORT.fullmatch(value):
        return "has no scheme, such as http://"
    if scheme[1].casefold() not in _OWN_SCHEMES:
        return f"has the scheme {scheme[1].casefold()[:16]}:, which phones do not open"
    if scheme[1].casefold() in {"http", "https"} and not re.match("//[^/]", value[scheme.end() :]):
        return "has no host after the scheme"
    return None


def ending_of(load: str) -> str | None:
    """The ending of a file that stands after the name of a load, as it is written, or None."""
    endings = (LIST, *LISTED)
    return next((load[-len(one) :] for one in endings if load.lower().endswith(one)), None)


def load_fault(value: str) -> str | None:
    """Why a text is not the name of a load."""
    ending = ending_of(value)
    if ending is None:
        return "contains a blank or a slash" if _CONTAINS.search(value) else None
    if ending.lower() == LIST:
        return f"ends in {ending}: phones append {LIST} and request a file {ending}{LIST}"
    return f"ends in {ending}: phones append the ending themselves"
