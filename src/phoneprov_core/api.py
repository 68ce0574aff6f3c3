"""The public names of the core: use cases, what they take and return, errors, and ports. The port
of a store is defined in its feature (``phoneprov_core.people.users.use_cases``). A feature of one
module, such as ``phoneprov_core.inventory.phone_parts``, is public itself."""

from phoneprov_core.application import UseCases as UseCases
from phoneprov_core.features.batches.commands import (
    CreateBatch as CreateBatch,
    WantedPhones as WantedPhones,
)
from phoneprov_core.features.batches.lists import (
    LineProblem as LineProblem,
    ListedPhone as ListedPhone,
    PhoneList as PhoneList,
    ReadPhoneList as ReadPhoneList,
    ReadPhones as ReadPhones,
)
from phoneprov_core.features.batches.model import Batch as Batch, BatchPhone as BatchPhone
from phoneprov_core.features.batches.plan import (
    Plan as Plan,
    PlanBatch as PlanBatch,
    PlanGroup as PlanGroup,
    PlannedFirst as PlannedFirst,
    PlanProblem as PlanProblem,
    PlanTemplate as PlanTemplate,
)
from phoneprov_core.features.batches.use_cases import Batches as Batches
from phoneprov_core.features.desks.model import (
    Desk as Desk,
    DeskLabel as DeskLabel,
    DeskPatch as DeskPatch,
    ListedDesk as ListedDesk,
)
from phoneprov_core.features.desks.use_cases import Desks as Desks, PhoneServices as PhoneServices
from phoneprov_core.features.fleet.model import (
    AdoptPhone as AdoptPhone,
    PlacedPhone as PlacedPhone,
    ReplacePhone as ReplacePhone,
)
from phoneprov_core.features.fleet.states import FleetState as FleetState
from phoneprov_core.features.fleet.status import (
    PhoneStatus as PhoneStatus,
    StateChange as StateChange,
)
from phoneprov_core.features.fleet.use_cases import (
    ChangeFleet as ChangeFleet,
    Fleet as Fleet,
    FleetDay as FleetDay,
    FleetQuery as FleetQuery,
    ViewFleet as ViewFleet,
)
from phoneprov_core.features.history.model import (
    HistoryQuery as HistoryQuery,
    PastPhone as PastPhone,
)
from phoneprov_core.features.history.use_cases import History as History
from phoneprov_core.features.identities.model import (
    Identity as Identity,
    IdentityProvider as IdentityProvider,
    PendingSignIn as PendingSignIn,
    ProviderClaims as ProviderClaims,
    ProviderReply as ProviderReply,
)
from phoneprov_core.features.identities.use_cases import (
    Identities as Identities,
    ProviderSignIn as ProviderSignIn,
)
from phoneprov_core.features.joining.join import JoinPeople as JoinPeople
from phoneprov_core.features.joining.leave import LeavePeople as LeavePeople
from phoneprov_core.features.joining.model import (
    ActStep as ActStep,
    Joiner as Joiner,
    JoinRequest as JoinRequest,
    Leaver as Leaver,
    LeaveRequest as LeaveRequest,
    Moved as Moved,
    MovedPerson as MovedPerson,
    UndoRequest as UndoRequest,
)
from phoneprov_core.features.joining.undo import UndoAct as UndoAct
from phoneprov_core.features.lines.drills import Drill as Drill, Drills as Drills
from phoneprov_core.features.lines.model import Line as Line
from phoneprov_core.features.lines.numbers import (
    FindQuery as FindQuery,
    Found as Found,
    Numbered as Numbered,
    Numbers as Numbers,
    NumbersOf as NumbersOf,
    Person as Person,
    UsedAt as UsedAt,
)
from phoneprov_core.features.lines.use_cases import Lines as Lines, PjsipObjects as PjsipObjects
from phoneprov_core.features.rehearsal.foresight import RehearseBatch as RehearseBatch
from phoneprov_core.features.rehearsal.model import (
    Foretold as Foretold,
    ForetoldCounts as ForetoldCounts,
    ForetoldFailure as ForetoldFailure,
    Rehearsal as Rehearsal,
    Stage as Stage,
    TimelineEntry as TimelineEntry,
)
from phoneprov_core.features.serving.model import DiscoveredPhone as DiscoveredPhone, Fetch as Fetch
from phoneprov_core.features.serving.use_cases import (
    DiscoveredPhones as DiscoveredPhones,
    Fetches as Fetches,
)
from phoneprov_core.features.sync.model import (
    Directory as Directory,
    ImportOrSync as ImportOrSync,
    Synced as Synced,
    SyncedPerson as SyncedPerson,
    SyncOptions as SyncOptions,
    SyncRefused as SyncRefused,
)
from phoneprov_core.features.sync.use_cases import SyncPeople as SyncPeople
from phoneprov_core.features.templates.deployed import (
    RenderRequest as RenderRequest,
    TemplateDiff as TemplateDiff,
    Trial as Trial,
    TryTemplate as TryTemplate,
)
from phoneprov_core.features.templates.model import (
    CheckTemplate as CheckTemplate,
    CreateTemplate as CreateTemplate,
    PlanText as PlanText,
    Template as Template,
    TemplateCheck as TemplateCheck,
    TemplatePatch as TemplatePatch,
    TemplateText as TemplateText,
    WantedTemplates as WantedTemplates,
    WantedText as WantedText,
)
from phoneprov_core.features.templates.use_cases import (
    Renderer as Renderer,
    TemplateFault as TemplateFault,
    Templates as Templates,
    TemplateValues as TemplateValues,
)
from phoneprov_core.features.transfer.asterisk import Section as Section
from phoneprov_core.features.transfer.edits import (
    Edited as Edited,
    EditedRecord as EditedRecord,
    EditRecords as EditRecords,
    EditRequest as EditRequest,
)
from phoneprov_core.features.transfer.model import (
    Imported as Imported,
    Row as Row,
    RowProblem as RowProblem,
    Table as Table,
)
from phoneprov_core.features.transfer.sheets import Sheet as Sheet
from phoneprov_core.features.transfer.texts import (
    ImportRequest as ImportRequest,
    ImportResult as ImportResult,
    ImportText as ImportText,
    ListAsTable as ListAsTable,
    SentTable as SentTable,
)
from phoneprov_core.features.transfer.use_cases import Transfer as Transfer, sheet_of as sheet_of
from phoneprov_core.inventory.configuration.comparison import (
    Compare as Compare,
    Compared as Compared,
    Comparison as Comparison,
    NumberedStars as NumberedStars,
    compare as compare,
    masked as masked,
    unified_diff as unified_diff,
)
from phoneprov_core.inventory.configuration.findings import (
    Finding as Finding,
    Severity as Severity,
    has_errors as has_errors,
)
from phoneprov_core.inventory.configuration.lint import lint as lint
from phoneprov_core.inventory.phones.model import (
    CountedPhones as CountedPhones,
    CountsQuery as CountsQuery,
    CreatePhone as CreatePhone,
    Phone as Phone,
    PhoneFilters as PhoneFilters,
    PhonePatch as PhonePatch,
    PhoneSearch as PhoneSearch,
    PhoneSummary as PhoneSummary,
    PhoneUse as PhoneUse,
    SummarySearch as SummarySearch,
)
from phoneprov_core.inventory.phones.use_cases import (
    EnrichedPhone as EnrichedPhone,
    Phones as Phones,
)
from phoneprov_core.inventory.profiles.model import (
    CreateProfile as CreateProfile,
    Profile as Profile,
    ProfilePatch as ProfilePatch,
    Revision as Revision,
    Switched as Switched,
    SwitchRequest as SwitchRequest,
)
from phoneprov_core.inventory.profiles.reading import (
    LintRequest as LintRequest,
    LintResult as LintResult,
    ReadConfigurations as ReadConfigurations,
    RevisionDiff as RevisionDiff,
)
from phoneprov_core.inventory.profiles.use_cases import (
    ProfileDeletion as ProfileDeletion,
    Profiles as Profiles,
    ProfileSearch as ProfileSearch,
)
from phoneprov_core.kernel.actor import (
    Actor as Actor,
    LevelRule as LevelRule,
    SharedWrite as SharedWrite,
    system_actor as system_actor,
)
from phoneprov_core.kernel.errors import (
    Conflict as Conflict,
    Forbidden as Forbidden,
    Invalid as Invalid,
    NotFound as NotFound,
    PhoneprovError as PhoneprovError,
    Problem as Problem,
    Refused as Refused,
    TimedOut as TimedOut,
    TooManyAttempts as TooManyAttempts,
    Unauthenticated as Unauthenticated,
    Unavailable as Unavailable,
)
from phoneprov_core.kernel.ports import (
    Clock as Clock,
    Listing as Listing,
    NewId as NewId,
    Page as Page,
    ReadAndWrite as ReadAndWrite,
    Store as Store,
    Window as Window,
)
from phoneprov_core.kernel.values import (
    Timestamp as Timestamp,
    millis as millis,
    timestamp as timestamp,
)
from phoneprov_core.people.access import (
    Assignment as Assignment,
    CreateAssignment as CreateAssignment,
    CreatePermission as CreatePermission,
    Permission as Permission,
    PermissionPatch as PermissionPatch,
)
from phoneprov_core.people.audit import (
    Audit as Audit,
    AuditEntry as AuditEntry,
    EntriesQuery as EntriesQuery,
    FoundEntries as FoundEntries,
    TracedEntry as TracedEntry,
    WantedEntries as WantedEntries,
)
from phoneprov_core.people.auth.accounts import (
    AdminCreated as AdminCreated,
    ChangePassword as ChangePassword,
    CreateAdmin as CreateAdmin,
    Register as Register,
)
from phoneprov_core.people.auth.login import Login as Login
from phoneprov_core.people.auth.model import (
    Claims as Claims,
    Credentials as Credentials,
    Exchange as Exchange,
    Lifetimes as Lifetimes,
    LoggedIn as LoggedIn,
    LoginFailure as LoginFailure,
    LogoutRequest as LogoutRequest,
    OpenSession as OpenSession,
    PasswordChange as PasswordChange,
    Principal as Principal,
    RefreshRequest as RefreshRequest,
    Session as Session,
    TokenKind as TokenKind,
    TokenPair as TokenPair,
    Tokens as Tokens,
)
from phoneprov_core.people.auth.sessions import (
    Authenticate as Authenticate,
    CheckServiceToken as CheckServiceToken,
    Logout as Logout,
    Refresh as Refresh,
    Sessions as Sessions,
)
from phoneprov_core.people.directory.model import (
    CompanyContact as CompanyContact,
    CompanyContactPatch as CompanyContactPatch,
    ContactSearch as ContactSearch,
    CreateCompanyContact as CreateCompanyContact,
    CreatePersonalContact as CreatePersonalContact,
    PersonalContact as PersonalContact,
    PersonalContactPatch as PersonalContactPatch,
)
from phoneprov_core.people.directory.use_cases import (
    CompanyDirectory as CompanyDirectory,
    PersonalDirectory as PersonalDirectory,
)
from phoneprov_core.people.permissions import (
    Permissions as Permissions,
    UserPermissions as UserPermissions,
)
from phoneprov_core.people.users.model import (
    AccountPolicy as AccountPolicy,
    CreateUser as CreateUser,
    PasswordHasher as PasswordHasher,
    Registration as Registration,
    User as User,
    UserPatch as UserPatch,
    UserSearch as UserSearch,
)
from phoneprov_core.people.users.use_cases import Users as Users
from phoneprov_core.switching.deployments.confirm import Watch as Watch
from phoneprov_core.switching.deployments.deploy import SwitchProfile as SwitchProfile
from phoneprov_core.switching.deployments.model import (
    Action as Action,
    Confirmation as Confirmation,
    Deployment as Deployment,
    DeploymentFilter as DeploymentFilter,
    Outcome as Outcome,
    Step as Step,
    StepName as StepName,
)
from phoneprov_core.switching.deployments.observation import (
    DeviceInformation as DeviceInformation,
    PhoneInformation as PhoneInformation,
    PhoneWatch as PhoneWatch,
    Reach as Reach,
    Reachability as Reachability,
    Watching as Watching,
)
from phoneprov_core.switching.deployments.ports import (
    Background as Background,
    Journal as Journal,
    Rendered as Rendered,
    RunToEnd as RunToEnd,
    ValuePlace as ValuePlace,
)
from phoneprov_core.switching.deployments.preview import (
    Preview as Preview,
    PreviewSwitch as PreviewSwitch,
)
from phoneprov_core.switching.deployments.rollback import (
    Rollback as Rollback,
    RollbackRequest as RollbackRequest,
)
from phoneprov_core.switching.deployments.steps import Progress as Progress
from phoneprov_core.switching.deployments.use_cases import (
    Deployments as Deployments,
    Restarted as Restarted,
    RestartPhone as RestartPhone,
)
from phoneprov_core.switching.devices.commands import (
    CiscoPhones as CiscoPhones,
    NeverRestarting as NeverRestarting,
    RestartBy as RestartBy,
    reachable_ip as reachable_ip,
)
from phoneprov_core.switching.devices.names import (
    config_filename as config_filename,
    device_name as device_name,
)
from phoneprov_core.switching.devices.ports import (
    REPLACED_ANOTHER as REPLACED_ANOTHER,
    ConfigUploader as ConfigUploader,
    Content as Content,
    FilesOnServer as FilesOnServer,
    KeyPress as KeyPress,
    ManagerAction as ManagerAction,
    ManagerInterface as ManagerInterface,
    PhoneCommands as PhoneCommands,
    PhoneDriver as PhoneDriver,
    Proceed as Proceed,
    ReadsFiles as ReadsFiles,
    Upload as Upload,
    Uploaded as Uploaded,
    always as always,
)

# Earlier names of public classes, for programs that import them.
Wanted, Given, Mark = DeploymentFilter, TemplateValues, ValuePlace
