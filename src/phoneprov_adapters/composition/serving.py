"""Files that phones fetch, and phones that are not in the inventory."""

from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    networks,
    setting,
)
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_adapters.runtime.tasks import ordered_id
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.serving.bootstrap import Bootstrap
from phoneprov_core.features.serving.model import Repeats
from phoneprov_core.features.serving.use_cases import DiscoveredPhones, Fetches, ProvideFile
from phoneprov_core.features.templates.recipes import Rendering
from phoneprov_core.kernel.ports import Clock


def bootstrap_of(
    settings: Settings, database: Database, rendering: Rendering, clock: Clock
) -> Bootstrap | None:
    """What phones that are not in the inventory get; None for nothing."""
    if not settings.adopts:
        return None
    return Bootstrap(database, rendering, clock, settings.ftp_filename)


class ServingContainer(SwitchingContainer):
    """Files that phones fetch, and phones that are not in the inventory."""

    # fmt: off
    repeats = singleton(Repeats)
    bootstrap = singleton(
        bootstrap_of, settings=of(Adapters.settings), database=database,
        rendering=of(Adapters.rendering), clock=clock)
    provide_file = singleton(
        ProvideFile, database=database, shared_files=of(SwitchingContainer.shared_files),
        networks=networks, binding=setting(lambda it: it.fetch_binding),
        confirm=of(SwitchingContainer.confirm),
        clock=clock, new_id=ordered_id, observe=of(Adapters.journals, lambda it: it.fetch),
        bootstrap=of(bootstrap), repeats=of(repeats))
    fetches = singleton(Fetches, database=database)
    discovered_phones = singleton(DiscoveredPhones, database=database)
    # fmt: on
