"""Client addresses that may act for a phone."""

from enum import Enum
from typing import Protocol

from phoneprov_core.kernel.addresses import same_address


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
