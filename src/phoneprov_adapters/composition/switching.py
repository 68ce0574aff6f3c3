"""Deployments: one configuration onto one phone."""

from typing import Any

from dependency_injector.providers import Object, Provider

from phoneprov_adapters.composition.adapters import (
    Adapters,
    background,
    calls,
    clock,
    database,
    driver,
    journal,
    new_id,
    pause,
    setting,
)
from phoneprov_adapters.composition.inventory import InventoryContainer
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.serving.uploader import Folder, NoFolder
from phoneprov_core.features.serving.bootstrap import CheckLoad
from phoneprov_core.features.serving.model import SharedFiles
from phoneprov_core.features.templates.deployed import RenderedTexts
from phoneprov_core.kernel.ports import Pause
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.deploy import Deploy, SwitchProfile
from phoneprov_core.switching.deployments.observation import Arrival, PhoneInformation
from phoneprov_core.switching.deployments.order import SwitchLimits, Texts
from phoneprov_core.switching.deployments.preview import Foresee, PreviewSwitch
from phoneprov_core.switching.deployments.records import Participant, Records
from phoneprov_core.switching.deployments.rollback import Rollback
from phoneprov_core.switching.deployments.use_cases import Deployments, RestartPhone


def shared_files_of(settings: Settings) -> SharedFiles:
    """The folder of other files that phones fetch."""
    return Folder(settings.files_dir) if settings.files_dir else NoFolder()


def check_load_of(settings: Settings, files: SharedFiles) -> CheckLoad | None:
    """What looks for firmware loads; None without a folder of files."""
    return CheckLoad(files) if settings.files_dir else None


def arrival_of(
    settings: Settings, information: PhoneInformation, check_load: CheckLoad | None, pause: Pause
) -> Arrival:
    """What asks phones which firmware they run."""

    async def files(load: str) -> tuple[str, ...]:
        return (await check_load(load)).listed if check_load else ()

    return Arrival(information, pause, settings.load_minutes, files)


class SwitchingContainer(InventoryContainer):
    """Deployments: one configuration onto one phone."""

    # fmt: off
    shared_files = singleton(shared_files_of, settings=of(Adapters.settings))
    check_load = singleton(
        check_load_of, settings=of(Adapters.settings), files=of(shared_files))
    arrival = singleton(
        arrival_of, settings=of(Adapters.settings), information=of(Adapters.phone_commands),
        check_load=of(check_load), pause=pause)
    confirm = singleton(
        Confirm, database=database, watch=of(Adapters.watch), background=background,
        journal=journal, clock=clock, pause=pause, compare_lines=of(Adapters.compare_lines),
        arrival=of(arrival))
    limits = singleton(
        SwitchLimits, per_phone=setting(lambda it: it.switches_per_phone),
        per_caller=setting(lambda it: it.phones_per_caller))
    # The features give what takes part, and what warns: see ``container``.
    participants: Provider[tuple[Participant[Any], ...]] = Object(())
    foresee: Provider[tuple[Foresee, ...]] = Object(())
    records = singleton(
        Records, database=database, journal=journal, clock=clock, new_id=new_id, pause=pause,
        participants=of(participants), limits=of(limits))
    texts: Provider[Texts] = singleton(RenderedTexts, rendering=of(Adapters.rendering))
    deploy = singleton(
        Deploy, records=of(records), uploader=of(Adapters.uploader), driver=driver,
        confirm=of(confirm), run_to_end=of(Adapters.tasks, lambda it: it.run), texts=of(texts),
        filename_pattern=setting(lambda it: it.ftp_filename))
    switch_profile = singleton(SwitchProfile, database=database, deploy=of(deploy))
    rollback = singleton(Rollback, database=database, deploy=of(deploy))
    restart_phone = singleton(
        RestartPhone, database=database, deploy=of(deploy), calls=calls,
        run_to_end=of(Adapters.tasks, lambda it: it.run))
    preview_switch = singleton(
        PreviewSwitch, database=database, deploy=of(deploy),
        reachability=of(Adapters.reachability), compare=of(Adapters.compare), clock=clock,
        foresee=of(foresee))
    deployments = singleton(Deployments, database=database, clock=clock)
    # fmt: on
