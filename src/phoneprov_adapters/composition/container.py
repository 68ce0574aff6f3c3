"""The container: the use cases over the adapters.

Every object is made once, synchronously, when it is first asked for: a command makes only what it
uses. The database is opened and closed by ``phoneprov_adapters.composition.lifecycle``.
"""

from dependency_injector import providers

from phoneprov_adapters.composition.adapters import (
    Adapters,
    box,
    clock,
    database,
    hasher,
    keys,
    new_id,
    pause,
    policy,
    renderer,
    setting,
    shared_write,
    tokens,
)
from phoneprov_adapters.composition.checked import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import Switching
from phoneprov_adapters.files.csv import CsvText
from phoneprov_adapters.runtime.journal import log_login_failure
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.maintenance.key_rotation import KeyRotation
from phoneprov_core.access.use_cases import Permissions, UserPermissions
from phoneprov_core.api_tokens import ApiTokens
from phoneprov_core.application import UseCases
from phoneprov_core.audit.use_cases import Audit
from phoneprov_core.auth.accounts import CreateAdmin, Register
from phoneprov_core.auth.login import Login
from phoneprov_core.auth.sessions import Authenticate, Logout, Refresh
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.extensions import Extensions
from phoneprov_core.fleet.files import CompareFiles
from phoneprov_core.fleet.overview import ViewFleet
from phoneprov_core.fleet.use_cases import ChangeFleet
from phoneprov_core.fleet.watch import WatchFleet
from phoneprov_core.kems import Kems
from phoneprov_core.lines.pjsip import PjsipObjects
from phoneprov_core.lines.use_cases import Lines
from phoneprov_core.links import Links
from phoneprov_core.me import Me
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.reading import ReadConfigurations
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.retention import Prune
from phoneprov_core.templates.use_cases import Templates
from phoneprov_core.transfer.texts import ImportText
from phoneprov_core.transfer.use_cases import Transfer
from phoneprov_core.users.use_cases import Users
from phoneprov_core.vendor_phones import VendorPhones
from phoneprov_core.vendor_services import VendorServices
from phoneprov_core.vendor_users import VendorUsers


