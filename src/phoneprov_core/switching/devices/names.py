"""File names of phones, their firmware loads, and the addresses that may fetch them."""

import re
from collections.abc import Iterable
from enum import Enum
from typing import Protocol

from msgspec import Struct

from phoneprov_core.inventory.configuration.findings import LISTED, ending_of
from phoneprov_core.inventory.configuration.well_formed import Element, walk
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.kernel.values import known_mac, same_address

DEFAULT_FILENAME_PATTERN = "SEP{MAC}.cnf.xml"

_MAC = re.compile(r"[0-9A-F]{2}(:[0-9A-F]{2}){5}")
_CONTEXT = re.compile(r"[0-9A-Za-z_-]{1,79}")
_DEVICE = re.compile(r"SEP([0-9A-F]{12})", re.IGNORECASE | re.ASCII)
_FILENAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SEGMENT = re.compile(r"[A-Za-z0-9._-]{1,255}")


def config_filename(template: str, mac: str) -> str:
    """The name a phone's configuration file has on the server. ``{MAC}`` is replaced by the twelve
    hex digits in upper case, ``{mac}`` by the digits in lower case; nothing else is replaced.
    Raises ValueError when the result is not 1 to 64 characters of ``[A-Za-z0-9._-]`` or names a
    folder."""
    digits = _digits(mac)
    name = template.replace("{MAC}", digits).replace("{mac}", digits.lower())
    if not _FILENAME.fullmatch(name) or name in {".", ".."}:
        raise ValueError(
            "a file name has 1 to 64 letters, digits, dots, dashes and underscores; "
            "{MAC} and {mac} stand for the phone's MAC"
        )
    return name


def check_filename_pattern(template: str) -> None:
    """Raises ValueError for a template that gives no valid file name for any MAC."""
    config_filename(template, "00:00:00:00:00:00")


def device_name(mac: str) -> str:
    """The name of a phone in Asterisk: ``SEP`` and twelve hex digits."""
    return f"SEP{_digits(mac)}"


def mac_of_device(device: str) -> str:
    """The canonical MAC in a device name (``SEP001BD4123456``); empty for any other text."""
    match = _DEVICE.fullmatch(device)
    return known_mac(match[1]) if match else ""


def mac_in_table(cell: str) -> str:
    """The canonical MAC in a cell of a table: a MAC in any spelling, or the name of a device as
    CUCM exports it (``SEP001BD4123456``, ``ATA...``); empty for any other text."""
    match = _NAMED_DEVICE.fullmatch(cell.strip())
    return known_mac(match[1] if match else cell.strip())


def is_context(text: str) -> bool:
    """Whether this is the name of a dialplan context of Asterisk."""
    return _CONTEXT.fullmatch(text) is not None


def _digits(mac: str) -> str:
    if not _MAC.fullmatch(mac):
        raise ValueError("not a canonical MAC")
    return mac.replace(":", "")


def check_segments(*names: str) -> None:
    """Raises ``Refused`` when a name is more than one plain path segment, for uploaders. The names
    of this module never are; a path or a line end would become another file or another command on
    the server, so it is checked again."""
    for name in names:
        if _SEGMENT.fullmatch(name) is None or name in {".", ".."}:
            raise Refused("The configuration file has a name that cannot be used for uploading.")


MAX_NAME = 255
"""Characters of a requested name; RFC 1350 sets no limit, file systems do."""
_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")
# CTLSEP<MAC>.tlv, ITLSEP<MAC>.tlv, SEP<MAC>.cnf.xml, SEP<MAC>.cnf.xml.sgn and the like; the names
# of analog adapters (ATA, gk, LD) and gateways (VG, VGC).
_DEVICE_KIND = "SEP|SIP|ATA|GK|LD|VGC?"
_OF_DEVICE = re.compile(
    rf"(?:CTL|ITL)?(?:{_DEVICE_KIND})?([0-9A-F]{{12}})(?:\..*)?", re.IGNORECASE | re.ASCII
)
_NAMED_DEVICE = re.compile(rf"(?:{_DEVICE_KIND})([0-9A-F]{{12}})", re.IGNORECASE | re.ASCII)


def requested_name(requested: str) -> str:
    """A requested name as it is recorded: without slashes at the begin, each run of slashes as one.
    Phones join a path and a name with any number of them."""
    return re.sub("/+", "/", requested).removeprefix("/")


def plain_name(requested: str) -> str | None:
    """A requested name without a leading slash, in lower case; None for one that leads elsewhere.

    A name is printable ASCII without backslash, and no segment of it is empty or begins with a
    dot: hidden files include the unfinished uploads of FTP servers, with whole configurations.
    Phones put slashes before the names of locale files and mix upper and lower case.
    """
    name = requested_name(requested)
    if not _PRINTABLE.fullmatch(name) or "\\" in name:
        return None
    if any(not segment or segment.startswith(".") for segment in name.split("/")):
        return None
    return name.lower()


def mac_in(name: str) -> str | None:
    """The canonical MAC in the last segment of a requested name; None if the name holds none."""
    found = _OF_DEVICE.fullmatch(name.rpartition("/")[2])
    return known_mac(found[1]) or None if found else None


class Networks(Protocol):
    """The phone networks of the settings."""

    def contains(self, address: str) -> bool:
        """Whether the address is in one of the networks."""


