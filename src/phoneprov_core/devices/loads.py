"""Firmware loads: which files a phone fetches for one. A phone is given the name of a load, such as
``SCCP45.9-4-2SR3-1S``. It fetches ``<name>.loads``, which lists the other files among bytes of a
signature, and then those."""

import re

from phoneprov_core.configuration.elements import Element, walk

LARGEST = 64 * 1024
"""Maximum size of a list, in bytes; real ones have less than 2 KiB."""

_LETTER = rb"[A-Za-z0-9._-]"
_NAME = re.compile(
    rb"(?<!%b)[A-Za-z0-9]%b{2,62}\.(?:sbn|sebn|sgn|bin|sb2|zz|elf)(?!%b)" % ((_LETTER,) * 3)
)


def list_name(load: str) -> str:
    """The name of the list of a load."""
    return load if load.lower().endswith(".loads") else f"{load}.loads"


def listed_files(content: bytes) -> list[str]:
    """The names of files in a list, each once, in their order."""
    names = (name.decode("ascii") for name in _NAME.findall(content[:LARGEST]))
    return list(dict.fromkeys(names))


def load_to_fetch(new: str, old: str | None) -> str | None:
    """The load that a phone with the configuration ``old`` fetches for ``new``; None if it is the
    same, if none is named, and if another server (``loadServer``) has it. Both texts are without a
    fault (see ``well_formed``). Cost is linear."""
    named = _named(new)
    load = named.get("loadInformation", "")
    is_here = bool(load) and not named.get("loadServer")
    return load if is_here and (old is None or load != _named(old).get("loadInformation")) else None


def _named(xml: str) -> dict[str, str]:
    """The texts of the two elements directly in the root. Modules name loads of their own."""
    found: dict[str, str] = {}
    if "<loadInformation" not in xml:
        return found

    def end(element: Element) -> None:
        if element.depth == 2 and element.name in {"loadInformation", "loadServer"}:
            found[element.name] = element.text.strip()

    walk(xml.encode(), end)
    return found
