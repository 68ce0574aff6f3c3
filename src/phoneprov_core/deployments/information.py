"""The device information page of a phone's web server, parsed without IO."""

from __future__ import annotations

from xml.parsers import expat

from phoneprov_core.deployments.observation import DeviceInformation
from phoneprov_core.devices.execute import REPLY_LIMIT
from phoneprov_core.kernel.addresses import known_mac

PATH = "/DeviceInformationX"
"""The path of the page on Cisco's phones; it is XML."""


def read_device_information(status: int, body: bytes) -> DeviceInformation:
    """The information in a reply; every field is None if it cannot be parsed."""
    if status != 200 or len(body) > REPLY_LIMIT:
        return DeviceInformation()
    texts = _texts(body)
    return DeviceInformation(
        mac=known_mac(texts.get("MACAddress", "")) or None,
        model=_line(texts.get("modelNumber")),
        load=_line(texts.get("appLoadID") or texts.get("versionID")),
    )


def _line(text: str | None) -> str | None:
    """One short line without control characters: it goes into messages."""
    line = " ".join((text or "").split())
    return line[:64] if line.isprintable() and line else None


def _texts(body: bytes) -> dict[str, str]:
    """The first text of each element, read as ISO 8859-1 like every reply of a phone."""
    texts: dict[str, str] = {}
    name = ""
    parts: list[str] = []

    def start(element: str, _attributes: dict[str, str]) -> None:
        nonlocal name
        name = element
        parts.clear()

    def end(element: str) -> None:
        if element == name:
            texts.setdefault(element, "".join(parts).strip())

    def refuse(*_declaration: object) -> None:
        raise expat.ExpatError

    parser = expat.ParserCreate("iso-8859-1")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = parts.append
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body.removeprefix(b"\xef\xbb\xbf").strip(), True)
    except expat.ExpatError:
        return {}
    return texts
