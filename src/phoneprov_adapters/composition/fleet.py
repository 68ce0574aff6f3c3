"""The phones as they are, and as they were."""

from collections.abc import Iterator
from functools import partial

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.lists import ManagerRegistrations
from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    new_id,
    pause,
    setting,
)
from phoneprov_adapters.composition.plugins import Periodic, of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_core.features.fleet.files import CompareFiles
from phoneprov_core.features.fleet.use_cases import ChangeFleet, ViewFleet
from phoneprov_core.features.fleet.watch import Registrations, WatchFleet
from phoneprov_core.features.history.use_cases import History


def registrations_of(
    settings: Settings, connection: ManagerConnection | None
) -> Registrations | None:
    """Lists the phones that the exchange has; None if no manager interface is configured."""
    serves_sip = settings.serves_lines and settings.asterisk_pjsip
    return ManagerRegistrations(connection, serves_sip=serves_sip) if connection else None


class FleetContainer(SwitchingContainer):
    """The phones as they are, and as they were."""

    # fmt: off
    registrations = singleton(
        registrations_of, settings=of(Adapters.settings), connection=of(Adapters.ami))
    view_fleet = singleton(ViewFleet, database=database, clock=clock)
    history = singleton(History, database=database, clock=clock)
    watch_fleet = singleton(
        WatchFleet, database=database, information=of(Adapters.phone_commands),
        registrations=of(registrations), clock=clock, pause=pause,
        holder=of(Adapters.database, lambda it: it.process),
        loads=of(SwitchingContainer.check_load), load_minutes=setting(lambda it: it.load_minutes),
        files=of(singleton(CompareFiles, database=database, uploader=of(Adapters.uploader),
        clock=clock, pause=pause)))
    change_fleet = singleton(
        ChangeFleet, database=database, information=of(Adapters.phone_commands), clock=clock,
        new_id=new_id)
    # fmt: on


LOOK_SECONDS = 5.0
"""Seconds between two attempts to be the process that looks at the phones."""


def repeated(container: FleetContainer) -> Iterator[Periodic]:
    """The watch of the fleet, if it is on."""
    if minutes := container.settings().watch_minutes:
        yield Periodic(partial(container.watch_fleet().run, minutes), LOOK_SECONDS)
