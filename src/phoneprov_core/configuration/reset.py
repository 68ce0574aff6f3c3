"""Settings of a phone that take effect after a reset only, not after a restart.

Firmware, locale, date and time and the addresses of services are read when a phone starts
completely; lines, keys and speed dials also after a restart (Cisco's CME documentation).
"""

from __future__ import annotations

from xml.parsers import expat

_LOAD = "loadInformation"
_NEED_RESET = frozenset(
    {
        _LOAD, "userLocale", "networkLocale", "networkLocaleInfo", "dateTimeSetting",
        "authenticationURL", "directoryURL", "idleURL", "informationURL", "messagesURL",
        "proxyServerURL", "servicesURL",
        "secureAuthenticationURL", "secureDirectoryURL", "secureIdleURL", "secureInformationURL",
        "secureMessagesURL", "secureServicesURL",
    }
)  # fmt: skip


def needing_reset(old: str, new: str) -> tuple[str, ...]:
    """The names of the elements that differ and take effect after a reset only, sorted.

    Both texts are without a fault (see ``well_formed``). The cost is linear.
    """
    before, after = _values(old), _values(new)
    return tuple(
        sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    )


def _values(xml: str) -> dict[str, list[str]]:
    """The elements that need a reset: per name, their content in document order."""
    found: dict[str, list[str]] = {}
    content: list[str] = []
    inside = ""
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside, depth
        if not inside:
            # Multi-model files add a number: loadInformation307.
            known = _LOAD if name.startswith(_LOAD) else name
            if known not in _NEED_RESET:
                return
            inside = known
        content.append(f"<{name} {sorted(attributes.items())}>")
        depth += 1

    def text(data: str) -> None:
        if inside:
            content.append(data)

    def end(_name: str) -> None:
        nonlocal inside, depth
        if not inside:
            return
        depth -= 1
        if not depth:
            found.setdefault(inside, []).append(" ".join("".join(content).split()))
            content.clear()
            inside = ""

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.EndElementHandler = end
    parser.Parse(xml.encode(), True)
    return found
