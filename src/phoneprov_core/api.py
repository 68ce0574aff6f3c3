"""The public names of the core: use cases, what they take and return, errors, and ports.

The port of a store stands beside its feature (``phoneprov_core.users.ports``).
"""

from phoneprov_core.access.model import (
    Assignment,
    NewAssignment,
    NewPermission,
    Permission,
    PermissionPatch,
)
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.application import UseCases
from phoneprov_core.auth.accounts import AdminCreated
from phoneprov_core.auth.model import (
    Claims,
    Credentials,
    Exchange,
    Lifetimes,
    LoggedIn,
    LogoutRequest,
    Principal,
    RefreshRequest,
    Session,
    TokenKind,
    TokenPair,
)
from phoneprov_core.auth.ports import Tokens
from phoneprov_core.configuration.comparison import Compare, Compared, Comparison, compare
from phoneprov_core.configuration.diff import unified_diff
from phoneprov_core.configuration.findings import Finding, Severity, has_errors
from phoneprov_core.configuration.lint import lint
from phoneprov_core.configuration.masking import NumberedStars, masked
from phoneprov_core.deployments.model import (
    Action,
    Confirmation,
    Deployment,
    Outcome,
    Step,
    StepName,
    Wanted,
)
from phoneprov_core.deployments.observation import (
    DeviceInformation,
    PhoneInformation,
    PhoneWatch,
    Reach,
    Reachability,
    Watching,
)
from phoneprov_core.deployments.ports import Background, Journal, Unbroken
from phoneprov_core.deployments.preview import Preview
from phoneprov_core.deployments.rollback import RollbackRequest
from phoneprov_core.deployments.steps import Progress
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.devices.names import config_filename, device_name
from phoneprov_core.devices.ports import (
    ConfigUploader,
    KeyPress,
    ManagerAction,
    ManagerInterface,
    PhoneCommands,
    PhoneDriver,
    Upload,
    Uploaded,
)
from phoneprov_core.devices.restart import CiscoPhones, NeverRestarting, RestartBy, reachable_ip
from phoneprov_core.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    NewCompanyContact,
    NewPersonalContact,
    PersonalContact,
    PersonalContactPatch,
)
from phoneprov_core.extensions import Extension, ExtensionPatch, NewExtension
from phoneprov_core.kems import Kem, KemPatch, NewKem
from phoneprov_core.kernel.actor import Actor, LevelRule, system_actor
from phoneprov_core.kernel.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    PhoneprovError,
    Problem,
    Refused,
    TimedOut,
    TooManyAttempts,
    Unauthenticated,
    Unavailable,
)
from phoneprov_core.kernel.paging import Listing, Page, Window
from phoneprov_core.kernel.store import ReadAndWrite, Store
from phoneprov_core.kernel.system import Clock, NewId, Timestamp, millis, shown
from phoneprov_core.links import FullLink, Link, LinkedExtension, LinkedUser, NewLink
from phoneprov_core.me import EnrichedPhone, MeProfile, OwnPermission
from phoneprov_core.phones.model import NewPhone, Phone, PhonePatch
from phoneprov_core.profiles.model import (
    NewProfile,
    Profile,
    ProfilePatch,
    Revision,
    Switched,
    SwitchRequest,
)
from phoneprov_core.stores import Database, Stores
from phoneprov_core.transfer.model import Imported, Row, RowProblem, Table
from phoneprov_core.transfer.sheets import Sheet
from phoneprov_core.transfer.use_cases import sheet_of
from phoneprov_core.users.model import NewUser, Registration, User, UserPatch
from phoneprov_core.users.passwords import AccountPolicy, PasswordHasher
from phoneprov_core.vendor_phones import VendorPhone, VendorPhoneFlag, VendorPhoneRecord
from phoneprov_core.vendor_services import NewVendorService, VendorService, VendorServicePatch
from phoneprov_core.vendor_users import NewPin, PinHasher, VendorUser

__all__ = [
    "AccountPolicy",
    "Action",
    "Actor",
    "AdminCreated",
    "Assignment",
    "Background",
    "CiscoPhones",
    "Claims",
    "Clock",
    "CompanyContact",
    "CompanyContactPatch",
    "Compare",
    "Compared",
    "Comparison",
    "ConfigUploader",
    "Confirmation",
    "Conflict",
    "Credentials",
    "Database",
    "Deployment",
    "DeviceInformation",
    "EnrichedPhone",
    "Exchange",
    "Extension",
    "ExtensionPatch",
    "Finding",
    "Forbidden",
    "FullLink",
    "Imported",
    "Invalid",
    "Journal",
    "Kem",
    "KemPatch",
    "KeyPress",
    "LevelRule",
    "Lifetimes",
    "Link",
    "LinkedExtension",
    "LinkedUser",
    "Listing",
    "LoggedIn",
    "LogoutRequest",
    "ManagerAction",
    "ManagerInterface",
    "MeProfile",
    "NeverRestarting",
    "NewAssignment",
    "NewCompanyContact",
    "NewExtension",
    "NewId",
    "NewKem",
    "NewLink",
    "NewPermission",
    "NewPersonalContact",
    "NewPhone",
    "NewPin",
    "NewProfile",
    "NewUser",
    "NewVendorService",
    "NotFound",
    "NumberedStars",
    "Outcome",
    "OwnPermission",
    "Page",
    "PasswordHasher",
    "Permission",
    "PermissionPatch",
    "PersonalContact",
    "PersonalContactPatch",
    "Phone",
    "PhoneCommands",
    "PhoneDriver",
    "PhoneInformation",
    "PhonePatch",
    "PhoneWatch",
    "PhoneprovError",
    "PinHasher",
    "Preview",
    "Principal",
    "Problem",
    "Profile",
    "ProfilePatch",
    "Progress",
    "Reach",
    "Reachability",
    "ReadAndWrite",
    "RefreshRequest",
    "Refused",
    "Registration",
    "RestartBy",
    "Revision",
    "RollbackRequest",
    "Row",
    "RowProblem",
    "Session",
    "Severity",
    "SharedWrite",
    "Sheet",
    "Step",
    "StepName",
    "Store",
    "Stores",
    "SwitchRequest",
    "Switched",
    "Table",
    "TimedOut",
    "Timestamp",
    "TokenKind",
    "TokenPair",
    "Tokens",
    "TooManyAttempts",
    "Unauthenticated",
    "Unavailable",
    "Unbroken",
    "Upload",
    "Uploaded",
    "UseCases",
    "User",
    "UserPatch",
    "VendorPhone",
    "VendorPhoneFlag",
    "VendorPhoneRecord",
    "VendorService",
    "VendorServicePatch",
    "VendorUser",
    "Wanted",
    "Watch",
    "Watching",
    "Window",
    "compare",
    "config_filename",
    "device_name",
    "has_errors",
    "lint",
    "masked",
    "millis",
    "reachable_ip",
    "sheet_of",
    "shown",
    "system_actor",
    "unified_diff",
]