class Container(Switching):
    """All use cases; see ``Adapters``."""

    # fmt: off
    # Accounts, sessions and rights.
    create_admin = singleton(
        CreateAdmin, database=database, hasher=hasher, policy=policy, clock=clock,
        new_id=new_id)
    authenticate = singleton(
        Authenticate, database=database, tokens=tokens, secrets=of(Adapters.token_secrets),
        level_rule=setting(lambda it: it.level_rule), clock=clock)
    login = singleton(
        Login, database=database, hasher=hasher, tokens=tokens,
        lifetimes=setting(lambda it: it.lifetimes), clock=clock, new_id=new_id,
        guesses=setting(lambda it: it.guesses_per_address), journal=log_login_failure)
    logout = singleton(Logout, database=database, tokens=tokens, clock=clock)
    refresh = singleton(
        Refresh, database=database, tokens=tokens,
        lifetimes=setting(lambda it: it.lifetimes), clock=clock, new_id=new_id)
    register = singleton(
        Register, database=database, hasher=hasher, policy=policy, clock=clock,
        new_id=new_id, public=setting(lambda it: it.public_register))
    me = singleton(Me, database=database)
    api_tokens = singleton(
        ApiTokens, database=database, secrets=of(Adapters.token_secrets), clock=clock,
        new_id=new_id)
    users = singleton(
        Users, database=database, hasher=hasher, policy=policy, clock=clock, new_id=new_id)
    permissions = singleton(Permissions, database=database, clock=clock, new_id=new_id)
    user_permissions = singleton(UserPermissions, database=database, clock=clock, new_id=new_id)
    rotation = singleton(KeyRotation, database=database, keys=keys, box=box)
    audit = singleton(Audit, database=database, clock=clock)
    prune = singleton(
        Prune, database=database, keep=setting(lambda it: it.keep), clock=clock, pause=pause)

    # Records.
    extensions = singleton(Extensions, database=database, clock=clock, new_id=new_id)
    links = singleton(Links, database=database, clock=clock, new_id=new_id)
    lines = singleton(
        Lines, database=database, clock=clock, context=setting(lambda it: it.asterisk_context))
    pjsip = singleton(
        PjsipObjects, database=database, clock=clock,
        context=setting(lambda it: it.asterisk_context))
    phones = singleton(Phones, database=database, shared_write=shared_write, clock=clock)
    view_fleet = singleton(ViewFleet, database=database, clock=clock)
    watch_fleet = singleton(
        WatchFleet, database=database, information=of(Adapters.phone_commands),
        registrations=of(Adapters.registrations), clock=clock, pause=pause,
        holder=of(Adapters.database, lambda it: it.process),
        files=of(singleton(CompareFiles, database=database, uploader=of(Adapters.uploader),
        clock=clock, pause=pause)))
    change_fleet = singleton(ChangeFleet, database=database, clock=clock, new_id=new_id)
    kems = singleton(Kems, database=database, shared_write=shared_write, clock=clock, new_id=new_id)
    vendor_services = singleton(
        VendorServices, database=database, shared_write=shared_write, clock=clock,
        new_id=new_id)
    vendor_phones = singleton(
        VendorPhones, database=database, shared_write=shared_write, clock=clock)
    vendor_users = singleton(
        VendorUsers, database=database, hasher=hasher, clock=clock, new_id=new_id)
    company_directory = singleton(
        CompanyDirectory, database=database, shared_write=shared_write, clock=clock,
        new_id=new_id)
    personal_directory = singleton(
        PersonalDirectory, database=database, clock=clock, new_id=new_id,
        most_contacts=setting(lambda it: it.most_contacts))
    templates = singleton(
        Templates, database=database, renderer=renderer, clock=clock, new_id=new_id,
        largest_xml=setting(lambda it: it.cnf_xml_max))
    profiles = singleton(
        Profiles, database=database, clock=clock, new_id=new_id,
        largest_xml=setting(lambda it: it.cnf_xml_max),
        most_profiles=setting(lambda it: it.most_profiles),
        most_revisions=setting(lambda it: it.most_revisions))
    read_configurations = singleton(
        ReadConfigurations, database=database, compare=of(Adapters.compare),
        largest_xml=setting(lambda it: it.cnf_xml_max))
    transfer = singleton(
        Transfer, database=database, users=of(users), extensions=of(extensions),
        phones=of(phones), kems=of(kems), company_directory=of(company_directory),
        personal_directory=of(personal_directory), profile_use_cases=of(profiles),
        template_use_cases=of(templates))
    import_text = singleton(ImportText, transfer=of(transfer), read=CsvText)
    use_cases = singleton(
        UseCases, level_rule=setting(lambda it: it.level_rule), shared_write=shared_write,
        create_admin=of(create_admin), authenticate=of(authenticate), login=of(login),
        logout=of(logout), refresh=of(refresh), register=of(register), me=of(me),
        api_tokens=of(api_tokens),
        users=of(users), permissions=of(permissions), user_permissions=of(user_permissions),
        extensions=of(extensions), links=of(links), lines=of(lines),
        pjsip=of(pjsip), phones=of(phones),
        change_fleet=of(change_fleet), view_fleet=of(view_fleet),
        templates=of(templates), try_template=of(Switching.try_template),
        profiles=of(profiles), switch_profile=of(Switching.switch_profile),
        preview_switch=of(Switching.preview_switch), rollback=of(Switching.rollback),
        deployments=of(Switching.deployments), batches=of(Switching.batches),
        plan_batch=of(Switching.plan_batch),
        audit=of(audit), company_directory=of(company_directory), kems=of(kems),
        vendor_services=of(vendor_services), personal_directory=of(personal_directory),
        vendor_phones=of(vendor_phones), vendor_users=of(vendor_users),
        desks=of(Switching.desks), phone_services=of(Switching.phone_services),
        fetches=of(Switching.fetches), discovered_phones=of(Switching.discovered_phones),
        transfer=of(transfer), import_text=of(import_text),
        read_configurations=of(read_configurations))
    # fmt: on


def container_with(settings: Settings, keys: SecretKeys, **adapters: object) -> Container:
    """The container, with other adapters by the names of their providers."""
    container = Container(settings=settings, keys=keys)
    container.override_providers(
        **{name: providers.Object(adapter) for name, adapter in adapters.items()}
    )
    return container
