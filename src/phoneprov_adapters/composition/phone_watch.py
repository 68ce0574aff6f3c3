"""The watch that the settings choose."""

from __future__ import annotations

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_core.deployments.observation import PhoneInformation
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.devices.restart import RestartBy


def watch_of(
    settings: Settings, information: PhoneInformation, connection: ManagerConnection | None
) -> Watch:
    """By the events of Asterisk if phones are restarted through it, and over the phones' own web
    servers."""
    by_exchange = settings.restart in {RestartBy.AUTO, RestartBy.AMI}
    events = ManagerEvents(connection) if connection and by_exchange else None
    web = WebWatch(information, settings.phone_networks)
    return Watch(events, web, seconds=settings.confirm_seconds)
