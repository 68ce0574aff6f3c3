"""The container: the use cases over the adapters.

Every object is created synchronously, once. Resources (the database, the hashing threads) are
opened and closed by ``phoneprov_adapters.composition.lifecycle``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from typing import Any

from phoneprov_adapters.composition.adapters import Adapters
from phoneprov_adapters.composition.factories import calls_of, shared_files_of
from phoneprov_adapters.files.csv import CsvText
from phoneprov_adapters.runtime.journal import log_batch, log_login_failure
from phoneprov_adapters.runtime.tasks import process_batches
from phoneprov_core.access.use_cases import Permissions, UserPermissions
from phoneprov_core.application import UseCases
from phoneprov_core.audit.use_cases import Audit
from phoneprov_core.auth.accounts import CreateAdmin, Register
from phoneprov_core.auth.login import Login
from phoneprov_core.auth.sessions import Authenticate, Logout, Refresh
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
from phoneprov_core.extensions import Extensions
from phoneprov_core.kems import Kems
from phoneprov_core.kernel.actor import system_actor
from phoneprov_core.links import Links
from phoneprov_core.me import Me
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.reading import ReadConfigurations
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.provisioning.use_cases import DiscoveredPhones, Fetches, ProvideFile
from phoneprov_core.retention.use_cases import Prune
from phoneprov_core.transfer.texts import ImportText
from phoneprov_core.transfer.use_cases import Transfer
from phoneprov_core.users.use_cases import Users
from phoneprov_core.vendor_phones import VendorPhones
from phoneprov_core.vendor_services import VendorServices
from phoneprov_core.vendor_users import VendorUsers


class Container(Adapters):
    """All use cases; see ``Adapters``. Those that several others or no others use have a property
    of their own."""

    @cached_property
    def provide_file(self) -> ProvideFile:
        return ProvideFile(
            self.database,
            shared_files_of(self.settings),
            self.settings.phone_networks,
            self.settings.fetch_binding,
            self.journal,
            self.clock,
            self.new_id,
            self.journals.fetch,
        )

    @cached_property
    def deploy(self) -> Deploy:
        confirm = Confirm(self.database, self.watch, self.tasks.start, self.journal, self.clock)
        limits = SwitchLimits(self.settings.switches_per_phone, self.settings.phones_per_caller)
        return Deploy(
            self.database,
            self.uploader,
            self.phone_driver,
            confirm,
            self.tasks.run,
            self.journal,
            self.clock,
            self.new_id,
            filename_template=self.settings.filename_template,
            limits=limits,
        )

    @cached_property
    def batch_worker(self) -> Callable[[], Coroutine[Any, Any, None]]:
        """Processes open batches."""
        work = PhoneWork(
            self.database,
            self.deploy,
            self.phone_driver,
            calls_of(self.ami),
            self.tasks.run,
            self.clock,
            self.new_id,
        )
        run = RunBatches(
            self.database, work, self.tasks.run, self.pause, log_batch, self.clock, self.new_id
        )
        return partial(process_batches, run)

    @cached_property
    def change_desk(self) -> ChangeDesk:
        return ChangeDesk(
            self.database,
            self.deploy,
            self.phone_driver,
            calls_of(self.ami),
            self.tasks.run,
            self.pause,
            self.clock,
            clear_calls=self.settings.desks.clear_calls,
        )

    @cached_property
    def keep_desks(self) -> KeepDesks:
        return KeepDesks(
            self.database, self.change_desk, system_actor(self.settings.level_rule), self.clock
        )

    @cached_property
    def prune(self) -> Prune:
        return Prune(self.database, self.settings.keep, self.clock, self.pause)

    @cached_property
    def phone_services(self) -> PhoneServices:
        settings, database, clock = self.settings, self.database, self.clock
        check_pin = CheckPin(database, self.hasher, clock, journal=self.journals.pin_failure)
        return PhoneServices(
            identify=IdentifyPhone(
                database, settings.phone_networks, settings.desks.binding, clock
            ),
            menu=ServiceMenu(database),
            log_in=LogInAtPhone(
                database, check_pin, self.change_desk, self.signer, settings.desks, clock
            ),
            log_out=LogOut(database, self.change_desk, self.signer, clock),
            change_pin=ChangePin(database, check_pin, self.hasher, self.signer, clock, self.new_id),
            look_up=LookUp(database),
            credentials=PhoneCredentials(
                database, settings.phone_web.user, settings.phone_web.password, clock
            ),
        )

    @cached_property
    def create_admin(self) -> CreateAdmin:
        return CreateAdmin(self.database, self.hasher, self.policy, self.clock, self.new_id)

    @cached_property
    def use_cases(self) -> UseCases:
        settings, policy, clock, new_id = self.settings, self.policy, self.clock, self.new_id
        database, hasher, tokens = self.database, self.hasher, self.tokens
        shared_write, largest_xml = settings.shared_write, settings.largest_xml
        users = Users(database, hasher, policy, clock, new_id)
        extensions = Extensions(database, clock, new_id)
        phones = Phones(database, shared_write, clock)
        kems = Kems(database, shared_write, clock, new_id)
        company_directory = CompanyDirectory(database, shared_write, clock, new_id)
        personal_directory = PersonalDirectory(database, clock, new_id)
        profiles = Profiles(
            database,
            clock,
            new_id,
            largest_xml=largest_xml,
            most_profiles=settings.most_profiles,
            most_revisions=settings.most_revisions,
        )
        transfer = Transfer(
            database=database,
            users=users,
            extensions=extensions,
            phones=phones,
            kems=kems,
            company_directory=company_directory,
            personal_directory=personal_directory,
            profile_use_cases=profiles,
        )
        return UseCases(
            level_rule=settings.level_rule,
            shared_write=shared_write,
            create_admin=self.create_admin,
            authenticate=Authenticate(database, tokens, settings.level_rule, clock),
            login=Login(
                database,
                hasher,
                tokens,
                settings.lifetimes,
                clock,
                new_id,
                guesses=settings.guesses_per_address,
                journal=log_login_failure,
            ),
            logout=Logout(database, tokens, clock),
            refresh=Refresh(database, tokens, settings.lifetimes, clock, new_id),
            register=Register(
                database, hasher, policy, clock, new_id, public=settings.public_register
            ),
            me=Me(database),
            users=users,
            permissions=Permissions(database, clock, new_id),
            user_permissions=UserPermissions(database, clock, new_id),
            extensions=extensions,
            links=Links(database, clock, new_id),
            phones=phones,
            profiles=profiles,
            switch_profile=SwitchProfile(database, self.deploy),
            preview_switch=PreviewSwitch(
                database, self.deploy, self.reachability, self.compare, clock
            ),
            rollback=Rollback(database, self.deploy),
            deployments=Deployments(database, clock),
            batches=Batches(database, self.batch_worker, self.tasks.start, clock, new_id),
            desks=Desks(database, self.phone_services.log_out, clock),
            phone_services=self.phone_services,
            audit=Audit(database, clock),
            company_directory=company_directory,
            kems=kems,
            vendor_services=VendorServices(database, shared_write, clock, new_id),
            personal_directory=personal_directory,
            vendor_phones=VendorPhones(database, shared_write, clock),
            vendor_users=VendorUsers(database, hasher, clock, new_id),
            fetches=Fetches(database),
            discovered_phones=DiscoveredPhones(database),
            transfer=transfer,
            import_text=ImportText(transfer, CsvText),
            read_configurations=ReadConfigurations(database, self.compare, largest_xml=largest_xml),
        )
