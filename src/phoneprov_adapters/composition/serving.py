"""Files that phones fetch, and phones that are not in the inventory."""

from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    journal,
    networks,
    setting,
)
from phoneprov_adapters.composition.checked import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_adapters.provisioning.folder import Folder, NoFolder
from phoneprov_adapters.runtime.system import ordered_id
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.kernel.system import Clock
from phoneprov_core.provisioning.bootstrap import Bootstrap
from phoneprov_core.provisioning.loads import CheckLoad
from phoneprov_core.provisioning.ports import SharedFiles
from phoneprov_core.provisioning.repeats import Repeats
from phoneprov_core.provisioning.use_cases import DiscoveredPhones, Fetches, ProvideFile
from phoneprov_core.templates.recipes import Rendering


def check_load_of(settings: Settings, files: SharedFiles) -> CheckLoad | None:
    """What looks for firmware loads; None without a folder of files."""
    return CheckLoad(files) if settings.files_dir else None


def bootstrap_of(
    settings: Settings, database: Database, rendering: Rendering, clock: Clock
) -> Bootstrap | None:
    """What phones that are not in the inventory get; None for nothing."""
    if not settings.adopts:
        return None
    return Bootstrap(database, rendering, clock, settings.ftp_filename)


def shared_files_of(settings: Settings) -> SharedFiles:
    """The folder of other files that phones fetch."""
    return Folder(settings.files_dir) if settings.files_dir else NoFolder()


class ServingContainer(SwitchingContainer):
    """Files that phones fetch, and phones that are not in the inventory."""

    # fmt: off
    shared_files = singleton(shared_files_of, settings=of(Adapters.settings))
    check_load = singleton(
        check_load_of, settings=of(Adapters.settings), files=of(shared_files))
    repeats = singleton(Repeats)
    bootstrap = singleton(
        bootstrap_of, settings=of(Adapters.settings), database=database,
        rendering=of(Adapters.rendering), clock=clock)
    provide_file = singleton(
        ProvideFile, database=database, shared_files=of(shared_files),
        networks=networks, binding=setting(lambda it: it.fetch_binding), journal=journal,
        clock=clock, new_id=ordered_id, observe=of(Adapters.journals, lambda it: it.fetch),
        bootstrap=of(bootstrap), repeats=of(repeats))
    fetches = singleton(Fetches, database=database)
    discovered_phones = singleton(DiscoveredPhones, database=database)
    # fmt: on
