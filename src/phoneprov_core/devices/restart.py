"""How phones are restarted, and in what words that goes wrong."""

from __future__ import annotations

from enum import Enum

from phoneprov_core.devices.commands import CLEAR_SERVICES, restart_action, restart_keys
from phoneprov_core.devices.ports import ManagerInterface, PhoneCommands, PhoneDriver
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.phones.model import Phone

SWITCHED_OFF = "The phone was not restarted: restarts are switched off."
"""What is said of a phone that nobody wants to be told."""


class RestartBy(Enum):
    """The ways to restart a phone."""

    AUTO = "auto"
    """Through Asterisk where its manager interface is set up, else over the phone's web."""
    AMI = "ami"
    HTTP = "http"
    NONE = "none"


class CiscoPhones(PhoneDriver):
    """Cisco phones, restarted in the one way that was chosen, told everything else over their
    own web servers."""

    def __init__(
        self, by: RestartBy, commands: PhoneCommands, manager: ManagerInterface | None
    ) -> None:
        if by is RestartBy.AUTO:
            by = RestartBy.AMI if manager else RestartBy.HTTP
        self._by = by
        self._commands = commands
        self._manager = manager

    async def leave_services(self, phone: Phone) -> None:
        await self._commands.execute(reachable_ip(phone), CLEAR_SERVICES)

    async def restart(self, phone: Phone, software_type: str | None) -> None:
        if self._by is RestartBy.NONE:
            raise _switched_off()
        if self._by is RestartBy.HTTP:
            await self._commands.execute(reachable_ip(phone), restart_keys(phone.model))
            return
        if self._manager is None:
            raise Conflict(
                "The phone was not restarted: no manager interface is set up (PHONEPROV_AMI_HOST)."
            )
        await self._manager.perform(restart_action(software_type, phone.mac))


class NeverRestarting(PhoneDriver):
    """Another driver, which is never asked to restart a phone."""

    def __init__(self, driver: PhoneDriver) -> None:
        self._driver = driver

    async def leave_services(self, phone: Phone) -> None:
        await self._driver.leave_services(phone)

    async def restart(self, phone: Phone, software_type: str | None) -> None:  # noqa: ARG002
        raise _switched_off()


def _switched_off() -> Conflict:
    return Conflict(SWITCHED_OFF)


def reachable_ip(phone: Phone) -> str:
    """The phone's recorded address; raises ``Conflict`` when there is none."""
    if phone.phone_ip is None:
        raise Conflict("The phone's address (phone_ip) is not recorded.", code="no_address")
    return phone.phone_ip
