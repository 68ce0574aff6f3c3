"""The use cases of all features in one object."""

from dataclasses import dataclass

from phoneprov_core.features.batches.lists import ReadPhoneList
from phoneprov_core.features.batches.plan import PlanBatch, PlanTemplate
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.features.desks.use_cases import Desks, PhoneServices
from phoneprov_core.features.fleet.use_cases import ChangeFleet, ViewFleet
from phoneprov_core.features.history.use_cases import History
from phoneprov_core.features.identities.use_cases import Identities, ProviderSignIn
from phoneprov_core.features.joining.join import JoinPeople
from phoneprov_core.features.joining.leave import LeavePeople
from phoneprov_core.features.joining.undo import UndoAct
from phoneprov_core.features.lines.drills import Drills
from phoneprov_core.features.lines.numbers import Numbers
from phoneprov_core.features.lines.use_cases import Lines, PjsipObjects
from phoneprov_core.features.rehearsal.foresight import RehearseBatch
from phoneprov_core.features.serving.use_cases import DiscoveredPhones, Fetches
from phoneprov_core.features.sync.model import ImportOrSync
from phoneprov_core.features.sync.use_cases import SyncPeople
from phoneprov_core.features.templates.deployed import TryTemplate
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.features.transfer.edits import EditRecords
from phoneprov_core.features.transfer.texts import ImportText, ListAsTable
from phoneprov_core.features.transfer.use_cases import Transfer
from phoneprov_core.inventory.extensions import Extensions
from phoneprov_core.inventory.links import Links
from phoneprov_core.inventory.locations import Locations
from phoneprov_core.inventory.notes import Notes
from phoneprov_core.inventory.phone_parts import Kems, VendorPhones
from phoneprov_core.inventory.phones.use_cases import EnrichedPhone, Phones
from phoneprov_core.inventory.profiles.reading import ReadConfigurations
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.inventory.vendor_services import VendorServices
from phoneprov_core.kernel.actor import Actor, LevelRule, SharedWrite, system_actor
from phoneprov_core.people.audit import Audit
from phoneprov_core.people.auth.accounts import ChangePassword, CreateAdmin, Register
from phoneprov_core.people.auth.login import Login
from phoneprov_core.people.auth.sessions import (
    Authenticate,
    CheckServiceToken,
    Logout,
    Refresh,
    Sessions,
)
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.people.me import ApiTokens, Me
from phoneprov_core.people.permissions import Permissions, Rights, UserPermissions
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.people.vendor_users import VendorUsers
from phoneprov_core.switching.deployments.deploy import SwitchProfile
from phoneprov_core.switching.deployments.preview import PreviewSwitch
from phoneprov_core.switching.deployments.rollback import Rollback
from phoneprov_core.switching.deployments.use_cases import Deployments, RestartPhone


@dataclass(frozen=True, kw_only=True)
class UseCases:
    """The use cases, built once; each takes the actor as an argument. ``level_rule`` decides which
    levels an actor holds, ``shared_write`` who may write shared records."""

    level_rule: LevelRule
    shared_write: SharedWrite
    create_admin: CreateAdmin
    authenticate: Authenticate
    login: Login
    provider_sign_in: ProviderSignIn | None
    identities: Identities
    logout: Logout
    refresh: Refresh
    sessions: Sessions
    change_password: ChangePassword
    register: Register
    check_service_token: CheckServiceToken
    me: Me[EnrichedPhone]
    api_tokens: ApiTokens
    users: Users
    permissions: Permissions
    user_permissions: UserPermissions
    rights: Rights
    extensions: Extensions
    links: Links
    lines: Lines
    numbers: Numbers
    pjsip: PjsipObjects
    drills: Drills
    phones: Phones
    change_fleet: ChangeFleet
    view_fleet: ViewFleet
    history: History
    templates: Templates
    try_template: TryTemplate
    profiles: Profiles
    switch_profile: SwitchProfile
    preview_switch: PreviewSwitch
    rollback: Rollback
    restart_phone: RestartPhone
    deployments: Deployments
    batches: Batches
    plan_batch: PlanBatch
    plan_template: PlanTemplate
    read_phone_list: ReadPhoneList
    rehearse_batch: RehearseBatch
    audit: Audit
    company_directory: CompanyDirectory
    kems: Kems
    vendor_services: VendorServices
    locations: Locations
    notes: Notes
    personal_directory: PersonalDirectory
    vendor_phones: VendorPhones
    vendor_users: VendorUsers
    desks: Desks
    phone_services: PhoneServices
    fetches: Fetches
    discovered_phones: DiscoveredPhones
    transfer: Transfer
    import_text: ImportText
    list_as_table: ListAsTable
    edit_records: EditRecords
    import_or_sync: ImportOrSync
    sync_people: SyncPeople
    join_people: JoinPeople
    leave_people: LeavePeople
    undo_act: UndoAct
    read_configurations: ReadConfigurations

    def system_actor(self) -> Actor:
        """The local administrator; see ``phoneprov_core.kernel.actor.system_actor``."""
        return system_actor(self.level_rule)
