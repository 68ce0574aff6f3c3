"""The device information page of a phone's web server, parsed without IO."""

from phoneprov_core.deployments.observation import DeviceInformation
from phoneprov_core.devices.execute import elements_of
from phoneprov_core.kernel.addresses import known_mac

PATH = "/DeviceInformationX"
"""The path of the page on Cisco's phones; it is XML."""


def read_device_information(status: int, body: bytes) -> DeviceInformation:
    """The information in a reply; every field is None if it cannot be parsed."""
    if status != 200:
        return DeviceInformation()
    try:
        elements = elements_of(body)
    except ValueError:
        return DeviceInformation()
    texts = {one.name: one.text for one in reversed(elements)}
    return DeviceInformation(
        mac=known_mac(texts.get("MACAddress", "")) or None,
        model=_line(texts.get("modelNumber")),
        serial=_line(texts.get("serialNumber")),
        load=_line(texts.get("appLoadID") or texts.get("versionID")),
    )


def _line(text: str | None) -> str | None:
    """One short line without control characters: it goes into messages."""
    line = " ".join((text or "").split())
    return line[:64] if line.isprintable() and line else None
