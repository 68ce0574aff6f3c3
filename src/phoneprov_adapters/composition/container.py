"""The container: the use cases over the adapters.

Every object is a singleton and created synchronously. Resources (the database, the hashing threads)
are opened and closed by ``phoneprov_adapters.composition.lifecycle``.
"""

from dependency_injector import providers

from phoneprov_adapters.composition.adapters import Adapters
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import Switching
from phoneprov_adapters.files.csv import CsvText
from phoneprov_adapters.runtime.journal import log_login_failure
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.access.use_cases import Permissions, UserPermissions
from phoneprov_core.application import UseCases
from phoneprov_core.audit.use_cases import Audit
from phoneprov_core.auth.accounts import CreateAdmin, Register
from phoneprov_core.auth.login import Login
from phoneprov_core.auth.sessions import Authenticate, Logout, Refresh
from phoneprov_core.batches.use_cases import Batches
from phoneprov_core.deployments.preview import PreviewSwitch
from phoneprov_core.deployments.rollback import Rollback
from phoneprov_core.deployments.switch import SwitchProfile
from phoneprov_core.deployments.use_cases import Deployments
from phoneprov_core.desks.use_cases import Desks
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.extensions import Extensions
from phoneprov_core.kems import Kems
from phoneprov_core.links import Links
from phoneprov_core.me import Me
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.reading import ReadConfigurations
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.provisioning.use_cases import DiscoveredPhones, Fetches
from phoneprov_core.retention import Prune
from phoneprov_core.transfer.texts import ImportText
from phoneprov_core.transfer.use_cases import Transfer
from phoneprov_core.users.use_cases import Users
from phoneprov_core.vendor_phones import VendorPhones
from phoneprov_core.vendor_services import VendorServices
from phoneprov_core.vendor_users import VendorUsers


class Container(Switching):
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
    compare = Adapters.compare
    deploy = Switching.deploy
    shared_write = settings.provided.shared_write

    create_admin = providers.Singleton(CreateAdmin, database, hasher, policy, clock, new_id)
    prune = providers.Singleton(Prune, database, settings.provided.keep, clock, pause)
    users = providers.Singleton(Users, database, hasher, policy, clock, new_id)
    extensions = providers.Singleton(Extensions, database, clock, new_id)
    phones = providers.Singleton(Phones, database, shared_write, clock)
    kems = providers.Singleton(Kems, database, shared_write, clock, new_id)
    company_directory = providers.Singleton(CompanyDirectory, database, shared_write, clock, new_id)
    personal_directory = providers.Singleton(PersonalDirectory, database, clock, new_id)
    profiles = providers.Singleton(
        Profiles,
        database,
        clock,
        new_id,
        largest_xml=settings.provided.largest_xml,
        most_profiles=settings.provided.most_profiles,
        most_revisions=settings.provided.most_revisions,
    )
    transfer = providers.Singleton(
        Transfer,
        database=database,
        users=users,
        extensions=extensions,
        phones=phones,
        kems=kems,
        company_directory=company_directory,
        personal_directory=personal_directory,
        profile_use_cases=profiles,
    )
    use_cases = providers.Singleton(
        UseCases,
        level_rule=settings.provided.level_rule,
        shared_write=shared_write,
        create_admin=create_admin,
        authenticate=providers.Singleton(
            Authenticate, database, tokens, settings.provided.level_rule, clock
        ),
        login=providers.Singleton(
            Login,
            database,
            hasher,
            tokens,
            settings.provided.lifetimes,
            clock,
            new_id,
            guesses=settings.provided.guesses_per_address,
            journal=providers.Object(log_login_failure),
        ),
        logout=providers.Singleton(Logout, database, tokens, clock),
        refresh=providers.Singleton(
            Refresh, database, tokens, settings.provided.lifetimes, clock, new_id
        ),
        register=providers.Singleton(
            Register,
            database,
            hasher,
            policy,
            clock,
            new_id,
            public=settings.provided.public_register,
        ),
        me=providers.Singleton(Me, database),
        users=users,
        permissions=providers.Singleton(Permissions, database, clock, new_id),
        user_permissions=providers.Singleton(UserPermissions, database, clock, new_id),
        extensions=extensions,
        links=providers.Singleton(Links, database, clock, new_id),
        phones=phones,
        profiles=profiles,
        switch_profile=providers.Singleton(SwitchProfile, database, deploy),
        preview_switch=providers.Singleton(
            PreviewSwitch, database, deploy, Adapters.reachability, compare, clock
        ),
        rollback=providers.Singleton(Rollback, database, deploy),
        deployments=providers.Singleton(Deployments, database, clock),
        batches=providers.Singleton(
            Batches, database, Switching.batch_worker, tasks.provided.start, clock, new_id
        ),
        desks=providers.Singleton(Desks, database, Switching.log_out_at_phone, clock),
        phone_services=Switching.phone_services,
        audit=providers.Singleton(Audit, database, clock),
        company_directory=company_directory,
        kems=kems,
        vendor_services=providers.Singleton(VendorServices, database, shared_write, clock, new_id),
        personal_directory=personal_directory,
        vendor_phones=providers.Singleton(VendorPhones, database, shared_write, clock),
        vendor_users=providers.Singleton(VendorUsers, database, hasher, clock, new_id),
        fetches=providers.Singleton(Fetches, database),
        discovered_phones=providers.Singleton(DiscoveredPhones, database),
        transfer=transfer,
        import_text=providers.Singleton(ImportText, transfer, providers.Object(CsvText)),
        read_configurations=providers.Singleton(
            ReadConfigurations, database, compare, largest_xml=settings.provided.largest_xml
        ),
    )


def container_with(settings: Settings, keys: SecretKeys, **adapters: object) -> Container:
    """The container, with other adapters by the names of their providers."""
    container = Container(settings=settings, keys=keys)
    container.override_providers(
        **{name: providers.Object(adapter) for name, adapter in adapters.items()}
    )
    return container
