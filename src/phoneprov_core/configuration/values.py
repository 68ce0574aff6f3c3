"""What is wrong with addresses, URLs and names of loads in a configuration. A fault is a predicate
and quotes no value: a URL may contain a password."""

import re

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
