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
    database = Adapters.database
    hasher = Adapters.hasher
    tokens = Adapters.tokens
    policy = Adapters.policy
    compare = Adapters.compare
    switch_profile = Switching.switch_profile
    rollback = Switching.rollback
    preview_switch = Switching.preview_switch
    deployments = Switching.deployments
    batches = Switching.batches
    phone_services = Switching.phone_services
    desks = Switching.desks

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
    audit = providers.Singleton(Audit, database, clock)
    fetches = providers.Singleton(Fetches, database)
    discovered_phones = providers.Singleton(DiscoveredPhones, database)
    read_configurations = providers.Singleton(
        ReadConfigurations, database, compare, largest_xml=settings.provided.largest_xml
    )
    prune = providers.Singleton(Prune, database, settings.provided.keep, clock, pause)
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
        database=database,
        users=users,
        extensions=extensions,
        phones=phones,
        kems=kems,
        company_directory=company_directory,
        personal_directory=personal_directory,
        profile_use_cases=profiles,
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


def container_with(settings: Settings, keys: SecretKeys, **adapters: object) -> Container:
    """The container, with other adapters by the names of their providers."""
    container = Container(settings=settings, keys=keys)
    container.override_providers(
        **{name: providers.Object(adapter) for name, adapter in adapters.items()}
    )
    return container
