"""What switches phones: deployments, batches, logins at phones, files for phones."""

from functools import partial

from dependency_injector import providers

from phoneprov_adapters.composition.adapters import Adapters
from phoneprov_adapters.composition.factories import shared_files_of
from phoneprov_adapters.runtime.journal import log_batch
from phoneprov_adapters.runtime.tasks import process_batches
from phoneprov_core.batches.run import RunBatches
from phoneprov_core.batches.work import PhoneWork
from phoneprov_core.deployments.confirm import Confirm
from phoneprov_core.deployments.deploy import Deploy
from phoneprov_core.deployments.limits import SwitchLimits
from phoneprov_core.desks.access import IdentifyPhone
from phoneprov_core.desks.change import ChangeDesk
from phoneprov_core.desks.login import ChangePin, LogInAtPhone
from phoneprov_core.desks.logout import LogOut
from phoneprov_core.desks.pins import CheckPin
from phoneprov_core.desks.services import PhoneCredentials, PhoneServices, ServiceMenu
from phoneprov_core.desks.upkeep import KeepDesks
from phoneprov_core.directory.lookup import LookUp
from phoneprov_core.kernel.actor import system_actor
from phoneprov_core.provisioning.use_cases import ProvideFile


class Switching(Adapters):
    """What calls phones and what phones call, shared by the use cases; see ``Adapters``."""

    settings = Adapters.settings
    clock = Adapters.clock
    new_id = Adapters.new_id
    pause = Adapters.pause
    tasks = Adapters.tasks
    database = Adapters.database
    hasher = Adapters.hasher
    uploader = Adapters.uploader
    phone_driver = Adapters.phone_driver
    journal = Adapters.journal
    watch = Adapters.watch
    signer = Adapters.signer
    calls = Adapters.calls

    provide_file = providers.Singleton(
        ProvideFile,
        database,
        providers.Singleton(shared_files_of, settings),
        settings.provided.phone_networks,
        settings.provided.fetch_binding,
        journal,
        clock,
        new_id,
        Adapters.journals.provided.fetch,
    )
    deploy = providers.Singleton(
        Deploy,
        database,
        uploader,
        phone_driver,
        providers.Singleton(Confirm, database, watch, tasks.provided.start, journal, clock),
        tasks.provided.run,
        journal,
        clock,
        new_id,
        filename_template=settings.provided.filename_template,
        limits=providers.Singleton(
            SwitchLimits,
            settings.provided.switches_per_phone,
            settings.provided.phones_per_caller,
        ),
    )
    batch_worker = providers.Callable(
        partial,
        process_batches,
        providers.Singleton(
            RunBatches,
            database,
            providers.Singleton(
                PhoneWork,
                database,
                deploy,
                phone_driver,
                calls,
                tasks.provided.run,
                clock,
                new_id,
            ),
            tasks.provided.run,
            pause,
            providers.Object(log_batch),
            clock,
            new_id,
        ),
    )
    change_desk = providers.Singleton(
        ChangeDesk,
        database,
        deploy,
        phone_driver,
        calls,
        tasks.provided.run,
        pause,
        clock,
        clear_calls=settings.provided.desks.clear_calls,
    )
    log_out_at_phone = providers.Singleton(LogOut, database, change_desk, signer, clock)
    check_pin = providers.Singleton(
        CheckPin,
        database,
        hasher,
        clock,
        journal=Adapters.journals.provided.pin_failure,
    )
    phone_services = providers.Singleton(
        PhoneServices,
        identify=providers.Singleton(
            IdentifyPhone,
            database,
            settings.provided.phone_networks,
            settings.provided.desks.binding,
            clock,
        ),
        menu=providers.Singleton(ServiceMenu, database),
        log_in=providers.Singleton(
            LogInAtPhone, database, check_pin, change_desk, signer, settings.provided.desks, clock
        ),
        log_out=log_out_at_phone,
        change_pin=providers.Singleton(
            ChangePin, database, check_pin, hasher, signer, clock, new_id
        ),
        look_up=providers.Singleton(LookUp, database),
        credentials=providers.Singleton(
            PhoneCredentials,
            database,
            settings.provided.phone_web.user,
            settings.provided.phone_web.password,
            clock,
        ),
    )
    keep_desks = providers.Singleton(
        KeepDesks,
        database,
        change_desk,
        providers.Singleton(system_actor, settings.provided.level_rule),
        clock,
    )