class Binding(Enum):
    """Addresses that may act for a phone."""

    ADDRESS = "address"
    """The recorded ``phone_ip``; for a phone without one, the phone networks."""
    NETWORK = "network"
    """Every address of the phone networks."""

    def allows_own(self, networks: Networks, recorded: str | None, client_ip: str) -> bool:
        """Like ``allows``, for what belongs to a person: without a recorded address, which anyone
        in the phone networks could use, only ``NETWORK`` allows it."""
        if self is Binding.ADDRESS and recorded is None:
            return False
        return self.allows(networks, recorded, client_ip)

    def allows(self, networks: Networks, recorded: str | None, client_ip: str) -> bool:
        """Whether a client address may act for a phone with this recorded address, if any."""
        if self is Binding.ADDRESS and recorded is not None:
            return same_address(recorded, client_ip)
        return networks.contains(client_ip)


LARGEST = 64 * 1024
"""Maximum size of a list, in bytes; real ones have less than 2 KiB."""

_LETTER = rb"[A-Za-z0-9._-]"
_NAME = re.compile(
    rb"(?<!%b)[A-Za-z0-9]%b{2,62}(?:%b)(?!%b)"
    % (_LETTER, _LETTER, "|".join(map(re.escape, LISTED)).encode(), _LETTER),
    re.IGNORECASE,
)
_STATED = re.compile(r"(?P<what>[A-Z0-9_]+?)[.-](?P<version>\d+[.-][A-Z0-9.-]+?)S?")
_MODEL = re.compile(r"\d[\dX_]+")
_VERSIONED = re.compile(r"(?=(?:.*\d){3})[A-Za-z][A-Za-z0-9_.-]{5,}", re.ASCII)
"""The name of a load with a version in it: not ``term45.default``, nor ``SCCP 1.2.2.6``."""


def listed_files(content: bytes) -> list[str]:
    """The names of files in a list, each once, in their order."""
    names: dict[str, str] = {}
    for found in _NAME.findall(content[:LARGEST]):
        name = found.decode("ascii")
        names.setdefault(name.lower(), name)
    return list(names.values())


def runs_load(stated: str | None, load: str, files: Iterable[str] = ()) -> bool:
    """Whether a phone that states this firmware certainly runs the load: it states the name of the
    load or of one of its ``files``, or a file of the same version for the same protocol and
    model (``jar45sccp.9-4-2SR3-1.sbn`` for ``SCCP45.9-4-2SR3-1S``)."""
    if not stated or not load:
        return False
    if stated.casefold() in {load.casefold(), *(one.casefold() for one in files)}:
        return True
    one, other = _parts(stated), _parts(load)
    return one is not None and one == other


def states_load(stated: str | None, load: str, files: Iterable[str] = ()) -> bool | None:
    """Whether a phone that states this firmware runs the load; None if the two cannot be compared.
    A statement is another load only if it is a name with a version, as ``load`` is, or a file that
    is not among ``files``, all files of the load (empty if they are not known)."""
    files = tuple(files)
    if runs_load(stated, load, files):
        return True
    if not stated or not load:
        return None
    ending = ending_of(stated)
    if ending is not None and stated.casefold() == (load + ending).casefold():
        return True  # a load that is one file
    are_names = _VERSIONED.fullmatch(stated) and _VERSIONED.fullmatch(load)
    return False if (are_names and ending is None) or (ending is not None and files) else None


def stated_load(app: str | None, version: str | None) -> str | None:
    """The firmware that a phone states as ``appLoadID`` and ``versionID``: the name of a load
    rather than the name of one of its files, which may have another version."""
    for one in (app, version):
        if one and ending_of(one) is None and _VERSIONED.fullmatch(one):
            return one
    return app or version


def _parts(name: str) -> tuple[str, str, str] | None:
    """Protocol, model and version in a name; None unless it has all three."""
    name = name.strip().upper()
    found = _STATED.fullmatch(name.removesuffix((ending_of(name) or "").upper()))
    if found is None:
        return None
    protocol = re.search("SCCP|SIP", found["what"])
    model = _MODEL.search(found["what"])
    return (protocol[0], model[0], found["version"]) if protocol and model else None


class NamedLoads(Struct, frozen=True):
    """The loads that a configuration names: of the phone, empty without one, and of modules."""

    phone: str = ""
    modules: tuple[str, ...] = ()


def loads_to_fetch(new: str, old: str | None) -> NamedLoads:
    """The loads that a phone with the configuration ``old`` fetches for ``new``: the loads that
    ``old`` does not name; none if another server (``loadServer``) has them. Both texts are without
    a fault (see ``well_formed``). Cost is linear."""
    named, server = _named(new)
    if server or not (named.phone or named.modules):
        return NamedLoads()
    had = _named(old)[0] if old is not None else NamedLoads()
    has = {one.casefold() for one in had.modules}
    return NamedLoads(
        "" if named.phone.casefold() == had.phone.casefold() else named.phone,
        tuple(one for one in dict.fromkeys(named.modules) if one.casefold() not in has),
    )


def load_in(xml: str) -> str | None:
    """The load that a configuration without a fault names for the phone, None without one."""
    return _named(xml)[0].phone or None


def _named(xml: str) -> tuple[NamedLoads, str]:
    """The loads of a configuration, and its ``loadServer``."""
    found = {"loadInformation": "", "loadServer": ""}
    modules: list[str] = []
    if "<loadInformation" not in xml:
        return NamedLoads(), ""

    def end(element: Element) -> None:
        if element.name not in found:
            return
        text = element.text.strip()
        if element.depth == 2:
            found[element.name] = text
        elif text and element.path == "device/addOnModules/addOnModule/loadInformation":
            modules.append(text)

    walk(xml.encode(), end)
    return NamedLoads(found["loadInformation"], tuple(modules)), found["loadServer"]
