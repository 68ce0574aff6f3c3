"""The driver of Cisco phones: the ways to restart them, and the errors."""

from enum import Enum

from msgspec import structs

from phoneprov_core.devices.commands import (
    CLEAR_CALLS,
    CLEAR_SERVICES,
    RestartType,
    restart_action,
    restart_keys,
)
from phoneprov_core.devices.errors import NoAddress
from phoneprov_core.devices.ports import ForgetsCalls, ManagerInterface, PhoneCommands, PhoneDriver
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.phones.model import Phone, is_multiplatform

SWITCHED_OFF = "The phone was not restarted: restarts are switched off."
"""The result of a restart with ``PHONEPROV_RESTART=none``."""


class RestartBy(Enum):
    """The ways to restart a phone."""

    AUTO = "auto"
    """Through Asterisk if its manager interface is configured, else over the phone's web server."""
    AMI = "ami"
    HTTP = "http"
    NONE = "none"


class CiscoPhones(PhoneDriver):
    """Cisco phones: restarted in the configured way, sent everything else over their own web
    servers."""

    def __init__(
        self,
        by: RestartBy,
        commands: PhoneCommands,
        manager: ManagerInterface | None,
        kind: RestartType = RestartType.RESTART,
    ) -> None:
        if by is RestartBy.AUTO:
            by = RestartBy.AMI if manager else RestartBy.HTTP
        self._by = by
        self._commands = commands
        self._manager = manager
        self._kind = kind

    async def leave_services(self, phone: Phone) -> None:
        if not is_multiplatform(phone.software_type):  # its firmware does not know Init:Services
            await self._commands.execute(reachable_ip(phone), CLEAR_SERVICES, phone.mac)

    async def forget_calls(self, phone: Phone) -> None:
        """See ``ForgetsCalls``."""
        is_mpp = is_multiplatform(phone.software_type)
        keys = tuple(structs.replace(key, may_be_empty=is_mpp) for key in CLEAR_CALLS)
        await self._commands.execute(reachable_ip(phone), keys, phone.mac)

    async def restart(self, phone: Phone, software_type: str | None) -> None:
        if self._by is RestartBy.NONE:
            raise Conflict(SWITCHED_OFF)
        if self._by is RestartBy.HTTP:
            keys = restart_keys(phone.model)
            if is_multiplatform(software_type):
                keys = tuple(structs.replace(key, may_be_empty=True) for key in keys)
            await self._commands.execute(reachable_ip(phone), keys, phone.mac)
            return
        if self._manager is None:
            raise Conflict(
                "The phone was not restarted: no manager interface is set up (PHONEPROV_AMI_HOST)."
            )
        action = restart_action(software_type, phone.mac, self._kind)
        await self._manager.perform(action, phone.phone_ip)


class NeverRestarting(PhoneDriver):
    """Another driver whose ``restart`` is never called."""

    def __init__(self, driver: PhoneDriver) -> None:
        self._driver = driver

    async def leave_services(self, phone: Phone) -> None:
        await self._driver.leave_services(phone)

    async def forget_calls(self, phone: Phone) -> None:
        """See ``ForgetsCalls``."""
        if isinstance(self._driver, ForgetsCalls):
            await self._driver.forget_calls(phone)

    async def restart(self, phone: Phone, software_type: str | None) -> None:  # noqa: ARG002
        raise Conflict(SWITCHED_OFF)


def reachable_ip(phone: Phone) -> str:
    """The phone's recorded address; raises ``Conflict`` if there is none."""
    if phone.phone_ip is None:
        raise NoAddress("The phone's address (phone_ip) is not recorded.")
    return phone.phone_ip
