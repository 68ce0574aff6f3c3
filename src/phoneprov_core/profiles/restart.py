"""How a phone is restarted: which of the ways, and in what words it went wrong."""

from __future__ import annotations

from enum import Enum

from phoneprov_core.kernel.errors import Conflict, PhoneprovError
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.device import restart_action, restart_keys
from phoneprov_core.profiles.ports import ManagerInterface, PhoneCommands

OK = "ok"


class RestartBy(Enum):
    """The ways to restart a phone."""

    AUTO = "auto"
    """Through Asterisk where its manager interface is set up, else over the phone's web."""
    AMI = "ami"
    HTTP = "http"
    NONE = "none"


class Restart:
    """Restarts phones in the one way that was chosen."""

    def __init__(
        self, by: RestartBy, commands: PhoneCommands, manager: ManagerInterface | None
    ) -> None:
        if by is RestartBy.AUTO:
            by = RestartBy.AMI if manager else RestartBy.HTTP
        self._by = by
        self._commands = commands
        self._manager = manager

    async def __call__(self, phone: Phone, software_type: str | None) -> str:
        """``ok`` when the order to restart was accepted, else what kept it from being."""
        try:
            await self._order(phone, software_type)
        except PhoneprovError as error:
            return error.message
        return OK

    async def _order(self, phone: Phone, software_type: str | None) -> None:
        if self._by is RestartBy.NONE:
            raise Conflict("The phone was not restarted: restarts are switched off.")
        if self._by is RestartBy.AMI:
            if self._manager is None:
                raise Conflict(
                    "The phone was not restarted: no manager interface is set up "
                    "(PHONEPROV_AMI_HOST)."
                )
            await self._manager.perform(restart_action(software_type, phone.mac))
            return
        await self._commands.execute(reachable_ip(phone), restart_keys(phone.model))


def reachable_ip(phone: Phone) -> str:
    """The phone's recorded address; raises ``Conflict`` when there is none."""
    if phone.phone_ip is None:
        raise Conflict("The phone's address (phone_ip) is not recorded.", code="no_address")
    return phone.phone_ip
