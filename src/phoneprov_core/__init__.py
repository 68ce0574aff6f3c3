"""The core of phoneprov: entities, rules and use cases, free of IO.

It imports the standard library and msgspec, nothing else; all IO goes through the ports that each
feature declares.

``__all__`` is the public interface: use cases, their commands and results, errors, and the ports
that adapters implement. The port of a store is in the package of its feature
(``phoneprov_core.users.ports``). A name is imported when it is first used.
"""

from __future__ import annotations

from phoneprov_core.kernel.lazy import LazyNames

_names = LazyNames(
    __name__,
    {
        "phoneprov_core.access.model": (
            "Assignment",
            "NewAssignment",
            "NewPermission",
            "Permission",
            "PermissionPatch",
        ),
        "phoneprov_core.access.rules": ("SharedWrite",),
        "phoneprov_core.application": ("UseCases",),
        "phoneprov_core.auth.create_admin": ("AdminCreated",),
        "phoneprov_core.auth.model": (
            "Claims",
            "Credentials",
            "Exchange",
            "Lifetimes",
            "LoggedIn",
            "LogoutRequest",
            "Principal",
            "RefreshRequest",
            "Session",
            "TokenKind",
            "TokenPair",
        ),
        "phoneprov_core.auth.ports": ("Tokens",),
        "phoneprov_core.configuration.comparison": (
            "Compare",
            "Compared",
            "Comparison",
            "compare",
        ),
        "phoneprov_core.configuration.diff": ("unified_diff",),
        "phoneprov_core.configuration.lint": ("Finding", "Severity", "has_errors", "lint"),
        "phoneprov_core.configuration.masking": ("NumberedStars", "masked"),
        "phoneprov_core.deployments.steps": ("Progress",),
        "phoneprov_core.deployments.model": (
            "Action",
            "Confirmation",
            "Deployment",
            "Outcome",
            "Step",
            "StepName",
            "Wanted",
        ),
        "phoneprov_core.deployments.ports": (
            "Background",
            "DeviceInformation",
            "Journal",
            "PhoneInformation",
            "PhoneWatch",
            "Reach",
            "Reachability",
            "Unbroken",
            "Watching",
        ),
        "phoneprov_core.deployments.preview": ("Preview",),
        "phoneprov_core.deployments.rollback": ("RollbackRequest",),
        "phoneprov_core.deployments.watch": ("Watch",),
        "phoneprov_core.devices.ports": (
            "ConfigUploader",
            "KeyPress",
            "ManagerAction",
            "ManagerInterface",
            "PhoneCommands",
            "PhoneDriver",
            "Upload",
            "Uploaded",
        ),
        "phoneprov_core.directory.model": (
            "CompanyContact",
            "CompanyContactPatch",
            "NewCompanyContact",
            "NewPersonalContact",
            "PersonalContact",
            "PersonalContactPatch",
        ),
        "phoneprov_core.extensions.model": ("Extension", "ExtensionPatch", "NewExtension"),
        "phoneprov_core.kems.model": ("Kem", "KemPatch", "NewKem"),
        "phoneprov_core.kernel.actor": ("Actor", "system_actor"),
        "phoneprov_core.kernel.errors": (
            "Conflict",
            "Forbidden",
            "Invalid",
            "NotFound",
            "PhoneprovError",
            "Problem",
            "Refused",
            "TimedOut",
            "TooManyAttempts",
            "Unauthenticated",
            "Unavailable",
        ),
        "phoneprov_core.kernel.ids": ("NewId",),
        "phoneprov_core.kernel.levels": ("LevelRule",),
        "phoneprov_core.kernel.store": ("Listing", "Page", "ReadAndWrite", "Store", "Window"),
        "phoneprov_core.kernel.times": ("Clock", "Timestamp", "millis", "shown"),
        "phoneprov_core.links.model": (
            "FullLink",
            "Link",
            "LinkedExtension",
            "LinkedUser",
            "NewLink",
        ),
        "phoneprov_core.me.model": ("EnrichedPhone", "MeProfile", "OwnPermission"),
        "phoneprov_core.phones.model": ("NewPhone", "Phone", "PhonePatch"),
        "phoneprov_core.devices.commands": ("config_filename", "device_name"),
        "phoneprov_core.profiles.model": (
            "NewProfile",
            "Profile",
            "ProfilePatch",
            "Revision",
            "SwitchRequest",
            "Switched",
        ),
        "phoneprov_core.devices.restart": (
            "CiscoPhones",
            "NeverRestarting",
            "RestartBy",
            "reachable_ip",
        ),
        "phoneprov_core.stores": ("Database", "Stores"),
        "phoneprov_core.transfer.model": ("Imported", "Row", "RowProblem", "Table"),
        "phoneprov_core.transfer.sheets": ("Sheet",),
        "phoneprov_core.transfer.use_cases": ("sheet_of",),
        "phoneprov_core.users.model": ("NewUser", "Registration", "User", "UserPatch"),
        "phoneprov_core.users.passwords": ("PasswordHasher", "AccountPolicy"),
        "phoneprov_core.vendor_phones.model": (
            "VendorPhone",
            "VendorPhoneFlag",
            "VendorPhoneRecord",
        ),
        "phoneprov_core.vendor_services.model": (
            "NewVendorService",
            "VendorService",
            "VendorServicePatch",
        ),
        "phoneprov_core.vendor_users.model": ("NewPin", "VendorUser"),
        "phoneprov_core.vendor_users.ports": ("PinHasher",),
    },
)

__all__ = list(_names.all)
__getattr__ = _names.load
__dir__ = _names.dir
