"""The container: the use cases over the adapters.

Every object is a singleton and created synchronously. Resources (the database, the hashing threads)
are opened and closed by ``phoneprov_adapters.composition.lifecycle``.
"""

from __future__ import annotations

from dependency_injector import providers

from phoneprov_adapters.composition.adapters import Adapters
from phoneprov_adapters.composition.factories import (
    fetch_observer_of,
    pin_journal_of,
    shared_files_of,
)
from phoneprov_adapters.files.csv import CsvText
from phoneprov_adapters.runtime.batch_worker import BatchWorker
from phoneprov_adapters.runtime.journal import log_batch, log_login_failure
from phoneprov_core.access.use_cases import Permissions, UserPermissions
from phoneprov_core.application import UseCases
from phoneprov_core.audit.use_cases import Audit
from phoneprov_core.auth.authenticate import Authenticate
from phoneprov_core.auth.create_admin import CreateAdmin
from phoneprov_core.auth.login import Login
from phoneprov_core.auth.logout import Logout
from phoneprov_core.auth.refresh import Refresh
from phoneprov_core.auth.register import Register
from phoneprov_core.batches.run import RunBatches
from phoneprov_core.batches.use_cases import Batches
from phoneprov_core.batches.work import PhoneWork
from phoneprov_core.deployments.confirm import Confirm
from phoneprov_core.deployments.deploy import Deploy
from phoneprov_core.deployments.limits import SwitchLimits
from phoneprov_core.deployments.preview import PreviewSwitch
from phoneprov_core.deployments.rollback import Rollback
from phoneprov_core.deployments.switch import SwitchProfile
from phoneprov_core.deployments.use_cases import Deployments
from phoneprov_core.desks.access import IdentifyPhone
from phoneprov_core.desks.change import ChangeDesk
from phoneprov_core.desks.login import ChangePin, LogInAtPhone
from phoneprov_core.desks.logout import LogOut
from phoneprov_core.desks.pins import CheckPin
from phoneprov_core.desks.services import PhoneCredentials, PhoneServices, ServiceMenu
from phoneprov_core.desks.upkeep import KeepDesks
from phoneprov_core.desks.use_cases import Desks
from phoneprov_core.directory.lookup import LookUp
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.extensions.use_cases import Extensions
from phoneprov_core.kems.use_cases import Kems
from phoneprov_core.kernel.actor import system_actor
from phoneprov_core.links.use_cases import Links
from phoneprov_core.me.use_cases import Me
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.reading import ReadConfigurations
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.provisioning.use_cases import DiscoveredPhones, Fetches, ProvideFile
from phoneprov_core.retention.use_cases import Prune
from phoneprov_core.transfer.texts import ImportText
from phoneprov_core.transfer.use_cases import Transfer
from phoneprov_core.users.use_cases import Users
from phoneprov_core.vendor_phones.use_cases import VendorPhones
from phoneprov_core.vendor_services.use_cases import VendorServices
from phoneprov_core.vendor_users.use_cases import VendorUsers


