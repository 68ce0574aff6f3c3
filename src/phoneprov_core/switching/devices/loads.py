"""Firmware loads: which files a phone fetches for one. A phone is given the name of a load, such as
``SCCP45.9-4-2SR3-1S``. It fetches ``<name>.loads``, which lists the other files among bytes of a
signature, and then those. Loads of older models and of modules are one file without a list. Phones
append the ending to the name themselves; case is ignored."""

import re
from collections.abc import Iterable

from msgspec import Struct

from phoneprov_core.inventory.configuration.elements import Element, walk
from phoneprov_core.inventory.configuration.findings import LISTED, ending_of

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
    is not among ``files``, all those of the load (none of them: they are not known)."""
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
