"""What each field means, where its type does not say so, and an example of it.

A key is a field's name, or ``Record.field`` where a record means something else by it. The
words are those of a reply and of a body alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Field(NamedTuple):
    """The words about a field, and one value it may have."""

    description: str
    example: Any = None


_UUID = "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"
_JWT = "eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJhZGEifQ.c2lnbmVk"

FIELDS: dict[str, Field] = {
    "uuid": Field("The identifier, given by the service", _UUID),
    "user_uuid": Field("The user it belongs to", _UUID),
    "created_at": Field("When it was created"),
    "updated_at": Field("When it was last changed"),
    "created_ip": Field("The address it was created from", "10.20.0.7"),
    "updated_ip": Field("The address it was last changed from", "10.20.0.7"),
    "description": Field("What else there is to say; may have lines", "The one by the window"),
    "is_active": Field("Whether it is in use", True),
    "level": Field(
        "The permission level, 0 to 2147483647. Level 0 is the superadmin level, and a user "
        "at level N holds the levels 0 through N, unless the deployment sets the strict rule",
        0,
    ),
    "perm_uuid": Field("The permission that is assigned", _UUID),
    "perm_name": Field("The permission's name", "superadmin"),
    "Permission.name": Field("What the permission is called; unique together with its level"),
    # Accounts
    "first_name": Field("The given name", "Ada"),
    "last_name": Field("The family name", "Lovelace"),
    "username": Field("What the user logs in with; unique whatever its case", "ada"),
    "email": Field("An e-mail address", "ada@example.com"),
    "User.email": Field("The e-mail address; unique whatever its case", "ada@example.com"),
    "MeProfile.email": Field("The e-mail address; unique whatever its case", "ada@example.com"),
    "Registration.email": Field("The e-mail address; unique whatever its case"),
    "password": Field(
        "8 to 256 characters, unless the deployment sets other bounds; no control characters, "
        "and none of the most commonly used passwords. Never answered"
    ),
    "Credentials.password": Field("The password"),
    "phone": Field("A telephone number, as the user gives it", "+44 20 7946 0018"),
    "location": Field("Where it, or who it is about, is found", "Berlin, third floor"),
    "nationality": Field("The nationality, as the user gives it", "British"),
    "User.is_active": Field("Whether the account can log in", True),
    "MeProfile.is_active": Field("Whether the account can log in", True),
    "last_uuid": Field("The account that last changed this one; null until then"),
    "last_login_ip": Field("The address of the last login", "10.20.0.7"),
    "last_login_at": Field("When the user last logged in"),
    "last_logout_ip": Field("The address of the last logout", "10.20.0.7"),
    "created_by": Field("The account that created it"),
    "User.created_by": Field("The account that created it; null for one that registered itself"),
    "updated_by": Field("The account that last changed it; null until then"),
    "permission": Field("The permission the account is assigned, null without one"),
    "vendor_user": Field("The account's PIN, null without one"),
    "user": Field("Who logged in"),
    "accessToken": Field("", _JWT),
    "refreshToken": Field("", _JWT),
    "refresh_token": Field("", _JWT),
    # Extensions
    "extension": Field("The number, unique"),
    "Extension.name": Field("What the extension is called", "Front desk"),
    "voicemail": Field("Whether it has voicemail", False),
    "voicemail_passcode": Field("The passcode of its voicemail", "2468"),
    "extension_uuid": Field("The extension", _UUID),
    "ext_name": Field("The name of the extension", "Front desk"),
    # Phones and what hangs on them
    "mac": Field("The MAC, canonical", "00:1B:D4:12:34:56"),
    "Kem.mac": Field("The MAC of the key expansion module"),
    "brand": Field("Who made it", "Cisco"),
    "model": Field("The model", "CP-7945G"),
    "Phone.name": Field("What the phone is called", "Front desk"),
    "hostname": Field("Its name in the network", "SEP001BD4123456"),
    "Phone.location": Field("Where it stands", "Berlin, third floor"),
    "phone_ip": Field("The address it is reached at, IPv4 or IPv6"),
    "phone_vlan": Field("Its VLAN", "120"),
    "software_version": Field("The version of its firmware", "SCCP45.9-4-2SR3-1S"),
    "software_type": Field("The firmware family; free text", "SCCP"),
    "Phone.is_active": Field("Whether profiles may be put onto it", True),
    "is_vendor": Field("Whether it is flagged as a vendor phone", True),
    "vendor": Field("Its vendor flag, null without one"),
    "key_expansion_modules": Field("The key expansion modules connected to it, oldest first"),
    "ip": Field("The address of the key expansion module, IPv4 or IPv6"),
    "connected_phone": Field("The MAC of the phone it is connected to", "00:1B:D4:12:34:56"),
    # Profiles
    "Profile.name": Field("The display name", "Ada at the front desk"),
    "Profile.user_uuid": Field("The owner of the profile", _UUID),
    "compatible_models": Field("The models it works with; empty means all", ["CP-7945G"]),
    "Profile.software_type": Field("The firmware family it is for; null means all"),
    "profile_uuid": Field("The profile", _UUID),
    "profile": Field("The profile's name", "Ada at the front desk"),
    # Deployments
    "number": Field("", 3),
    "from": Field("", 2),
    "to": Field("", 3),
    "revision": Field("", 2),
    "RollbackRequest.revision": Field("The number of a revision of that profile", 2),
    "RollbackRequest.profile_uuid": Field("Put back a revision of this profile", _UUID),
    "deployment_uuid": Field("Put back what this deployment of the phone brought", _UUID),
    "sha256": Field("", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    "action": Field("What was asked for"),
    "Deployment.profile_uuid": Field("The profile, which may be gone since", _UUID),
    "profile_name": Field("The profile's name at that time", "Ada at the front desk"),
    "filename": Field("The name of the file on the server", "SEP001BD4123456.cnf.xml"),
    "place": Field("", "provisioning.example.com:21/SEP001BD4123456.cnf.xml"),
    "outcome": Field(
        "`deployed`: the file is in place, read back and compared. `failed`: the old file is "
        "there, whole. `unknown`: the old file or the new one is there. "
        "`interrupted`: the service ended half-way; the file is whole"
    ),
    "failed_step": Field("The step that failed"),
    "steps": Field("What was done, in order"),
    "Step.name": Field("The step"),
    "ok": Field("Whether it succeeded", True),
    "Step.message": Field("What there is to say of it"),
    "duration_ms": Field("How long it took, in milliseconds", 120),
    "confirmation": Field(
        "Whether the phone was seen to come back behind the order to restart; `none` where "
        "nobody looks"
    ),
    "ended_at": Field("When it ended; null while it runs"),
    "Revision.created_at": Field("When it was saved"),
    "compatible": Field("Whether the profile may be put onto the phone", True),
    "on_phone": Field("What is on the phone now; null when nobody knows, or it is another's"),
    "Preview.server": Field("Whether the server lets us in"),
    "Preview.phone": Field("Whether the phone answers, and is the one that is meant"),
    "reachable": Field("Null when nobody can say", True),
    "findings": Field("What is wrong with the configuration, or worth a second look"),
    "severity": Field("How much it matters"),
    "line": Field("Where it begins, counted from 1", 3),
    "column": Field("Where it begins, counted from 1", 5),
    # Batches
    "at_once": Field("So many at a time", 5),
    "per_minute": Field("So many are begun a minute; null for as fast as it goes", 30),
    "stop_after_failures": Field(
        "Stop when so many per cent of those worked on, of 10 at least, have failed; null for "
        "never",
        25,
    ),
    "wait_minutes": Field("How long a phone that is in a call is waited for", 60),
    "macs": Field("The phones, in the order in which they are worked on"),
    "Batch.action": Field("What is done to each phone"),
    "Batch.model": Field("Only phones of this model, without regard to its trimmings", "7945"),
    "Batch.location": Field("Only phones at this location, in upper or lower case", "2nd floor"),
    "Batch.software_type": Field("Only phones of this firmware family", "SCCP"),
    "Batch.profile_uuid": Field(
        "The profile; null where each phone is given the profile that is on it anew", _UUID
    ),
    "Batch.profile_name": Field("The profile's name when the batch was started", "The lobby"),
    "Batch.revision": Field("The revision of the profile that each phone is given", 2),
    "Batch.ended_at": Field("When its last phone was let go; null until then"),
    "Batch.message": Field("Why it was stopped"),
    "phones": Field("How many of its phones stand where"),
    "Counts.waiting": Field("Their turn will come", 118),
    "Counts.running": Field("Being worked on", 5),
    "Counts.done": Field("Switched, and told to restart; or told to restart", 75),
    "Counts.failed": Field("Worked on in vain", 2),
    "Counts.left_out": Field("Not begun, for the batch was stopped or cancelled", 0),
    "Counts.total": Field("All of them", 200),
    "state": Field("Where it stands"),
    "position": Field("", 1),
    "tries": Field("", 1),
    "BatchPhone.deployment_uuid": Field("The record of its switch", _UUID),
    "BatchPhone.message": Field("Why it failed, or what it waits for; null when all is well"),
    "started_at": Field("When its last turn came"),
    # Directories, services, PINs
    "name": Field("The name", "Ada Lovelace"),
    "work": Field("The telephone number at work", "+44 20 7946 0018"),
    "mobile": Field("The mobile telephone number", "+44 7700 900123"),
    "home": Field("The telephone number at home"),
    "ringtone": Field("What the phone rings with; free text", "Chirp1"),
    "department": Field("The department", "Analytical engines"),
    "company": Field("The company", "Example Ltd"),
    "building": Field("The building", "B"),
    "VendorService.name": Field("What the service is called", "Company directory"),
    "url": Field("Its http or https address, which is never fetched from here"),
    "type": Field("The kind of service; free text", "IPPhone"),
    "pin_code": Field("4 to 32 digits. Only a hash of it is kept", "2468"),
    "VendorUser.pin_code": Field(
        "The hash of the PIN, made with a secret key", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$..."
    ),
    # Failures
    "Problem.field": Field("The name of the field, as it was sent", "mac"),
    "Problem.message": Field("What it must be, to be read after its name", "is required"),
}
