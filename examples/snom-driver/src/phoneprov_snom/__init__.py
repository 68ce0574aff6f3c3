"""Snom phones, restarted over their own web server.

The order is a GET of ``/advanced_update.htm?reboot=Reboot``, with the login of the phone's web
server where it has one
(https://service.snom.com/display/wiki/Can+I+control+my+snom+phone+remotely).
"""

import asyncio
from dataclasses import dataclass

import httpx

from phoneprov_adapters.api import PORT, PhoneNetworks, Settings, cisco_phones
from phoneprov_core.api import Phone, PhoneDriver, Proceed, Refused, TimedOut, always, reachable_ip

__all__ = ["SnomPhones", "SnomSettings", "snom_driver"]

_PATH = "/advanced_update.htm?reboot=Reboot"


@dataclass(frozen=True)
class SnomSettings:
    """How Snom phones are called. ``seconds`` bound one order, all of it."""

    port: int = 80
    user: str = ""
    password: str = ""
    seconds: float = 6.0

    def __repr__(self) -> str:
        return "SnomSettings(...)"


def snom_driver(settings: Settings) -> PhoneDriver:
    """The entry point, which ``PHONEPROV_PHONE_DRIVER=snom`` selects."""
    read = settings.variables
    snom = SnomSettings(
        port=read.value("PHONEPROV_SNOM_PORT", PORT, "80"),
        user=read.text("PHONEPROV_SNOM_USER", ""),
        password=read.secret("PHONEPROV_SNOM_PASSWORD") or "",
    )
    return SnomPhones(snom, settings.phone_networks, others=cisco_phones(settings))


class SnomPhones(PhoneDriver):
    """Snom phones by the ``brand`` of the inventory; ``others`` drives all other phones."""

    def __init__(
        self, settings: SnomSettings, networks: PhoneNetworks, others: PhoneDriver
    ) -> None:
        self._settings = settings
        self._networks = networks
        self._others = others

    async def leave_services(self, phone: Phone) -> None:
        # A restart closes the minibrowser of a Snom; it keeps no page of a user.
        if not _is_snom(phone):
            await self._others.leave_services(phone)

    async def restart(
        self, phone: Phone, software_type: str | None, proceed: Proceed = always
    ) -> None:
        if not _is_snom(phone):
            await self._others.restart(phone, software_type, proceed)
            return
        # The address comes from the inventory, so it is checked before each call.
        address = self._networks.allowed(reachable_ip(phone))
        try:
            async with asyncio.timeout(self._settings.seconds):
                await self._order(address, proceed)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise TimedOut("The phone's web server did not answer in time.") from error
        except httpx.HTTPError as error:
            raise Refused("The phone's web server cannot be reached.") from error

    async def _order(self, address: str, proceed: Proceed) -> None:
        host = f"[{address}]" if ":" in address else address
        # No redirect is followed, and no proxy of the environment is asked.
        async with httpx.AsyncClient(trust_env=False, timeout=self._settings.seconds) as client:
            auth = None
            if self._settings.user:
                # It answers a Digest challenge, and sends nothing in the clear unasked.
                auth = httpx.DigestAuth(self._settings.user, self._settings.password)
            url = f"http://{host}:{self._settings.port}{_PATH}"
            await proceed()
            # What the phone says beside its status is not read.
            async with client.stream("GET", url, auth=auth) as reply:
                status = reply.status_code
        if status == 401:
            raise Refused("The phone's web server refused the login.")
        if status != 200:
            raise Refused(f"The phone's web server refused the restart (status {status}).")


def _is_snom(phone: Phone) -> bool:
    return (phone.brand or "").strip().casefold() == "snom"
