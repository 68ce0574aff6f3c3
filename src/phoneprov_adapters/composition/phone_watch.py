"""How phones are seen to come back, as the settings say."""

from __future__ import annotations

from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_core.deployments.ports import PhoneInformation
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.devices.restart import RestartBy


def watch_of(settings: Settings, information: PhoneInformation) -> Watch:
    """By the exchange's events where phones are restarted through it, else over their own web
    servers."""
    by_exchange = settings.restart in {RestartBy.AUTO, RestartBy.AMI}
    events = ManagerEvents(settings.manager) if settings.manager and by_exchange else None
    web = WebWatch(information, settings.phone_networks)
    return Watch(events, web, seconds=settings.confirm_seconds)
