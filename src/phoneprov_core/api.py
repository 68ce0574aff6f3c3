"""The public names of the core: use cases, what they take and return, errors, and ports.

The port of a store stands beside its feature (``phoneprov_core.users.ports``).
"""

from phoneprov_core.access.model import (
    Assignment as Assignment,
    NewAssignment as NewAssignment,
    NewPermission as NewPermission,
    Permission as Permission,
    PermissionPatch as PermissionPatch,
)
from phoneprov_core.access.rules import SharedWrite as SharedWrite
from phoneprov_core.application import UseCases as UseCases
from phoneprov_core.auth.accounts import AdminCreated as AdminCreated
from phoneprov_core.auth.model import (
    Claims as Claims,
    Credentials as Credentials,
    Exchange as Exchange,
    Lifetimes as Lifetimes,
    LoggedIn as LoggedIn,
    LogoutRequest as LogoutRequest,
    Principal as Principal,
    RefreshRequest as RefreshRequest,
    Session as Session,
    TokenKind as TokenKind,
    TokenPair as TokenPair,
)
from phoneprov_core.auth.ports import Tokens as Tokens
from phoneprov_core.configuration.comparison import (
    Compare as Compare,
    Compared as Compared,
    Comparison as Comparison,
    compare as compare,
)
from phoneprov_core.configuration.diff import unified_diff as unified_diff
from phoneprov_core.configuration.findings import (
    Finding as Finding,
    Severity as Severity,
    has_errors as has_errors,
)
from phoneprov_core.configuration.lint import lint as lint
from phoneprov_core.configuration.masking import NumberedStars as NumberedStars, masked as masked
from phoneprov_core.deployments.model import (
    Action as Action,
    Confirmation as Confirmation,
    Deployment as Deployment,
    Outcome as Outcome,
    Step as Step,
    StepName as StepName,
    Wanted as Wanted,
)
from phoneprov_core.deployments.observation import (
    DeviceInformation as DeviceInformation,
    PhoneInformation as PhoneInformation,
    PhoneWatch as PhoneWatch,
    Reach as Reach,
    Reachability as Reachability,
    Watching as Watching,
)
from phoneprov_core.deployments.ports import (
    Background as Background,
    Journal as Journal,
    Unbroken as Unbroken,
)
from phoneprov_core.deployments.preview import Preview as Preview
from phoneprov_core.deployments.rollback import RollbackRequest as RollbackRequest
from phoneprov_core.deployments.steps import Progress as Progress
from phoneprov_core.deployments.watch import Watch as Watch
from phoneprov_core.devices.names import (
    config_filename as config_filename,
    device_name as device_name,
)
from phoneprov_core.devices.ports import (
    ConfigUploader as ConfigUploader,
    KeyPress as KeyPress,
    ManagerAction as ManagerAction,
    ManagerInterface as ManagerInterface,
    PhoneCommands as PhoneCommands,
    PhoneDriver as PhoneDriver,
    Upload as Upload,
    Uploaded as Uploaded,
)
from phoneprov_core.devices.restart import (
    CiscoPhones as CiscoPhones,
    NeverRestarting as NeverRestarting,
    RestartBy as RestartBy,
    reachable_ip as reachable_ip,
)
from phoneprov_core.directory.model import (
    CompanyContact as CompanyContact,
    CompanyContactPatch as CompanyContactPatch,
    NewCompanyContact as NewCompanyContact,
    NewPersonalContact as NewPersonalContact,
    PersonalContact as PersonalContact,
    PersonalContactPatch as PersonalContactPatch,
)
from phoneprov_core.extensions import (
    Extension as Extension,
    ExtensionPatch as ExtensionPatch,
    NewExtension as NewExtension,
)
from phoneprov_core.kems import Kem as Kem, KemPatch as KemPatch, NewKem as NewKem
from phoneprov_core.kernel.actor import (
    Actor as Actor,
    LevelRule as LevelRule,
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
from phoneprov_core.kernel.paging import Listing as Listing, Page as Page, Window as Window
from phoneprov_core.kernel.store import ReadAndWrite as ReadAndWrite, Store as Store
from phoneprov_core.kernel.system import (
    Clock as Clock,
    NewId as NewId,
    Timestamp as Timestamp,
    millis as millis,
    shown as shown,
)
from phoneprov_core.links import (
    FullLink as FullLink,
    Link as Link,
    LinkedExtension as LinkedExtension,
    LinkedUser as LinkedUser,
    NewLink as NewLink,
)
from phoneprov_core.me import (
    EnrichedPhone as EnrichedPhone,
    MeProfile as MeProfile,
    OwnPermission as OwnPermission,
)
from phoneprov_core.phones.model import (
    NewPhone as NewPhone,
    Phone as Phone,
    PhonePatch as PhonePatch,
)
from phoneprov_core.profiles.model import (
    NewProfile as NewProfile,
    Profile as Profile,
    ProfilePatch as ProfilePatch,
    Revision as Revision,
    Switched as Switched,
    SwitchRequest as SwitchRequest,
)
from phoneprov_core.stores import Database as Database, Stores as Stores
from phoneprov_core.transfer.model import (
    Imported as Imported,
    Row as Row,
    RowProblem as RowProblem,
    Table as Table,
)
from phoneprov_core.transfer.sheets import Sheet as Sheet
from phoneprov_core.transfer.use_cases import sheet_of as sheet_of
from phoneprov_core.users.model import (
    NewUser as NewUser,
    Registration as Registration,
    User as User,
    UserPatch as UserPatch,
)
from phoneprov_core.users.passwords import (
    AccountPolicy as AccountPolicy,
    PasswordHasher as PasswordHasher,
)
from phoneprov_core.vendor_phones import (
    VendorPhone as VendorPhone,
    VendorPhoneFlag as VendorPhoneFlag,
    VendorPhoneRecord as VendorPhoneRecord,
)
from phoneprov_core.vendor_services import (
    NewVendorService as NewVendorService,
    VendorService as VendorService,
    VendorServicePatch as VendorServicePatch,
)
from phoneprov_core.vendor_users import (
    NewPin as NewPin,
    PinHasher as PinHasher,
    VendorUser as VendorUser,
)
