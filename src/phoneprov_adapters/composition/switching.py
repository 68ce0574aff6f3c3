"""What switches phones: deployments, batches, logins at phones, files for phones."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from phoneprov_adapters.composition.adapters import (
    Adapters,
    background,
    calls,
    clock,
    database,
    driver,
    hasher,
    journal,
    networks,
    new_id,
    pause,
    setting,
    signer,
)
from phoneprov_adapters.composition.checked import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.runtime.journal import log_batch
from phoneprov_adapters.runtime.tasks import process_batches
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.auth.throttle import AddressLimit
from phoneprov_core.batches.plan import PlanBatch
from phoneprov_core.batches.run import RunBatches
from phoneprov_core.batches.use_cases import Batches
from phoneprov_core.batches.work import PhoneWork
from phoneprov_core.deployments.confirm import Confirm
from phoneprov_core.deployments.deploy import Deploy
from phoneprov_core.deployments.limits import SwitchLimits
from phoneprov_core.deployments.preview import PreviewSwitch
from phoneprov_core.deployments.rollback import Rollback
from phoneprov_core.deployments.trial import TryTemplate
from phoneprov_core.deployments.use_cases import Deployments, SwitchProfile
from phoneprov_core.desks.access import IdentifyPhone
from phoneprov_core.desks.adoption import AdoptAtPhone
from phoneprov_core.desks.change import ChangeDesk
from phoneprov_core.desks.login import ChangePin, LogInAtPhone
from phoneprov_core.desks.logout import LogOut
from phoneprov_core.desks.model import Elsewhere
from phoneprov_core.desks.pins import CheckPin
from phoneprov_core.desks.services import PhoneCredentials, PhoneServices, ServiceMenu
from phoneprov_core.desks.tokens import PageTokens
from phoneprov_core.desks.upkeep import KeepDesks
from phoneprov_core.desks.use_cases import Desks
from phoneprov_core.directory.lookup import LookUp
from phoneprov_core.kernel.actor import system_actor
from phoneprov_core.kernel.system import Clock
from phoneprov_core.provisioning.bootstrap import Bootstrap
from phoneprov_core.provisioning.loads import CheckLoad
from phoneprov_core.provisioning.ports import SharedFiles
from phoneprov_core.provisioning.repeats import Repeats
from phoneprov_core.provisioning.use_cases import DiscoveredPhones, Fetches, ProvideFile
from phoneprov_core.templates.recipes import Rendering


def batch_worker_of(batches: RunBatches) -> Callable[[], Coroutine[Any, Any, None]]:
    """What processes open batches, each time it is called."""
    return partial(process_batches, batches)


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


class Switching(Adapters):
    """What calls phones and what phones call; see ``Adapters``."""

    # fmt: off
    # Deployments and batches.
    confirm = singleton(
        Confirm, database=database, watch=of(Adapters.watch), background=background,
        journal=journal, clock=clock, compare_lines=of(Adapters.compare_lines))
    limits = singleton(
        SwitchLimits, per_phone=setting(lambda it: it.switches_per_phone),
        per_caller=setting(lambda it: it.phones_per_caller))
    deploy = singleton(
        Deploy, database=database, uploader=of(Adapters.uploader), driver=driver,
        rendering=of(Adapters.rendering), confirm=of(confirm),
        run_to_end=of(Adapters.tasks, lambda it: it.run),
        journal=journal, clock=clock, new_id=new_id,
        filename_template=setting(lambda it: it.ftp_filename), limits=of(limits),
        serves_lines=setting(lambda it: it.serves_lines),
        several_logins=setting(lambda it: it.desks.elsewhere is Elsewhere.ALLOW))
    switch_profile = singleton(SwitchProfile, database=database, deploy=of(deploy))
    rollback = singleton(Rollback, database=database, deploy=of(deploy))
    preview_switch = singleton(
        PreviewSwitch, database=database, deploy=of(deploy),
        reachability=of(Adapters.reachability), compare=of(Adapters.compare), clock=clock)
    try_template = singleton(
        TryTemplate, database=database, rendering=of(Adapters.rendering),
        compare=of(Adapters.compare))
    deployments = singleton(Deployments, database=database, clock=clock)
    check_load = singleton(
        check_load_of, settings=of(Adapters.settings), files=of(Adapters.shared_files))
    phone_work = singleton(
        PhoneWork, database=database, deploy=of(deploy), driver=driver, calls=calls,
        run_to_end=of(Adapters.tasks, lambda it: it.run), clock=clock, new_id=new_id,
        loads=of(check_load))
    run_batches = singleton(
        RunBatches, database=database, work=of(phone_work), run_to_end=of(Adapters.tasks,
        lambda it: it.run), pause=pause, journal=log_batch, clock=clock, new_id=new_id)
    batch_worker = singleton(batch_worker_of, batches=of(run_batches))
    batches = singleton(
        Batches, database=database, run=of(batch_worker), background=background,
        clock=clock, new_id=new_id)

    plan_batch = singleton(
        PlanBatch, database=database, deploy=of(deploy), compare=of(Adapters.compare),
        loads=of(check_load))

    # Desks and the pages of phones.
    change_desk = singleton(
        ChangeDesk, database=database, deploy=of(deploy), driver=driver, calls=calls,
        run_to_end=of(Adapters.tasks, lambda it: it.run), pause=pause, clock=clock,
        clear_calls=setting(lambda it: it.desks.clear_calls),
        serves_lines=setting(lambda it: it.serves_lines))
    page_tokens = singleton(PageTokens, signer=signer, clock=clock)
    log_out_at_phone = singleton(
        LogOut, database=database, change=of(change_desk), tokens=of(page_tokens))
    pin_limit = singleton(
        AddressLimit, kind="pin", most=setting(lambda it: it.guesses_per_address),
        clock=clock)
    check_pin = singleton(
        CheckPin, database=database, hasher=hasher, clock=clock, limit=of(pin_limit),
        journal=of(Adapters.journals, lambda it: it.pin_failure))
    identify_phone = singleton(
        IdentifyPhone, database=database, networks=networks,
        binding=setting(lambda it: it.desks.binding), clock=clock)
    log_in_at_phone = singleton(
        LogInAtPhone, database=database, check_pin=of(check_pin), change=of(change_desk),
        tokens=of(page_tokens), policy=setting(lambda it: it.desks), clock=clock)
    change_pin = singleton(
        ChangePin, database=database, check_pin=of(check_pin), hasher=hasher,
        tokens=of(page_tokens), clock=clock, new_id=new_id)
    credentials = singleton(
        PhoneCredentials, database=database, user=setting(lambda it: it.phone_web.user),
        password=setting(lambda it: it.phone_web.password), networks=networks, clock=clock)
    repeats = singleton(Repeats)
    adopt_at_phone = singleton(
        AdoptAtPhone, database=database, check_pin=of(check_pin), change=of(change_desk),
        information=of(Adapters.phone_commands), tokens=of(page_tokens), networks=networks,
        limits=of(limits), clock=clock, new_id=new_id,
        is_on=setting(lambda it: it.adopts),
        by_page=setting(lambda it: it.uploader != "served"), repeats=of(repeats))
    phone_services = singleton(
        PhoneServices, identify=of(identify_phone), menu=of(singleton(ServiceMenu,
        database=database)), log_in=of(log_in_at_phone), log_out=of(log_out_at_phone),
        change_pin=of(change_pin), look_up=of(singleton(LookUp, database=database)),
        credentials=of(credentials),
        adopt=of(adopt_at_phone))
    desks = singleton(Desks, database=database, log_out_at_phone=of(log_out_at_phone), clock=clock)
    keep_desks = singleton(
        KeepDesks, database=database, change=of(change_desk),
        actor=of(singleton(system_actor, level_rule=setting(lambda it: it.level_rule))),
        clock=clock, policy=setting(lambda it: it.desks))

    # Files for phones.
    bootstrap = singleton(
        bootstrap_of, settings=of(Adapters.settings), database=database,
        rendering=of(Adapters.rendering), clock=clock)
    provide_file = singleton(
        ProvideFile, database=database, shared_files=of(Adapters.shared_files),
        networks=networks, binding=setting(lambda it: it.fetch_binding), journal=journal,
        clock=clock, new_id=new_id, observe=of(Adapters.journals, lambda it: it.fetch),
        bootstrap=of(bootstrap), repeats=of(repeats))
    fetches = singleton(Fetches, database=database)
    discovered_phones = singleton(DiscoveredPhones, database=database)
    # fmt: on