class Container(Adapters):
    """All use cases; see ``Adapters``."""

    settings = Adapters.settings
    clock = Adapters.clock
    new_id = Adapters.new_id
    pause = Adapters.pause
    tasks = Adapters.tasks
    database = Adapters.database
    hasher = Adapters.hasher
    tokens = Adapters.tokens
    policy = Adapters.policy
    uploader = Adapters.uploader
    phone_driver = Adapters.phone_driver
    journal = Adapters.journal
    watch = Adapters.watch
    reachability = Adapters.reachability
    compare = Adapters.compare
    signer = Adapters.signer
    calls = Adapters.calls

    authenticate = providers.Singleton(
        Authenticate, database, tokens, settings.provided.level_rule, clock
    )
    login = providers.Singleton(
        Login,
        database,
        hasher,
        tokens,
        settings.provided.lifetimes,
        clock,
        new_id,
        guesses=settings.provided.guesses_per_address,
        journal=providers.Object(log_login_failure),
    )
    logout = providers.Singleton(Logout, database, tokens, clock)
    refresh = providers.Singleton(
        Refresh, database, tokens, settings.provided.lifetimes, clock, new_id
    )
    register = providers.Singleton(
        Register,
        database,
        hasher,
        policy,
        clock,
        new_id,
        public=settings.provided.public_register,
    )
    create_admin = providers.Singleton(CreateAdmin, database, hasher, policy, clock, new_id)
    me = providers.Singleton(Me, database)
    users = providers.Singleton(Users, database, hasher, policy, clock, new_id)
    permissions = providers.Singleton(Permissions, database, clock, new_id)
    user_permissions = providers.Singleton(UserPermissions, database, clock, new_id)
    extensions = providers.Singleton(Extensions, database, clock, new_id)
    links = providers.Singleton(Links, database, clock, new_id)
    phones = providers.Singleton(Phones, database, settings.provided.shared_write, clock)
    profiles = providers.Singleton(
        Profiles,
        database,
        clock,
        new_id,
        largest_xml=settings.provided.largest_xml,
        most_profiles=settings.provided.most_profiles,
        most_revisions=settings.provided.most_revisions,
    )
    provide_file = providers.Singleton(
        ProvideFile,
        database,
        providers.Singleton(shared_files_of, settings),
        settings.provided.phone_networks,
        settings.provided.fetch_binding,
        journal,
        clock,
        new_id,
        providers.Singleton(fetch_observer_of, settings),
    )
    audit = providers.Singleton(Audit, database, clock)
    fetches = providers.Singleton(Fetches, database)
    discovered_phones = providers.Singleton(DiscoveredPhones, database)
    confirm = providers.Singleton(
        Confirm,
        database,
        watch,
        tasks.provided.start,
        journal,
        clock,
    )
    deploy = providers.Singleton(
        Deploy,
        database,
        uploader,
        phone_driver,
        confirm,
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
    switch_profile = providers.Singleton(SwitchProfile, database, deploy)
    rollback = providers.Singleton(Rollback, database, deploy)
    read_configurations = providers.Singleton(
        ReadConfigurations, database, compare, largest_xml=settings.provided.largest_xml
    )
    preview_switch = providers.Singleton(
        PreviewSwitch,
        database,
        deploy,
        reachability,
        compare,
        clock,
    )
    deployments = providers.Singleton(Deployments, database, clock)
    batch_worker = providers.Singleton(
        BatchWorker,
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
    prune = providers.Singleton(Prune, database, settings.provided.keep, clock, pause)
    batches = providers.Singleton(
        Batches, database, batch_worker, tasks.provided.start, clock, new_id
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
        journal=providers.Singleton(pin_journal_of, settings),
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
    desks = providers.Singleton(Desks, database, log_out_at_phone, clock)
    keep_desks = providers.Singleton(
        KeepDesks,
        database,
        change_desk,
        providers.Singleton(system_actor, settings.provided.level_rule),
        clock,
    )
    company_directory = providers.Singleton(
        CompanyDirectory, database, settings.provided.shared_write, clock, new_id
    )
    kems = providers.Singleton(Kems, database, settings.provided.shared_write, clock, new_id)
    vendor_services = providers.Singleton(
        VendorServices, database, settings.provided.shared_write, clock, new_id
    )
    personal_directory = providers.Singleton(PersonalDirectory, database, clock, new_id)
    vendor_phones = providers.Singleton(
        VendorPhones, database, settings.provided.shared_write, clock
    )
    vendor_users = providers.Singleton(VendorUsers, database, hasher, clock, new_id)

    transfer = providers.Singleton(
        Transfer,
        database,
        hasher,
        policy,
        settings.provided.shared_write,
        clock,
        new_id,
        providers.Factory(
            Profiles, clock=clock, new_id=new_id, largest_xml=settings.provided.largest_xml
        ).provider,
    )

    import_text = providers.Singleton(ImportText, transfer, providers.Object(CsvText))

    use_cases = providers.Singleton(
        UseCases,
        level_rule=settings.provided.level_rule,
        shared_write=settings.provided.shared_write,
        create_admin=create_admin,
        authenticate=authenticate,
        login=login,
        logout=logout,
        refresh=refresh,
        register=register,
        me=me,
        users=users,
        permissions=permissions,
        user_permissions=user_permissions,
        extensions=extensions,
        links=links,
        phones=phones,
        profiles=profiles,
        switch_profile=switch_profile,
        preview_switch=preview_switch,
        rollback=rollback,
        deployments=deployments,
        batches=batches,
        desks=desks,
        phone_services=phone_services,
        audit=audit,
        company_directory=company_directory,
        kems=kems,
        vendor_services=vendor_services,
        personal_directory=personal_directory,
        vendor_phones=vendor_phones,
        vendor_users=vendor_users,
        fetches=fetches,
        discovered_phones=discovered_phones,
        transfer=transfer,
        import_text=import_text,
        read_configurations=read_configurations,
    )
